#include "net/mcp/server_card.hpp"

#include "net/mcp/era.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/toolkit/catalogue.hpp"

namespace troupe::net::mcp {

namespace {

constexpr std::string_view modern_capabilities
  = R"({"tools":{"listChanged":true},"resources":{},"completions":{}})";
constexpr std::string_view legacy_capabilities
  = R"({"tools":{"listChanged":true},"resources":{},"completions":{},"logging":{}})";

std::string server_info() {
  json::object_writer out;
  out.text("name", "troupe")
    .text("title", "Troupe")
    .text("version", TROUPE_VERSION);
  return out.finish();
}

} // namespace

std::string modern_result(std::string_view members, cached how) {
  std::string text{R"({"resultType":"complete")"};
  if (!members.empty())
    text.append(",").append(members);
  if (how != cached::unsaid) {
    text += ",\"ttlMs\":";
    text += how == cached::for_an_hour ? "3600000"
      : how == cached::for_a_minute    ? "60000"
                                       : "0";
    text += how == cached::for_an_hour ? R"(,"cacheScope":"public")"
                                       : R"(,"cacheScope":"private")";
  }
  return text + R"(,"_meta":{"io.modelcontextprotocol/serverInfo":)"
    + server_info() + "}}";
}

std::string discover_members() {
  json::object_writer out;
  out.raw("supportedVersions", versions_json())
    .raw("capabilities", modern_capabilities)
    .text("instructions", toolkit::instructions());
  auto text = out.finish();
  return text.substr(1, text.size() - 2);
}

std::string initialize_result(std::string_view asked, std::string& version) {
  version = is_legacy_version(asked) ? asked : legacy_versions.front();
  json::object_writer out;
  out.text("protocolVersion", version)
    .raw("capabilities", legacy_capabilities)
    .raw("serverInfo", server_info())
    .text("instructions", toolkit::instructions());
  return out.finish();
}

} // namespace troupe::net::mcp
