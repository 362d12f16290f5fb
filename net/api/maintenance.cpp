// What the operator does to the store of a serving engine.
#include "runtime/engine/maintenance.hpp"

#include "net/api/routes.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net {

namespace {

bool has_store(maintenance* all, const exchange_ptr& ex) {
  if (!all)
    ex->fail(error{ec::unavailable, "this engine has no store", {}, {}});
  return all != nullptr;
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
  if (!has_store(all, ex))
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
  if (!has_store(all, ex))
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

void drain(const api_options& options, const exchange_ptr& ex) {
  auto body = optional_body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  std::optional<std::chrono::milliseconds> time;
  if (auto seconds = in.integer("timeout_seconds", 0, 86'400))
    time = std::chrono::seconds{*seconds};
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  if (!options.drain) {
    ex->fail(error{ec::unavailable, "this engine cannot be drained", {}, {}});
    return;
  }
  options.drain(time, [ex](std::size_t running) {
    json::object_writer out;
    out.boolean("drained", running == 0).number("running", running);
    ex->answer_json(out.finish());
  });
}

} // namespace

void add_maintenance(router& routes, const api_options& options,
                     const memory_ptr& memory) {
  auto all = options.keeper;
  routes.add(method::post, "/v1/maintenance/backups",
             memory->remembering([all](exchange_ptr ex) { back_up(all, ex); }),
             needing(scope::operate));
  routes.add(method::post, "/v1/maintenance/master-key",
             memory->remembering([all](exchange_ptr ex) { rotate(all, ex); }),
             needing(scope::operate, body_rule::none));
  routes.add(
    method::post, "/v1/maintenance/drain",
    memory->remembering([options](exchange_ptr ex) { drain(options, ex); }),
    needing(scope::operate));
}

} // namespace troupe::net
