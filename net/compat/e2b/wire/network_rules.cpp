#include "net/compat/e2b/wire/network_rules.hpp"

#include <string_view>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::string_view everything = "0.0.0.0/0";

bool denies_everything(json::reader& in) {
  const auto* deny = in.member_array("denyOut");
  if (!deny)
    return false;
  bool out = false;
  for (const auto& each : *deny) {
    if (each.is_string() && each.get_string() == everything)
      out = true;
    else
      in.complain("denyOut",
                  "can be [\"0.0.0.0/0\"] only on this server, with what is "
                  "allowed in allowOut");
  }
  return out;
}

} // namespace

std::optional<json::value> read_rules(json::reader& in,
                                      const std::optional<bool>& internet) {
  for (const char* each : {"rules", "egressProxy", "maskRequestHost"})
    if (in.has(each))
      in.complain(each, "is not supported by this server");
  const bool closed
    = denies_everything(in) || (internet.has_value() && !*internet);
  const auto* allow = in.member_array("allowOut");
  if (allow && !allow->empty())
    return json::object{{"allow", *allow}};
  if (closed)
    return json::value("off"); // in braces it would be a list
  // `true` is what clients say who were told nothing: what the operator allows,
  // which is told with the sandbox.
  return std::nullopt;
}

} // namespace troupe::net::e2b_facade
