#include "net/compat/e2b/wire/paths.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/engine/sandbox_files.hpp"

namespace troupe::net::e2b_facade {

namespace {

/// Without "." and doubled slashes. ".." stays: behind a link it is not what it
/// seems.
std::string without_empty_steps(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1); // a slash
    const auto step = path.substr(0, path.find('/'));
    path.remove_prefix(step.size());
    if (!step.empty() && step != ".")
      out.append("/").append(step);
  }
  return out.empty() ? "/" : out;
}

} // namespace

std::optional<std::string> why_no_user(std::string_view name) {
  if (name.empty() || name == user_name)
    return std::nullopt;
  std::string out{"invalid username: '"};
  out.append(name).append("'");
  if (name == "root")
    out.append("; sandboxes of this server have one user, which is 'user'");
  return out;
}

std::string user_of(const request& in) {
  constexpr std::string_view scheme = "basic ";
  const auto field = in.field("authorization");
  if (field.size() <= scheme.size()
      || !equal_ignoring_case(field.substr(0, scheme.size()), scheme))
    return {};
  const auto pair = frame::from_base64(field.substr(scheme.size()));
  return pair ? pair->substr(0, pair->find(':')) : std::string{"?"};
}

result<std::string> absolute_path(std::string_view text) {
  std::string out;
  if (text.empty() || text == "~") {
    out = user_home;
  } else if (text.starts_with("~/")) {
    out.append(user_home).append(text.substr(1));
  } else if (text.front() == '~') {
    return bad_request("the path begins with a user's name; write it out");
  } else if (text.front() == '/') {
    out = text;
  } else {
    out.append(user_home).append("/").append(text);
  }
  out = without_empty_steps(out);
  if (auto fine = check_sandbox_path(out); !fine)
    return fine.error();
  return out;
}

std::string parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string{slash == 0 || slash == path.npos ? "/"
                                                      : path.substr(0, slash)};
}

std::string name_of(std::string_view path) {
  return std::string{path.substr(path.rfind('/') + 1)};
}

} // namespace troupe::net::e2b_facade
