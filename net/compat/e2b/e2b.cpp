#include "net/compat/e2b/e2b.hpp"

#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/routing.hpp"

namespace troupe::net::e2b_facade {

namespace {

void add_routes(router& routes, const facade_ptr& shared) {
  routes.style(std::string{base_path}, &write_error);
  control_routes control{routes, shared};
  data_routes data{routes, shared};
  add_differences(control);
  add_control(control);
  add_life(control);
  add_usage(control, data);
  add_snapshots(control);
  add_refusals(control);
  add_processes(data);
  add_filesystem(data);
  add_watches(data);
  add_transfers(data);
  add_envd(data);
  add_interpreter(data);
  add_user_ports(data);
  route_rules open;
  open.public_route = true;
  open.body = body_rule::any;
  for (const auto verb : {method::get, method::post})
    routes.add(
      verb, std::string{malformed_path},
      [](const exchange_ptr& ex) {
        response r;
        r.status = 400;
        r.type = text_type;
        r.body = "E2b-Sandbox-Id and E2b-Sandbox-Port must name a sandbox and "
                 "a port\n";
        ex->answer(std::move(r));
      },
      open);
}

/// The path behind ours, "/" for nothing.
std::string_view below_base(std::string_view path) {
  path.remove_prefix(base_path.size());
  return path.empty() ? std::string_view{"/"} : path;
}

} // namespace

facade_ptr make_facade(engine& core, sandbox_engine* sandboxes) {
  return std::make_shared<facade>(core, sandboxes);
}

void tell_urls(facade& shared, std::vector<std::string> urls) {
  shared.serves(std::move(urls));
}

void add_e2b(router& routes, const facade_ptr& shared) {
  add_routes(routes, shared);
  routes.redirect(std::string{base_path}, [](const request& in) {
    return route_of(in, below_base(in.path));
  });
  routes.redirect("/files",
                  [](const request& in) { return route_of(in, in.path); });
}

void add_e2b_at_root(router& routes, const facade_ptr& shared) {
  add_routes(routes, shared);
  routes.redirect("", [](const request& in) {
    const std::string_view path{in.path};
    const bool named = path.starts_with(base_path)
      && (path.size() == base_path.size() || path[base_path.size()] == '/');
    return route_of(in, named ? below_base(path) : path);
  });
}

} // namespace troupe::net::e2b_facade
