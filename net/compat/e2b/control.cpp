// Sandboxes made, found and listed.
#include "net/api/shared/request_body.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/sandbox_json.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

using std::chrono::seconds;

constexpr seconds usual_timeout_v1{15};
constexpr seconds usual_timeout_v2{300};
constexpr std::size_t most_listed = 100; // on one page
constexpr std::size_t all_of_them = 100'000;

// -- creating -----------------------------------------------------------------

void answer_made(facade& shared, exchange& ex, const sandbox_record& made,
                 known_sandbox known) {
  shared.known().put(made.id, known);
  response r;
  r.status = 201;
  r.body = created_json(made, known, shared.tokens());
  ex.answer(std::move(r));
}

void make(facade& shared, const exchange_ptr& ex, wanted_sandbox wanted) {
  auto* engine = shared.sandboxes(*ex);
  if (!engine)
    return;
  known_sandbox known;
  known.owner = ex->who();
  known.template_id = wanted.template_name;
  known.internet = wanted.internet;
  auto& env = wanted.spec.env;
  env.insert_or_assign("E2B_SANDBOX", secret{"true"});
  env.insert_or_assign("E2B_TEMPLATE_ID", secret{known.template_id});
  known.env = env;
  engine->create(ex->who(), std::move(wanted.spec),
                 or_refuse<sandbox_record_ptr>(
                   ex,
                   [&shared, known = std::move(known)](
                     exchange& ex, const sandbox_record_ptr& made) {
                     answer_made(shared, ex, *made, known);
                   }));
}

void create(facade& shared, const exchange_ptr& ex, seconds usual_timeout) {
  auto body = control_body(*ex);
  if (!body)
    return;
  auto wanted = parse_wanted(*body, usual_timeout);
  if (!wanted)
    return refuse(*ex, 400, message_of(wanted.error()));
  if (is_standard_template(wanted->template_name))
    return make(shared, ex, std::move(*wanted));
  auto* engine = shared.sandboxes(*ex);
  if (!engine)
    return;
  const auto name = wanted->template_name;
  engine->find_snapshot(ex->who(), name,
                        [&shared, ex, wanted = std::move(*wanted)](
                          sandbox_result<snapshot_record_ptr> found) mutable {
                          if (!found)
                            return refuse(*ex, 404,
                                          "template '" + wanted.template_name
                                            + "' not found");
                          wanted.spec.snapshot = (*found)->id.str();
                          make(shared, ex, std::move(wanted));
                        });
}

// -- one ----------------------------------------------------------------------

void show(facade& shared, const sandbox_id& id, const exchange_ptr& ex) {
  shared.sandboxes()->find(
    ex->who(), id,
    or_refuse<sandbox_record_ptr>(
      ex, [&shared](exchange& ex, const sandbox_record_ptr& found) {
        if (state_of(*found).empty())
          return refuse(ex, 404, "sandbox '" + found->id.str() + "' not found");
        const auto known = shared.known().meet(found->id, ex.who());
        ex.answer_json(detailed_json(*found, known, shared.tokens()));
      }));
}

// -- all ----------------------------------------------------------------------

struct list_wish {
  sandbox_filter filter;
  std::string template_id; // "": any
  std::optional<timestamp> started_after;
  bool ascending = false;
  bool counts_running = false;
  std::size_t limit = most_listed;
  std::string after; // the place of the last one of the page before
};

/// Sandboxes by when they began, so that a page begins behind the one before
/// it whatever ends meanwhile.
using place = std::pair<timestamp, std::string>;

std::string text_of(const place& p) {
  return std::to_string(p.first.time_since_epoch().count()) + ":" + p.second;
}

place place_of(std::string_view text) {
  const auto colon = text.find(':');
  place out;
  out.first = timestamp{timestamp::duration{
    std::strtoll(std::string{text.substr(0, colon)}.c_str(), nullptr, 10)}};
  out.second = std::string{text.substr(std::min(colon, text.size() - 1) + 1)};
  return out;
}

std::string_view list_name(bool ascending) {
  return ascending ? "e2b.sandboxes.asc" : "e2b.sandboxes.desc";
}

/// "purpose=word&k%20y=v": encoded as a query in itself, and once more as part
/// of ours.
bool read_metadata(std::string_view text,
                   std::map<std::string, std::string>& into) {
  const auto once = percent_decode(text);
  if (!once)
    return false;
  std::string_view rest{*once};
  while (!rest.empty()) {
    const auto pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const auto equals = pair.find('=');
    if (equals == pair.npos || pair.find('=', equals + 1) != pair.npos)
      return false;
    const auto name = percent_decode(pair.substr(0, equals), true);
    const auto value = percent_decode(pair.substr(equals + 1), true);
    if (!name || !value)
      return false;
    into[*name] = *value;
  }
  return true;
}

void read_states(query_reader& query, list_wish& into) {
  std::string all;
  for (const auto& each : query.texts("state"))
    all += each + ",";
  std::string_view rest{all};
  bool running = false, paused = false;
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find(','));
    rest.remove_prefix(one.size() + 1);
    running |= one == "running";
    paused |= one == "paused";
    if (!one.empty() && one != "running" && one != "paused")
      query.complain("state", "is no state", "running or paused");
  }
  const bool both = running == paused;
  auto& states = into.filter.states;
  if (running || both)
    states = {sandbox_state::running, sandbox_state::resuming};
  if (paused || both)
    states.insert(states.end(),
                  {sandbox_state::pausing, sandbox_state::paused});
  into.counts_running = running || both;
}

