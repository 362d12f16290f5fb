// What E2B has and this server has not, refused by its name and with a way out;
// and paths that neither has.
#include "net/compat/e2b/facade.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::e2b_facade {

namespace {

struct feature {
  method verb;
  std::string_view path;
  std::string_view name; // "templates cannot be built here; ..." begins so
  std::string_view instead;
};

constexpr std::string_view templates = "building templates is";
constexpr std::string_view no_templates
  = "make a sandbox, set it up and take a snapshot of it, which serves as a "
    "template";
constexpr std::string_view volumes = "volumes are";
constexpr std::string_view no_volumes = "keep files in a sandbox that pauses";
constexpr std::string_view secrets = "secrets are";
constexpr std::string_view no_secrets = "pass values as envs of the sandbox";
constexpr std::string_view vendor = "administering the vendor's service is";
constexpr std::string_view no_vendor = "use the troupe command and its /v1 API";

constexpr feature features[] = {
  {method::post, "/v3/templates", templates, no_templates},
  {method::post, "/v2/templates", templates, no_templates},
  {method::post, "/templates", templates, no_templates},
  {method::post, "/templates/tags", templates, no_templates},
  {method::del, "/templates/tags", templates, no_templates},
  {method::get, "/templates/{template}/tags", templates, no_templates},
  {method::post, "/templates/{template}", templates, no_templates},
  {method::patch, "/templates/{template}", templates, no_templates},
  {method::patch, "/v2/templates/{template}", templates, no_templates},
  {method::get, "/templates/{template}/files/{hash}", templates, no_templates},
  {method::post, "/templates/{template}/builds/{build}", templates,
   no_templates},
  {method::post, "/v2/templates/{template}/builds/{build}", templates,
   no_templates},
  {method::get, "/templates/{template}/builds/{build}/status", templates,
   no_templates},
  {method::get, "/templates/{template}/builds/{build}/logs", templates,
   no_templates},
  {method::post, "/volumes", volumes, no_volumes},
  {method::get, "/volumes", volumes, no_volumes},
  {method::get, "/volumes/{volume}", volumes, no_volumes},
  {method::del, "/volumes/{volume}", volumes, no_volumes},
  {method::post, "/secrets", secrets, no_secrets},
  {method::get, "/secrets", secrets, no_secrets},
  {method::get, "/secrets/{secret}", secrets, no_secrets},
  {method::post, "/secrets/{secret}", secrets, no_secrets},
  {method::del, "/secrets/{secret}", secrets, no_secrets},
  {method::get, "/teams", vendor, no_vendor},
  {method::get, "/api-keys", vendor, no_vendor},
  {method::post, "/api-keys", vendor, no_vendor},
  {method::post, "/access-tokens", vendor, no_vendor},
  {method::get, "/nodes", vendor, no_vendor},
  {method::get, "/events/sandboxes", "the list of events is",
   "read /v1/sandboxes/ID/events"},
  {method::post, "/events/webhooks", "a webhook is",
   "read /v1/sandboxes/ID/events"},
  {method::get, "/events/webhooks", "a webhook is",
   "read /v1/sandboxes/ID/events"},
};

/// The templates that there are, for the vendor's command line.
std::string template_json(std::string_view name) {
  json::object_writer out;
  out.text("templateID", name)
    .text("buildID", "00000000-0000-4000-8000-000000000000")
    .number("cpuCount", 1)
    .number("memoryMB", 0)
    .number("diskSizeMB", 0)
    .boolean("public", true);
  for (const char* each : {"aliases", "names"})
    out.name(each).begin('[').text(name).end(']');
  for (const char* each : {"createdAt", "updatedAt"})
    out.text(each, "2026-01-01T00:00:00.000Z");
  out.raw("createdBy", "null")
    .raw("lastSpawnedAt", "null")
    .number("spawnCount", 0)
    .number("buildCount", 1)
    .text("envdVersion", envd_version)
    .text("buildStatus", "ready");
  return out.finish();
}

void list_templates(facade&, const exchange_ptr& ex) {
  constexpr std::string_view all[] = {"base", "code-interpreter-v1"};
  ex->answer_json(json::array_of(all, template_json));
}

void refuse_path(facade&, const exchange_ptr& ex) {
  refuse(*ex, 404,
         std::string{to_string(ex->in().verb)} + " "
           + std::string{ex->in().target.substr(0, ex->in().target.find('?'))}
           + " is not served by Troupe " TROUPE_VERSION
             "; GET /compat/e2b says what is");
}

constexpr method every_method[]
  = {method::get,   method::post, method::put,
     method::patch, method::del,  method::options};

} // namespace

void add_refusals(control_routes& to) {
  for (const auto& each : features)
    to.add(each.verb, each.path, [each](facade&, const exchange_ptr& ex) {
      refuse_feature(*ex, each.name, each.instead);
    });
  to.add(method::get, "/templates", list_templates);
  to.add(method::get, "/v2/templates", list_templates);
  for (const auto verb : every_method)
    to.add_open(verb, "/{path...}", refuse_path);
}

} // namespace troupe::net::e2b_facade
