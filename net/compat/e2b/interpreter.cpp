// The code interpreter's contexts.
#include "net/compat/e2b/interpreter.hpp"

#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>
#include <utility>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 64u << 10;

} // namespace

void refuse_text(exchange& ex, int status, std::string text) {
  response r;
  r.status = status;
  r.type = text_type;
  r.body = std::move(text);
  ex.answer(std::move(r));
}

void fail_text(exchange& ex, const visit& in, const sandbox_error& why) {
  if (is_about_sandbox(why))
    return refuse_gone(ex, in.id.str());
  switch (why.code) {
  case ec::not_found:
    return refuse_text(ex, 404, message_of(why));
  case ec::exhausted:
    return refuse_text(ex, 429, message_of(why));
  case ec::invalid_request:
    return refuse_text(ex, 400, message_of(why));
  default:
    return refuse_text(ex, 500, message_of(why));
  }
}

sandbox_contexts* contexts_of(facade& shared, exchange& ex) {
  auto* contexts = shared.sandboxes()->contexts();
  if (!contexts)
    refuse_text(ex, 501, "this engine has no contexts");
  return contexts;
}

std::optional<json::object> call_of(exchange& ex) {
  auto parsed = json::parse_object(ex.in().body, {.wiped = true});
  if (parsed)
    return std::move(*parsed);
  refuse(ex, 422, "the body is no JSON object: " + message_of(parsed.error()));
  return std::nullopt;
}

result<context_language> language_of(std::string_view said) {
  std::string name;
  for (const char c : said)
    if (c != ' ')
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (name == "js")
    name = "javascript";
  if (name == "ts")
    name = "typescript";
  return parse_context_language(name.empty() ? "python" : name);
}

std::string no_language(std::string_view said) {
  return "Language '" + std::string{said}
  + "' is not installed; this server has python, javascript, typescript and "
    "bash";
}

