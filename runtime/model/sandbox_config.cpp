#include "runtime/model/sandbox_config.hpp"

#include "runtime/base/digest.hpp"

namespace troupe {

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
