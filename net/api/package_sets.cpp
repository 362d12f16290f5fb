// Sets of packages for local runs: built ahead of time, looked at, removed.
#include "net/api/environment_build_stream.hpp"
#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_headers.hpp"
#include "runtime/engine/package_environments.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "package-sets";
constexpr std::string_view kind = "package set";

std::string_view state_of(const environment_record& r) {
  switch (r.state) {
  case environment_state::building:
    return "building";
  case environment_state::ready:
    return "ready";
  case environment_state::failed:
    break;
  }
  return "failed";
}

std::string text_of(const environment_record& r) {
  json::object_writer out;
  out.text("fingerprint", r.fingerprint)
    .text("state", state_of(r))
    .list("packages", r.packages, [&](const auto& p) { out.text(p); })
    .number("bytes", r.bytes)
    .text_or_null("built_at", r.built_at ? to_text(*r.built_at) : "")
    .text_or_null("used_at", r.used_at ? to_text(*r.used_at) : "")
    .text_or_null("progress", r.progress)
    .raw("error", r.failure ? to_json_text(*r.failure) : "null");
  return out.finish();
}

std::string place_of(const std::string& fingerprint) {
  return "/v1/package-sets/" + fingerprint;
}

environment_watch
watch_of(const std::shared_ptr<environment_build_stream>& stream) {
  environment_watch watch;
  watch.progress = [stream](std::string_view text) { stream->line(text); };
  watch.finished
    = [stream](const environment_record& r) { stream->end(text_of(r)); };
  return watch;
}

/// To the one who asked for it: a build that failed is an error.
void answer(exchange& ex, const environment_record& r) {
  if (r.failure) {
    ex.fail(*r.failure);
    return;
  }
  response out;
  bool building = r.state == environment_state::building;
  out.status = building ? 202 : 200;
  out.body = text_of(r);
  if (building)
    out.fields.emplace_back("location", place_of(r.fingerprint));
  ex.answer(std::move(out));
}

/// What the engine has to do with environments: null without a local backend.
environments* room_of(exchange& ex, environments* all) {
  if (!all)
    ex.fail({ec::unavailable,
             "this engine has no local backend and thus no package sets",
             {},
             {}});
  return all;
}

template <class Parse>
auto read_list(json::reader& in, std::string_view name, Parse parse) {
  using list = std::decay_t<decltype(*parse(json::value{}, std::string{}))>;
  auto* v = in.member(name);
  if (!v || v->is_null())
    return list{};
  auto parsed = parse(*v, in.pointer_to(name));
  if (parsed)
    return std::move(*parsed);
  in.absorb(parsed.error());
  return list{};
}

