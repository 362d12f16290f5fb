#include "runtime/model/sandbox_config.hpp"

#include "runtime/base/digest.hpp"

namespace troupe {

std::string_view to_string(backend_kind kind) {
  switch (kind) {
  case backend_kind::local:
    return "local";
  case backend_kind::e2b:
    return "e2b";
  case backend_kind::modal:
    return "modal";
  case backend_kind::daytona:
    return "daytona";
  case backend_kind::aio:
    return "aio";
  case backend_kind::peer:
    return "peer";
  }
  return "local";
}

result<backend_kind> parse_backend(std::string_view text) {
  for (auto kind :
       {backend_kind::local, backend_kind::e2b, backend_kind::modal,
        backend_kind::daytona, backend_kind::aio, backend_kind::peer})
    if (to_string(kind) == text)
      return kind;
  return bad_field("",
                   "'" + std::string{text.substr(0, 64)} + "' is not a backend",
                   "one of local, e2b, modal, daytona, aio, peer");
}

std::string fingerprint(backend_kind type,
                        const std::optional<std::string>& organization,
                        const json::object& config) {
  json::object covered;
  covered["type"] = to_string(type);
  covered["organization_id"] = nullptr;
  if (organization)
    covered["organization_id"] = *organization;
  covered["config"] = config;
  return decimal(sha256(json::to_canonical(covered)));
}

std::string fingerprint(const sandbox_config& config) {
  std::optional<std::string> organization;
  if (config.organization)
    organization = config.organization.str();
  return fingerprint(config.type, organization, config.config);
}

} // namespace troupe
