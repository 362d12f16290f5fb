// What a sandbox says of itself.
#include "net/compat/e2b/facade.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t nothing_large = 64u << 10;

/// What every process in it has, beside what the place gives.
std::string variables_json(const visit& in) {
  json::writer out{json::writer::style::wiped};
  out.begin('{');
  for (const auto& [name, value] : in.known.env)
    out.escaped_name(name).text(value.reveal());
  out.name("E2B_SANDBOX_ID").text(in.id.str());
  out.end('}');
  return out.take();
}

/// Calls of the vendor's own machines.
constexpr std::string_view reserved[]
  = {"/init",     "/freeze", "/unfreeze", "/collapse",
     "/fsfreeze", "/fsthaw", "/upgrade"};

void refuse_path(facade&, const exchange_ptr& ex, const visit&) {
  refuse(*ex, 404,
         std::string{to_string(ex->in().verb)} + " "
           + std::string{ex->in().target.substr(0, ex->in().target.find('?'))}
           + " is not served");
}

} // namespace

void add_envd(data_routes& into) {
  into.add(
    method::get, "/envd/health", proof::none,
    [](facade&, const exchange_ptr& ex, const visit&) {
      respond_no_content(*ex);
    },
    nothing_large);
  into.add(
    method::get, "/envd/envs", proof::token,
    [](facade&, const exchange_ptr& ex, const visit& in) {
      ex->answer_json(variables_json(in));
    },
    nothing_large);
  for (const auto each : reserved)
    into.add(method::post, "/envd" + std::string{each}, proof::none,
             refuse_path, nothing_large);
  for (const auto verb : {method::get, method::post, method::put, method::del})
    into.add(verb, "/envd/{path...}", proof::token, refuse_path, nothing_large);
}

} // namespace troupe::net::e2b_facade