namespace {

// -- contexts -----------------------------------------------------------------

std::string context_json(const context_record& r) {
  json::object_writer out;
  out.text("id", r.id)
    .text("language", to_string(r.language))
    .text("cwd", r.cwd.empty() ? user_home : std::string_view{r.cwd});
  return out.finish();
}

/// Clients make contexts in folders that they cannot enter, and go on in the
/// usual one.
void make_context(sandbox_contexts& contexts, const exchange_ptr& ex,
                  const visit& in, context_spec spec) {
  auto again = spec;
  auto made = [&contexts, ex, in, again = std::move(again)](
                const sandbox_result<sandbox_context_ptr>& made) mutable {
    if (made)
      return ex->answer_json(context_json((*made)->record()));
    if (made.error().code != ec::invalid_request || again.cwd == user_home)
      return fail_text(*ex, in, made.error());
    again.cwd = user_home;
    make_context(contexts, ex, in, std::move(again));
  };
  contexts.create(in.who, in.id, std::move(spec), std::move(made));
}

void create(facade& shared, const exchange_ptr& ex, const visit& in) {
  auto* contexts = contexts_of(shared, *ex);
  auto body = contexts ? call_of(*ex) : std::nullopt;
  if (!body)
    return;
  message_reader message{*body};
  const auto said = message.text("language");
  auto cwd = absolute_path(message.text("cwd"));
  if (message.bad())
    return refuse(*ex, 422, message.bad()->message);
  auto language = language_of(said);
  if (!language)
    return refuse_text(*ex, 500, no_language(said));
  if (!cwd)
    return refuse_text(*ex, 400, message_of(cwd.error()));
  context_spec spec;
  spec.language = *language;
  spec.cwd = *cwd;
  spec.auto_restart = true;
  spec.env.emplace("E2B_SANDBOX_ID", secret{in.id.str()});
  make_context(*contexts, ex, in, std::move(spec));
}

void answer_list(exchange& ex, const std::vector<sandbox_context_ptr>& all) {
  std::vector<context_record> some;
  for (const auto& each : all)
    some.push_back(each->record());
  // Those that clients made come behind those that they expect.
  std::ranges::stable_sort(some, {}, [](const context_record& r) {
    return std::pair{!r.is_default, r.created_at};
  });
  ex.answer_json(json::array_of(some, context_json));
}

/// The first of these languages without a context of its own.
std::optional<context_language>
without_default(const std::vector<sandbox_context_ptr>& all) {
  for (const auto wanted :
       {context_language::python, context_language::javascript})
    if (std::ranges::none_of(all, [&](const sandbox_context_ptr& each) {
          const auto r = each->record();
          return r.is_default && r.language == wanted;
        }))
      return wanted;
  return std::nullopt;
}

/// Clients expect both default contexts in it, which come by their first cells
/// here: what has none yet gets an empty one.
void list_with_defaults(facade& shared, const exchange_ptr& ex, const visit& in,
                        unsigned tries) {
  auto* contexts = shared.sandboxes()->contexts();
  auto found = [&shared, ex, in, tries, contexts](
                 const sandbox_result<std::vector<sandbox_context_ptr>>& all) {
    if (!all)
      return fail_text(*ex, in, all.error());
    const auto missing = without_default(*all);
    if (!missing || tries == 0)
      return answer_list(*ex, *all);
    contexts->run(in.who, in.id, {"", *missing}, cell_spec{},
                  [&shared, ex, in, tries](const auto&) {
                    list_with_defaults(shared, ex, in, tries - 1);
                  });
  };
  contexts->list(in.who, in.id, std::move(found));
}

void list(facade& shared, const exchange_ptr& ex, const visit& in) {
  constexpr unsigned languages = 2;
  if (contexts_of(shared, *ex))
    list_with_defaults(shared, ex, in, languages);
}

using context_work
  = std::function<void(const exchange_ptr&, const sandbox_context_ptr&)>;

/// About the context that the path names.
void with_context(facade& shared, const exchange_ptr& ex, const visit& in,
                  context_work then) {
  auto* contexts = contexts_of(shared, *ex);
  if (!contexts)
    return;
  const std::string name{ex->param(1)};
  contexts->find(in.who, in.id, name,
                 [ex, in, name, then = std::move(then)](
                   const sandbox_result<sandbox_context_ptr>& found) {
                   if (found)
                     return then(ex, *found);
                   if (found.error().code == ec::not_found
                       && !is_about_sandbox(found.error()))
                     return refuse_text(*ex, 404,
                                        "Context " + name + " not found");
                   fail_text(*ex, in, found.error());
                 });
}

void restart(facade& shared, const exchange_ptr& ex, const visit& in) {
  with_context(
    shared, ex, in,
    [&shared, in](const exchange_ptr& ex, const sandbox_context_ptr& found) {
      shared.known().restart_cells(in.id, found->record().id);
      found->restart([ex, in](const sandbox_result<void>& done) {
        if (done)
          return ex->answer_json("null");
        fail_text(*ex, in, done.error());
      });
    });
}

void remove(facade& shared, const exchange_ptr& ex, const visit& in) {
  auto gone = [ex, in](const sandbox_result<void>& done) {
    if (done)
      return ex->answer_json("null");
    fail_text(*ex, in, done.error());
  };
  with_context(
    shared, ex, in,
    [&shared, in, gone](const exchange_ptr&, const sandbox_context_ptr& found) {
      const auto id = found->record().id;
      shared.known().restart_cells(in.id, id);
      shared.sandboxes()->contexts()->remove(in.who, in.id, id, gone);
    });
}

} // namespace

void add_interpreter(data_routes& into) {
  add_cells(into);
  into.add(
    method::get, "/code/health", proof::none,
    [](facade&, const exchange_ptr& ex, const visit&) {
      ex->answer_json("\"OK\"");
    },
    largest_call);
  into.add(method::post, "/code/contexts", proof::none, create, largest_call);
  into.add(method::get, "/code/contexts", proof::none, list, largest_call);
  into.add(method::post, "/code/contexts/{context}/restart", proof::none,
           restart, largest_call);
  into.add(method::del, "/code/contexts/{context}", proof::none, remove,
           largest_call);
}

} // namespace troupe::net::e2b_facade
