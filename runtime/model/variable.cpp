#include "runtime/model/variable.hpp"

#include "runtime/model/bounds.hpp"

#include <algorithm>

namespace troupe {

namespace {

struct refused_name {
  std::string_view name; // a final '*' stands for any ending
  std::string_view reason;
};

constexpr std::string_view loader = "changes how programs are loaded";
constexpr std::string_view libc = "makes the C library read other files";
constexpr std::string_view python = "changes how Python starts";
constexpr std::string_view node = "changes how Node.js starts";
constexpr std::string_view shell = "makes a shell run or read something else";
constexpr std::string_view startup = "changes how an interpreter starts";
constexpr std::string_view tls = "makes OpenSSL load other code";
constexpr std::string_view ours = "belongs to the engine";

// PYTHONPATH, PYTHONWARNINGS, PYTHONUNBUFFERED, NODE_PATH, NODE_ENV, PATH,
// HOME, TMPDIR, TZ and the proxy variables stay allowed: real tools need them,
// they reach the tool's own process only, and what they name is looked up
// inside of the sandbox.
constexpr refused_name refused[] = {
  {"LD_*", loader},
  {"GLIBC_TUNABLES", loader},
  {"GCONV_PATH", libc},
  {"GETCONF_DIR", libc},
  {"HOSTALIASES", libc},
  {"LOCALDOMAIN", libc},
  {"LOCPATH", libc},
  {"MALLOC_TRACE", libc},
  {"NIS_PATH", libc},
  {"NLSPATH", libc},
  {"RESOLV_HOST_CONF", libc},
  {"RES_OPTIONS", libc},
  {"TZDIR", libc},
  {"PYTHONHOME", python},
  {"PYTHONSTARTUP", python},
  {"PYTHONINSPECT", python},
  {"PYTHONUSERBASE", python},
  {"PYTHONEXECUTABLE", python},
  {"PYTHONPLATLIBDIR", python},
  {"PYTHONPYCACHEPREFIX", python},
  {"PYTHONBREAKPOINT", python},
  {"PYTHONPROFILEIMPORTTIME", python},
  {"PYTHONMALLOC", python},
  {"NODE_OPTIONS", node},
  {"NODE_CHANNEL_FD", node},
  {"NODE_CHANNEL_SERIALIZATION_MODE", node},
  {"NODE_REPL_EXTERNAL_MODULE", node},
  {"NODE_V8_COVERAGE", node},
  {"BASH_*", shell},
  {"BASHOPTS", shell},
  {"SHELLOPTS", shell},
  {"ENV", shell},
  {"IFS", shell},
  {"CDPATH", shell},
  {"GLOBIGNORE", shell},
  {"PROMPT_COMMAND", shell},
  {"PS4", shell},
  {"PERL5OPT", startup},
  {"PERL5LIB", startup},
  {"PERL5DB", startup},
  {"PERLLIB", startup},
  {"RUBYOPT", startup},
  {"RUBYLIB", startup},
  {"JAVA_TOOL_OPTIONS", startup},
  {"JDK_JAVA_OPTIONS", startup},
  {"_JAVA_OPTIONS", startup},
  {"OPENSSL_CONF", tls},
  {"OPENSSL_ENGINES", tls},
  {"OPENSSL_MODULES", tls},
  {"TROUPE_*", ours},
};

bool matches(const refused_name& r, std::string_view name) {
  if (!r.name.ends_with('*'))
    return r.name == name;
  return name.starts_with(r.name.substr(0, r.name.size() - 1));
}

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
    || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

result<void> check_variable_name(std::string_view name,
                                 std::string_view pointer) {
  auto bad = [&](std::string reason, std::string hint) {
    return bad_field(std::string{pointer}, std::move(reason), std::move(hint));
  };
  if (name.empty())
    return bad("the name of a variable is empty", "give it a name");
  if (name.size() > bounds::name_bytes)
    return bad("the name of a variable is longer than "
                 + std::to_string(bounds::name_bytes) + " bytes",
               "shorten it");
  if (!std::all_of(name.begin(), name.end(), is_word_char)
      || (name[0] >= '0' && name[0] <= '9'))
    return bad("the name of a variable has a character that is not allowed",
               "use letters, digits and '_', and do not begin with a digit");
  for (auto& r : refused)
    if (matches(r, name))
      return bad(std::string{name} + " is refused: it " + std::string{r.reason},
                 "choose another name");
  return {};
}

result<void> check_variable_value(std::string_view value,
                                  std::string_view pointer) {
  // The value itself is never repeated: it is a secret.
  if (value.size() > bounds::variable_value_bytes)
    return bad_field(std::string{pointer}, "the value is longer than 127 KiB",
                     "pass it as an argument or as a file");
  if (value.find('\0') != value.npos)
    return bad_field(std::string{pointer}, "the value has a NUL character",
                     "encode it, for example as base64");
  return {};
}

} // namespace troupe
