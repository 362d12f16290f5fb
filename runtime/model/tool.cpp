#include "runtime/model/tool.hpp"

#include "runtime/base/digest.hpp"

namespace troupe {

namespace {

constexpr std::size_t hash_digits = 12; // as Letta has it

/// Python's repr() of a text that parsed as a requirement: no escapes needed.
std::string quoted(std::string_view text) {
  return "'" + std::string{text} + "'";
}

std::string described(std::string_view type, std::string_view name,
                      std::string_view version) {
  std::string text{type};
  text += "(name=" + quoted(name) + ", version=";
  text += version.empty() ? "None" : quoted(version);
  text += ')';
  return text;
}

std::string described(const pip_requirement& r) {
  auto name = r;
  name.specifier.clear();
  std::string_view version = r.specifier;
  // Letta knows exact versions only, and writes them bare.
  if (version.starts_with("==") && version.find(',') == version.npos
      && !version.starts_with("==="))
    version.remove_prefix(2);
  return described("PipRequirement", to_string(name), version);
}

std::string described(const npm_requirement& r) {
  return described("NpmRequirement", r.name, r.version);
}

template <class Requirement>
std::string listed(std::string_view kind, const std::vector<Requirement>& all) {
  std::string text;
  for (auto& r : all)
    text += (text.empty() ? "" : ", ") + described(r);
  return std::string{kind} + ":[" + text + "]";
}

} // namespace

std::string_view to_string(language l) {
  switch (l) {
  case language::python:
    return "python";
  case language::typescript:
    return "typescript";
  case language::javascript:
    return "javascript";
  case language::shell:
    return "shell";
  }
  return "python";
}

result<language> parse_language(std::string_view text) {
  for (auto l : {language::python, language::typescript, language::javascript,
                 language::shell})
    if (to_string(l) == text)
      return l;
  return bad_field(
    "", "'" + std::string{text.substr(0, 64)} + "' is not a language",
    "one of python, typescript, javascript, shell");
}

std::string function_name(const tool& t) {
  if (t.json_schema)
    if (auto* name = t.json_schema->if_contains("name"))
      if (auto* text = name->if_string(); text != nullptr && !text->empty())
        return {text->data(), text->size()};
  return t.name;
}

std::string tool_hash(const tool& t) {
  std::string dependencies;
  if (!t.pip_requirements.empty())
    dependencies = listed("pip", t.pip_requirements);
  if (!t.npm_requirements.empty())
    dependencies
      += (dependencies.empty() ? "" : ";") + listed("npm", t.npm_requirements);
  auto text = t.source_code + "|" + std::string{to_string(t.source_type)} + "|"
    + dependencies;
  return hex(sha256(text)).substr(0, hash_digits);
}

} // namespace troupe
