// Servers in a sandbox, by the fields that name it and the port.
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/routing.hpp"
#include "net/previews/forwarded_head.hpp"
#include "net/previews/relay.hpp"
#include "runtime/json/writer.hpp"

#include <atomic>
#include <charconv>

namespace troupe::net::e2b_facade {

namespace {

/// Of all sandboxes; each holds two sockets.
constexpr std::size_t most_connections = 1'024;

/// Lets go of one connection; null: there are as many as there may be.
std::shared_ptr<void>
count_in(const std::shared_ptr<std::atomic<std::size_t>>& open) {
  if (open->fetch_add(1) >= most_connections) {
    open->fetch_sub(1);
    return nullptr;
  }
  return {open.get(), [open](void*) { open->fetch_sub(1); }};
}

/// What the server inside calls it.
std::string target_inside(const request& in) {
  auto target = in.target;
  if (target.starts_with(base_path))
    target.remove_prefix(base_path.size());
  return (target.starts_with('/') ? "" : "/") + std::string{target};
}

void refuse_port(exchange& ex, const visit& in, std::uint16_t port) {
  json::object_writer out;
  out.text("sandboxId", in.id.str())
    .text("message", "The sandbox is running but port is not open")
    .number("port", port)
    .number("code", 502);
  ex.answer_json(out.finish(), 502);
}

relay::order order_of(const exchange& ex, unique_fd server,
                      std::shared_ptr<void> counted) {
  const auto& in = ex.in();
  forward_rules forward;
  forward.target = target_inside(in);
  forward.host = in.field("host");
  forward.peer = ex.peer().to_string();
  forward.tls = ex.is_encrypted();
  relay::order out;
  out.server = std::move(server);
  out.request = forward_request(in, forward);
  out.body = body_shape_of(in);
  out.answer.http10 = in.http10;
  out.answer.head_only = in.verb == method::head;
  out.answer.upgrade = !wanted_upgrade(in).empty();
  out.counted = std::move(counted);
  return out;
}

visit_work forwarding() {
  auto open = std::make_shared<std::atomic<std::size_t>>(0);
  return [open](facade& shared, const exchange_ptr& ex, const visit& in) {
    const auto text = ex->param(1);
    std::uint16_t port = 0;
    std::from_chars(text.data(), text.data() + text.size(), port);
    auto counted = count_in(open);
    if (!counted)
      return refuse(*ex, 429, "too many connections to ports of sandboxes");
    shared.sandboxes()->connect(
      in.who, in.id, port,
      [ex, in, port, counted](sandbox_result<unique_fd> server) {
        if (server)
          return ex->take_over(std::make_shared<relay>(
            order_of(*ex, std::move(*server), counted)));
        if (is_about_sandbox(server.error()))
          return refuse_gone(*ex, in.id.str());
        refuse_port(*ex, in, port);
      });
  };
}

} // namespace

void add_user_ports(data_routes& into) {
  const auto work = forwarding();
  for (const auto verb : {method::get, method::post, method::put, method::patch,
                          method::del, method::options})
    into.add_port(verb, work);
}

} // namespace troupe::net::e2b_facade
