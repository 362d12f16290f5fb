// What the operator does to the store of a serving engine.
#include "runtime/engine/maintenance.hpp"

#include "net/api/preconditions.hpp"
#include "net/api/request_body.hpp"
#include "net/api/routes.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net {

namespace {

/// Answers whoever may not, or where nothing is kept.
bool may(maintenance* all, const exchange_ptr& ex) {
  if (!is_operator(ex->who())) {
    ex->fail(error{ec::denied,
                   "this affects every organization and is only allowed from "
                   "this machine without an API key; if http.require-key is "
                   "set or the engine listens beyond loopback, stop the engine "
                   "and run the command with --engine.data-dir",
                   {},
                   {}});
    return false;
  }
  if (!all) {
    ex->fail(error{ec::unavailable, "this engine has no store", {}, {}});
    return false;
  }
  return true;
}

void back_up(maintenance* all, const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  const auto name = in.required_text("directory", {.min = 1, .max = 4'096});
  const std::filesystem::path place{name};
  if (name.find('\0') != name.npos)
    in.complain("directory", "contains a NUL character", "leave it out");
  else if (!place.empty() && !place.is_absolute())
    in.complain("directory", "is relative", "begin with /");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  if (!may(all, ex))
    return;
  all->back_up(place, [ex, place](result<backup_facts> made) {
    if (!made) {
      ex->fail(made.error());
      return;
    }
    json::object_writer out;
    out.text("directory", place.string())
      .number("files", static_cast<std::int64_t>(made->files))
      .number("bytes", static_cast<std::int64_t>(made->bytes))
      .number("format", made->format)
      .text("master_key_id", made->master_key);
    ex->answer_json(out.finish());
  });
}

void rotate(maintenance* all, const exchange_ptr& ex) {
  if (!may(all, ex))
    return;
  all->rotate_master([ex](result<master_key_change> done) {
    if (!done) {
      ex->fail(done.error());
      return;
    }
    json::object_writer out;
    out.text("old_key_id", done->replaced).text("new_key_id", done->by);
    ex->answer_json(out.finish());
  });
}

} // namespace

void add_maintenance(router& routes, const api_options& options,
                     const memory_ptr& memory) {
  auto all = options.keeper;
  routes.add(method::post, "/v1/maintenance/backups",
             memory->remembering([all](exchange_ptr ex) { back_up(all, ex); }),
             needing(scope::admin));
  routes.add(method::post, "/v1/maintenance/master-key",
             memory->remembering([all](exchange_ptr ex) { rotate(all, ex); }),
             needing(scope::admin, body_rule::none));
}

} // namespace troupe::net
