#include "runtime/environment/spec.hpp"

#include "runtime/digest.hpp"
#include "runtime/json/json.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>

namespace troupe {

namespace {

// Enough for any hand-written list; a guard against reading /dev/zero.
constexpr std::size_t max_requirements_file_bytes = 1u << 20;

std::string comparable(const pip_requirement& r) {
  return normalized_name(r.name);
}
std::string comparable(const npm_requirement& r) {
  return r.name;
}

const std::string& version_of(const pip_requirement& r) {
  return r.specifier;
}
const std::string& version_of(const npm_requirement& r) {
  return r.version;
}

void adopt(pip_requirement& have, const pip_requirement& other) {
  if (have.specifier.empty())
    have.specifier = other.specifier;
  for (const auto& extra : other.extras)
    if (std::find(have.extras.begin(), have.extras.end(), extra)
        == have.extras.end())
      have.extras.push_back(extra);
}

void adopt(npm_requirement& have, const npm_requirement& other) {
  if (have.version.empty())
    have.version = other.version;
}

template <class Requirement>
result<std::vector<Requirement>>
merge_lists(const std::vector<Requirement>& config,
            const std::vector<Requirement>& tool) {
  std::vector<Requirement> merged;
  std::map<std::string, std::size_t> place;
  for (const auto* list : {&config, &tool}) {
    for (const auto& next : *list) {
      auto [i, fresh] = place.try_emplace(comparable(next), merged.size());
      if (fresh) {
        merged.push_back(next);
        continue;
      }
      auto& have = merged[i->second];
      if (!version_of(have).empty() && !version_of(next).empty()
          && version_of(have) != version_of(next))
        return error{ec::invalid_request,
                     "the sandbox config asks for '" + to_string(have)
                       + "' and the tool for '" + to_string(next)
                       + "'; give both the same version or drop one",
                     {},
                     {}};
      adopt(have, next);
    }
  }
  return merged;
}

template <class Requirement>
json::array sorted_texts(const std::vector<Requirement>& list) {
  std::vector<std::string> texts;
  for (const auto& r : list)
    texts.push_back(comparable(r) + " " + to_string(r));
  std::sort(texts.begin(), texts.end());
  json::array out;
  for (auto& t : texts)
    out.emplace_back(t);
  return out;
}

std::string_view trim(std::string_view s) {
  auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front()))
    s.remove_prefix(1);
  while (!s.empty() && blank(s.back()))
    s.remove_suffix(1);
  return s;
}

} // namespace

std::string environment_fingerprint(const environment_spec& spec) {
  json::object content;
  content["format"] = 1; // grows when we begin to build differently
  content["organization"] = spec.organization.str();
  content["python"] = spec.python;
  content["python_version"] = spec.python_version;
  content["pip"] = sorted_texts(spec.pip);
  content["npm"] = sorted_texts(spec.npm);
  return hex(sha256(json::to_canonical(content)));
}

result<std::vector<pip_requirement>>
merge(const std::vector<pip_requirement>& config,
      const std::vector<pip_requirement>& tool) {
  return merge_lists(config, tool);
}

result<std::vector<npm_requirement>>
merge(const std::vector<npm_requirement>& config,
      const std::vector<npm_requirement>& tool) {
  return merge_lists(config, tool);
}

std::string normalized_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      if (!out.empty() && out.back() != '-')
        out += '-';
    } else {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

result<std::vector<pip_requirement>>
read_requirements_file(const std::filesystem::path& file) {
  std::vector<pip_requirement> out;
  std::ifstream in{file};
  if (!in)
    return out;
  std::string line;
  std::size_t bytes = 0;
  for (int number = 1; std::getline(in, line); ++number) {
    bytes += line.size() + 1;
    if (bytes > max_requirements_file_bytes)
      return error{
        ec::invalid_request, "requirements.txt is over 1 MiB", {}, {}};
    auto text = std::string_view{line};
    if (auto hash = text.find('#');
        hash == 0 || (hash != text.npos && text[hash - 1] == ' '))
      text = text.substr(0, hash);
    text = trim(text);
    if (text.empty())
      continue;
    auto parsed = parse_pip(text);
    if (!parsed)
      return parsed.error().within("requirements.txt line "
                                   + std::to_string(number));
    out.push_back(std::move(*parsed));
  }
  return out;
}

} // namespace troupe
