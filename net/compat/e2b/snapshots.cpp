// Files of a sandbox at one moment, and sandboxes with the same files.
#include "net/api/shared/request_body.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/sandbox_json.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t most_listed = 100; // on one page
constexpr std::int64_t usual_timeout = 15;
constexpr std::string_view list_name = "e2b.snapshots";

std::string snapshot_json(const snapshot_record& r) {
  json::object_writer out;
  out.text("snapshotID", r.id.str() + ":default");
  out.list("names", std::vector<std::string>(r.name.empty() ? 0 : 1, r.name),
           [&](const std::string& name) { out.text(name); });
  return out.finish();
}

void take(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  auto body = control_body(*ex);
  if (!body)
    return;
  json::reader in{*body};
  const auto name = template_reference(in.text("name").value_or(""));
  if (auto bad = in.finish_lenient())
    return refuse(*ex, 400, message_of(*bad));
  if (is_standard_template(name))
    return refuse(*ex, 400, "name is that of a template of this server");
  shared.sandboxes()->snapshot(
    ex->who(), id, name,
    or_refuse<snapshot_record_ptr>(
      ex, [](exchange& ex, const snapshot_record_ptr& taken) {
        ex.answer_json(snapshot_json(*taken), 201);
      }));
}

// -- a list -------------------------------------------------------------------

struct snapshot_wish {
  std::string sandbox;
  std::string name;
  std::string after;
  std::size_t limit = most_listed;
};

std::optional<snapshot_wish> read_wish(exchange& ex) {
  query_reader query{ex.in().query};
  snapshot_wish wish;
  wish.sandbox = query.text("sandboxID").value_or("");
  wish.name = template_reference(query.text("name").value_or(""));
  const auto limit = query.integer("limit", 1, 1'000'000);
  wish.limit = std::min(most_listed,
                        static_cast<std::size_t>(limit.value_or(most_listed)));
  if (const auto token = query.text("nextToken"); token && !token->empty()) {
    auto place = read_cursor(ex.who().organization, list_name, *token);
    if (place)
      wish.after = std::move(*place);
    else
      query.complain("nextToken", "Invalid next token");
  }
  if (auto bad = query.finish_lenient()) {
    refuse(ex, 400, message_of(*bad));
    return std::nullopt;
  }
  return wish;
}

void answer_list(exchange& ex, std::vector<snapshot_record_ptr> all,
                 const snapshot_wish& wish) {
  std::ranges::reverse(all); // newest first
  std::erase_if(all, [&](const snapshot_record_ptr& each) {
    return (!wish.sandbox.empty() && each->sandbox.str() != wish.sandbox)
      || (!wish.name.empty() && each->name != wish.name
          && each->id.str() != wish.name);
  });
  if (!wish.after.empty()) {
    const auto last = std::ranges::find_if(
      all, [&](const auto& each) { return each->id.str() == wish.after; });
    if (last != all.end())
      all.erase(all.begin(), last + 1);
  }
  response r;
  if (all.size() > wish.limit) {
    all.resize(wish.limit);
    r.fields.emplace_back(
      "X-Next-Token",
      make_cursor(ex.who().organization, list_name, all.back()->id.str()));
  }
  r.body = json::array_of(
    all, [](const snapshot_record_ptr& each) { return snapshot_json(*each); });
  ex.answer(std::move(r));
}

void list(facade& shared, const exchange_ptr& ex) {
  auto* engine = shared.sandboxes(*ex);
  auto wish = engine ? read_wish(*ex) : std::nullopt;
  if (!wish)
    return;
  engine->list_snapshots(
    ex->who(),
    or_refuse<std::vector<snapshot_record_ptr>>(
      ex,
      [wish = std::move(*wish)](exchange& ex,
                                const std::vector<snapshot_record_ptr>& all) {
        answer_list(ex, all, wish);
      }));
}

void remove(facade& shared, const exchange_ptr& ex) {
  auto* engine = shared.sandboxes(*ex);
  if (!engine)
    return;
  const auto name = template_reference(ex->param(0));
  if (is_standard_template(name))
    return refuse(*ex, 403, "template '" + name + "' is part of this server");
  engine->remove_snapshot(
    ex->who(), name, [ex, name](sandbox_result<void> gone) {
      if (gone)
        return respond_no_content(*ex);
      if (gone.error().code == ec::not_found)
        return refuse(*ex, 404, "template '" + name + "' not found");
      fail_control(*ex, gone.error());
    });
}

// -- forks --------------------------------------------------------------------

std::string fork_json(facade& shared, const known_sandbox& like,
                      const sandbox_result<sandbox_record_ptr>& each) {
  json::object_writer out;
  if (each) {
    auto known = like;
    known.cells.clear();
    known.resumed_at.reset();
    shared.known().put((*each)->id, known);
    out.raw("sandbox", created_json(**each, known, shared.tokens()));
  } else {
    out.raw(
      "error",
      error_answer(control_status_of(each.error()), message_of(each.error()))
        .body);
  }
  return out.finish();
}

void fork(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  auto body = control_body(*ex);
  if (!body)
    return;
  json::reader in{*body};
  const auto count = in.integer("count", 1, bounds::sandbox_forks).value_or(1);
  const auto timeout = in.integer("timeout", 1).value_or(usual_timeout);
  if (auto bad = in.finish_lenient())
    return refuse(*ex, 400, message_of(*bad));
  auto spec = parse_fork({{"count", count}, {"timeout", timeout}});
  if (!spec)
    return refuse(*ex, 400, message_of(spec.error()));
  auto found = [&shared, id, spec = std::move(*spec)](
                 exchange& ex, const sandbox_record_ptr& like) {
    if (state_of(*like) != "running")
      return refuse(ex, 409, "sandbox '" + id.str() + "' is not running");
    auto done = [&shared, id](exchange& ex, const sandbox_engine::forks& all) {
      const auto known = shared.known().meet(id, ex.who());
      ex.answer_json(json::array_of(all,
                                    [&](const auto& each) {
                                      return fork_json(shared, known, each);
                                    }),
                     201);
    };
    shared.sandboxes()->fork(
      ex.who(), id, spec,
      or_refuse<sandbox_engine::forks>(ex.shared_from_this(), std::move(done)));
  };
  shared.sandboxes()->find(ex->who(), id,
                           or_refuse<sandbox_record_ptr>(ex, std::move(found)));
}

// -- templates ----------------------------------------------------------------

/// Which is all that there is to know of one: whether it is there.
void find_alias(facade& shared, const exchange_ptr& ex) {
  const auto name = template_reference(ex->param(0));
  const auto answer = [name](exchange& ex) {
    json::object_writer out;
    out.text("templateID", name).boolean("public", true);
    ex.answer_json(out.finish());
  };
  if (is_standard_template(name))
    return answer(*ex);
  auto* engine = shared.sandboxes(*ex);
  if (!engine)
    return;
  engine->find_snapshot(
    ex->who(), name,
    [ex, name, answer](const sandbox_result<snapshot_record_ptr>& found) {
      if (found)
        return answer(*ex);
      refuse(*ex, 404, "template '" + name + "' not found");
    });
}

} // namespace

void add_snapshots(control_routes& to) {
  to.add_one(method::post, "/sandboxes/{sandbox}/snapshots", take);
  to.add_one(method::post, "/sandboxes/{sandbox}/fork", fork);
  to.add(method::get, "/snapshots", list);
  to.add(method::del, "/templates/{template}", remove);
  to.add(method::get, "/templates/aliases/{alias}", find_alias);
}

} // namespace troupe::net::e2b_facade