void read_place(query_reader& query, const exchange& ex, list_wish& into) {
  const auto order = query.text("order").value_or("desc");
  if (order != "asc" && order != "desc")
    query.complain("order", "is no order", "asc or desc");
  into.ascending = order == "asc";
  const auto token = query.text("nextToken").value_or("");
  if (token.empty())
    return;
  const auto place
    = read_cursor(ex.who().organization, list_name(into.ascending), token);
  if (place)
    into.after = *place;
  else
    query.complain("nextToken", "Invalid next token");
}

std::optional<list_wish> read_wish(exchange& ex) {
  query_reader query{ex.in().query};
  list_wish wish;
  wish.filter.limit = all_of_them;
  read_states(query, wish);
  read_place(query, ex, wish);
  const auto limit = query.integer("limit", 1, all_of_them);
  wish.limit = std::min(most_listed,
                        static_cast<std::size_t>(limit.value_or(most_listed)));
  if (const auto text = query.text("metadata"))
    if (!read_metadata(*text, wish.filter.metadata))
      query.complain("metadata", "is no list of name=value pairs");
  wish.template_id = template_reference(query.text("template").value_or(""));
  if (wish.template_id.find(':') != std::string::npos)
    query.complain("template", "must not have a tag");
  if (const auto text = query.text("startedAfter")) {
    auto time = parse_timestamp(*text);
    if (time)
      wish.started_after = *time;
    else
      query.complain("startedAfter", "is no time of RFC 3339");
  }
  if (auto bad = query.finish_lenient()) {
    refuse(ex, 400, message_of(*bad));
    return std::nullopt;
  }
  return wish;
}

struct listed {
  place where;
  sandbox_record_ptr record;
  known_sandbox known;
};

std::vector<listed> matching(facade& shared, const exchange& ex,
                             const std::vector<sandbox_record_ptr>& found,
                             const list_wish& wish) {
  std::vector<listed> out;
  for (const auto& each : found) {
    auto known = shared.known().meet(each->id, ex.who());
    const auto began = started_at(*each, known);
    if (!wish.template_id.empty() && known.template_id != wish.template_id)
      continue;
    if (wish.started_after && began < *wish.started_after)
      continue;
    out.push_back({{began, each->id.str()}, each, std::move(known)});
  }
  std::ranges::sort(out, [&](const listed& a, const listed& b) {
    return wish.ascending ? a.where < b.where : b.where < a.where;
  });
  return out;
}

void answer_list(facade& shared, exchange& ex,
                 const std::vector<sandbox_record_ptr>& found,
                 const list_wish& wish) {
  auto all = matching(shared, ex, found, wish);
  response r;
  if (wish.counts_running)
    r.fields.emplace_back(
      "X-Total-Running",
      std::to_string(std::ranges::count_if(all, [](const listed& each) {
        return state_of(*each.record) == "running";
      })));
  if (!wish.after.empty()) {
    const auto last = place_of(wish.after);
    std::erase_if(all, [&](const listed& each) {
      return wish.ascending ? each.where <= last : last <= each.where;
    });
  }
  if (all.size() > wish.limit) {
    all.resize(wish.limit);
    r.fields.emplace_back("X-Next-Token",
                          make_cursor(ex.who().organization,
                                      list_name(wish.ascending),
                                      text_of(all.back().where)));
  }
  r.body = json::array_of(all, [](const listed& each) {
    return listed_json(*each.record, each.known);
  });
  ex.answer(std::move(r));
}

void list(facade& shared, const exchange_ptr& ex, bool only_running) {
  auto* engine = shared.sandboxes(*ex);
  auto wish = engine ? read_wish(*ex) : std::nullopt;
  if (!wish)
    return;
  if (only_running)
    wish->filter.states = {sandbox_state::running, sandbox_state::resuming};
  auto filter = wish->filter;
  engine->list(ex->who(), std::move(filter),
               or_refuse<page<sandbox_record_ptr>>(
                 ex,
                 [&shared, wish = std::move(*wish)](
                   exchange& ex, const page<sandbox_record_ptr>& found) {
                   answer_list(shared, ex, found.items, wish);
                 }));
}

} // namespace

void add_control(control_routes& to) {
  to.add_open(method::get, "/health",
              [](facade&, const exchange_ptr& ex) { respond_no_content(*ex); });
  to.add(method::post, "/sandboxes",
         [](facade& shared, const exchange_ptr& ex) {
           create(shared, ex, usual_timeout_v1);
         });
  to.add(method::post, "/v2/sandboxes",
         [](facade& shared, const exchange_ptr& ex) {
           create(shared, ex, usual_timeout_v2);
         });
  to.add(method::get, "/sandboxes", [](facade& shared, const exchange_ptr& ex) {
    list(shared, ex, true);
  });
  to.add(
    method::get, "/v2/sandboxes",
    [](facade& shared, const exchange_ptr& ex) { list(shared, ex, false); });
  to.add_one(method::get, "/sandboxes/{sandbox}", show);
}

} // namespace troupe::net::e2b_facade
