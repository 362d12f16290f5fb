#include "net/api/api.hpp"
#include "net/api/routes.hpp"

#include <string>

namespace troupe::net {

// Made from openapi.json and docs.html when building; see net/CMakeLists.txt.
extern const std::string_view openapi_json;
extern const std::string_view docs_html;

std::string_view openapi_document() {
  return openapi_json;
}

void add_documents(router& routes) {
  route_rules rules;
  rules.public_route = true;
  rules.body = body_rule::none;
  routes.add(
    method::get, "/openapi.json",
    [](exchange_ptr ex) { ex->answer_json(std::string{openapi_json}); }, rules);
  routes.add(
    method::get, "/docs",
    [](exchange_ptr ex) {
      response r;
      r.type = "text/html; charset=utf-8";
      r.body = std::string{docs_html};
      // Its own script and style, and the document: nothing from elsewhere.
      r.fields.emplace_back("content-security-policy",
                            "default-src 'none'; connect-src 'self'; "
                            "style-src 'unsafe-inline'; script-src "
                            "'unsafe-inline'; frame-ancestors 'none'; "
                            "base-uri 'none'; form-action 'none'");
      ex->answer(std::move(r));
    },
    rules);
}

} // namespace troupe::net