std::optional<environment_request> read_wish(exchange& ex) {
  auto body = body_of(ex);
  if (!body)
    return std::nullopt;
  json::reader in{*body};
  environment_request wish;
  wish.pip = read_list(in, "pip_requirements", parse_pip_list);
  wish.npm = read_list(in, "npm_requirements", parse_npm_list);
  wish.afresh = in.boolean("rebuild").value_or(false);
  if (wish.pip.empty() && wish.npm.empty() && !in.has("pip_requirements")
      && !in.has("npm_requirements"))
    in.complain("pip_requirements", "is missing",
                "name a package there or in npm_requirements");
  else if (wish.pip.empty() && wish.npm.empty())
    in.complain("pip_requirements", "names no package",
                "runs without packages need no package set");
  if (auto bad = in.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return wish;
}

/// Building takes minutes: 202 and a place to look, unless it is ready, or the
/// client waits, or listens.
void build(environments* all, const api_options& options,
           const exchange_ptr& ex) {
  if (!room_of(*ex, all))
    return;
  auto wish = read_wish(*ex);
  if (!wish)
    return;
  const auto& mine = ex->who().organization;
  if (auto format = wanted_stream(ex->in())) {
    auto stream = std::make_shared<environment_build_stream>(ex, *format);
    stream->open();
    all->build(mine, std::move(*wish), watch_of(stream));
    return;
  }
  auto wait = read_preference(ex->in()).wait;
  bool afresh = wish->afresh;
  bool waits = wait && wait->count() > 0;
  environment_watch watch;
  if (waits)
    watch.finished = [ex](const environment_record& r) { answer(*ex, r); };
  auto fingerprint = all->build(mine, std::move(*wish), std::move(watch));
  auto as_it_is = [weak = ex->weak_from_this(), all, fingerprint, afresh] {
    auto ex = weak.lock();
    if (!ex)
      return;
    auto found = all->find(ex->who().organization, fingerprint);
    environment_record begun;
    begun.fingerprint = fingerprint;
    // What is found in place of a new one may still be the old one.
    answer(*ex, found && !afresh ? *found : begun);
  };
  if (waits)
    ex->after(std::min(*wait, options.longest_wait), std::move(as_it_is));
  else
    as_it_is();
}

void find(environments* all, const exchange_ptr& ex) {
  auto found = all
    ? all->find(ex->who().organization, std::string{ex->param(0)})
    : std::nullopt;
  if (found)
    ex->answer_json(text_of(*found));
  else
    respond_not_found(*ex, kind, "/v1/package-sets");
}

void follow(environments* all, const exchange_ptr& ex) {
  std::string fingerprint{ex->param(0)};
  if (!all || !all->find(ex->who().organization, fingerprint)) {
    respond_not_found(*ex, kind, "/v1/package-sets");
    return;
  }
  auto format = wanted_stream(ex->in()).value_or(stream_format::sse);
  auto stream = std::make_shared<environment_build_stream>(ex, format);
  stream->open();
  auto joined
    = all->watch(ex->who().organization, fingerprint, watch_of(stream));
  if (!joined) {
    environment_record gone;
    gone.fingerprint = fingerprint;
    gone.state = environment_state::failed;
    gone.failure = std::make_shared<const error>(joined.error());
    stream->end(text_of(gone));
  }
}

void list(environments* all, const exchange_ptr& ex) {
  auto page = page_of(*ex, list_name);
  if (!page)
    return;
  const auto known = all ? all->list(ex->who().organization)
                         : std::vector<environment_record>{};
  answer_page(
    *ex, *page, list_name, known.begin(), known.end(),
    [](const auto& r) { return r.fingerprint; },
    [](const auto& r) { return text_of(r); },
    [&](const auto& r) { return r.fingerprint > page->after; });
}

void remove(environments* all, const exchange_ptr& ex) {
  if (!all) {
    respond_not_found(*ex, kind, "/v1/package-sets");
    return;
  }
  all->remove(ex->who().organization, std::string{ex->param(0)},
              [ex](result<void> done) {
                if (done)
                  respond_no_content(*ex);
                else
                  ex->fail(done.error());
              });
}

} // namespace

void add_package_sets(router& routes, const api_options& options,
                      const memory_ptr& memory) {
  auto all = options.packages;
  auto write = needing(scope::config);
  auto read = needing(scope::run, body_rule::none);
  routes.add(method::post, "/v1/package-sets",
             memory->remembering(
               [all, options](exchange_ptr ex) { build(all, options, ex); }),
             write);
  routes.add(
    method::get, "/v1/package-sets", [all](exchange_ptr ex) { list(all, ex); },
    listing(scope::run));
  routes.add(
    method::get, "/v1/package-sets/{fingerprint}",
    [all](exchange_ptr ex) { find(all, ex); }, read);
  routes.add(
    method::get, "/v1/package-sets/{fingerprint}/events",
    [all](exchange_ptr ex) { follow(all, ex); }, read);
  routes.add(
    method::del, "/v1/package-sets/{fingerprint}",
    [all](exchange_ptr ex) { remove(all, ex); },
    needing(scope::config, body_rule::none));
}

} // namespace troupe::net
