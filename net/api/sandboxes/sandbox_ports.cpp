// Ports of living sandboxes: which are listened on, and who may see them.
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/previews/forwarded_head.hpp"
#include "net/previews/previews.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <charconv>
#include <map>

namespace troupe::net {

namespace {

using std::chrono::seconds;

constexpr seconds shortest_life{60};
constexpr seconds longest_life{86'400};
constexpr seconds usual_life{3'600};

std::optional<port_name> port_of(exchange& ex, const sandbox_id& id) {
  const auto text = ex.param(1);
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, port);
  if (code == std::errc{} && at == end && port != 0)
    return port_name{id, port};
  ex.fail(bad_field("port", "is no port", "from 1 to 65535"));
  return std::nullopt;
}

struct port_state {
  bool listening = false;
  bool opened = false;
  bool to_all = false;
};

std::string port_text(const std::pair<const std::uint16_t, port_state>& one) {
  json::object_writer out;
  out.number("port", one.first)
    .boolean("listening", one.second.listening)
    .boolean("opened", one.second.opened)
    .boolean("public", one.second.to_all);
  return out.finish();
}

void list_ports(const previews_ptr& seen, sandbox_engine& engine,
                const sandbox_id& id, const exchange_ptr& ex) {
  engine.list_ports(
    ex->who(), id,
    or_fail<std::vector<std::uint16_t>>(
      ex, [seen, id](exchange& ex, const std::vector<std::uint16_t>& found) {
        std::map<std::uint16_t, port_state> all;
        for (const auto port : found)
          all[port].listening = true;
        for (const auto& each : seen->tokens().ports_of(
               ex.who().organization, id, port_tokens::clock::now())) {
          all[each.port].opened = true;
          all[each.port].to_all = each.to_all;
        }
        json::object_writer out;
        out.raw("items", json::array_of(all, port_text));
        ex.answer_json(out.finish());
      }));
}

struct opening {
  seconds life = usual_life;
  bool to_all = false;
};

std::optional<opening> read_opening(exchange& ex, bool grants_public) {
  auto body = optional_body_of(ex);
  if (!body)
    return std::nullopt;
  json::reader in{*body};
  opening said;
  if (const auto life
      = in.integer("expires_in", shortest_life.count(), longest_life.count()))
    said.life = seconds{*life};
  said.to_all = in.boolean("public").value_or(false);
  if (said.to_all && !grants_public)
    in.complain("public", "is not granted on this server",
                "use the token, or set sandbox.public-ports = true");
  if (auto bad = in.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return said;
}

void answer_opened(exchange& ex, const previews& seen, const port_name& port,
                   const opening& said, const port_tokens::opened& made) {
  const auto query
    = "?" + std::string{port_token_query} + "=" + made.token.reveal();
  json::object_writer out;
  out.number("port", port.port);
  if (const auto url = seen.url_of(port); !url.empty())
    out.text("url", said.to_all ? url : url + query);
  out.text("path_url", previews::path_of(port) + "/" + query)
    .text("token", made.token.reveal())
    .text("expires_at",
          to_text(
            std::chrono::time_point_cast<timestamp::duration>(made.expires_at)))
    .boolean("public", said.to_all);
  ex.answer_json(out.finish(), 201);
}

void open_port(const previews_ptr& seen, sandbox_engine& engine,
               const sandbox_id& id, const exchange_ptr& ex) {
  auto port = port_of(*ex, id);
  auto said
    = port ? read_opening(*ex, seen->options().public_ports) : std::nullopt;
  if (!said)
    return;
  auto granted = [seen, said = *said, port = *port](exchange& ex,
                                                    const sandbox_record_ptr&) {
    auto made = seen->tokens().open(ex.who(), port, said.life, said.to_all,
                                    port_tokens::clock::now());
    if (made)
      answer_opened(ex, *seen, port, said, *made);
    else
      ex.fail(made.error());
  };
  // Only what is the caller's own.
  engine.find(ex->who(), id,
              or_fail<sandbox_record_ptr>(ex, std::move(granted)));
}

void close_port(const previews_ptr& seen, sandbox_engine& engine,
                const sandbox_id& id, const exchange_ptr& ex) {
  auto port = port_of(*ex, id);
  if (!port)
    return;
  auto found = [seen, port = *port](exchange& ex, const sandbox_record_ptr&) {
    seen->tokens().revoke(ex.who().organization, port);
    respond_no_content(ex);
  };
  engine.find(ex->who(), id, or_fail<sandbox_record_ptr>(ex, std::move(found)));
}

using port_work = void (*)(const previews_ptr&, sandbox_engine&,
                           const sandbox_id&, const exchange_ptr&);

sandbox_routes::one_handler with_previews(previews_ptr seen, port_work work) {
  return [seen = std::move(seen),
          work](sandbox_engine& engine, const sandbox_id& id,
                const exchange_ptr& ex) { work(seen, engine, id, ex); };
}

} // namespace

void add_sandbox_ports(router& routes, const api_options& options,
                       const previews_ptr& seen, const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const auto look = needing(scope::run, body_rule::none);
  all.add(method::get, "/ports", with_previews(seen, list_ports), look);
  all.add(method::post, "/ports/{port}", with_previews(seen, open_port),
          needing(scope::run), answer_holds::a_secret);
  all.add(method::del, "/ports/{port}", with_previews(seen, close_port), look);
  seen->add_path_routes(routes);
}

} // namespace troupe::net
