// filesystem.Filesystem: names in a sandbox's tree.
#include "net/compat/e2b/entry_info.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t largest_call = 64u << 10;
constexpr std::int64_t deepest = 100;

/// A failure about the sandbox, or about what was asked for in it.
void fail_call(exchange& ex, const visit& in, const sandbox_error& why) {
  if (is_about_sandbox(why))
    return refuse_gone(ex, in.id.str());
  fail_rpc(ex, rpc_error_of(why));
}

struct path_call {
  std::string path;
  json::object body;
};
using path_work
  = std::function<void(facade&, const exchange_ptr&, const visit&, path_call)>;

std::optional<std::string> path_in(exchange& ex, const json::object& body,
                                   std::string_view name) {
  message_reader message{body};
  auto text = message.text(name);
  if (message.bad()) {
    fail_rpc(ex, *message.bad());
    return std::nullopt;
  }
  auto path = absolute_path(text);
  if (path)
    return std::move(*path);
  fail_rpc(ex, {rpc_code::invalid_argument, message_of(path.error())});
  return std::nullopt;
}

/// A unary call about one path.
visit_work about_path(std::string_view name, path_work work) {
  return [name, work = std::move(work)](facade& shared, const exchange_ptr& ex,
                                        const visit& in) {
    auto body = message_of(*ex, rpc_kind::unary);
    if (!body)
      return;
    if (const auto why = why_no_user(user_of(ex->in())))
      return fail_rpc(*ex, {rpc_code::unauthenticated, *why});
    if (auto path = path_in(*ex, *body, name))
      work(shared, ex, in, {std::move(*path), std::move(*body)});
  };
}

void answer_entry(facade& shared, const exchange_ptr& ex, const visit& in,
                  const std::string& path) {
  find_entries(shared, in, path, 0,
               [ex, in](const sandbox_result<std::vector<entry_info>>& found) {
                 if (!found)
                   return fail_call(*ex, in, found.error());
                 json::object_writer out;
                 out.raw("entry", to_json(found->front()));
                 answer_rpc(*ex, out.finish());
               });
}

void stat(facade& shared, const exchange_ptr& ex, const visit& in,
          const path_call& call) {
  answer_entry(shared, ex, in, call.path);
}

void make_folder(facade& shared, const exchange_ptr& ex, const visit& in,
                 const path_call& call) {
  auto* engine = shared.sandboxes();
  const auto path = call.path;
  auto made = [&shared, ex, in, path](const sandbox_result<void>& done) {
    if (!done)
      return fail_call(*ex, in, done.error());
    answer_entry(shared, ex, in, path);
  };
  engine->stat_file(
    in.who, in.id, path,
    [engine, ex, in, path,
     made = std::move(made)](const sandbox_result<sandbox_entry>& there) {
      if (there && there->folder)
        return fail_rpc(
          *ex, {rpc_code::already_exists, "directory already exists: " + path});
      if (there)
        return fail_rpc(
          *ex,
          {rpc_code::invalid_argument,
           "path already exists but it is not a directory: " + path});
      engine->make_folder(in.who, in.id, path, made);
    });
}

void move(facade& shared, const exchange_ptr& ex, const visit& in,
          const path_call& call) {
  const auto to = path_in(*ex, call.body, "destination");
  if (!to)
    return;
  auto* engine = shared.sandboxes();
  const auto from = call.path;
  auto moved = [&shared, ex, in, to = *to](const sandbox_result<void>& done) {
    if (!done)
      return fail_rpc(*ex, {rpc_code::internal, message_of(done.error())});
    answer_entry(shared, ex, in, to);
  };
  auto move_it = [engine, in, from, to = *to, moved](const auto&) {
    engine->move_file(in.who, in.id, from, to, moved);
  };
  auto found = [engine, ex, in, from, to = *to,
                move_it](const sandbox_result<std::vector<entry_info>>& there) {
    if (there)
      return engine->make_folder(in.who, in.id, parent_of(to), move_it);
    if (there.error().code != ec::not_found)
      return fail_call(*ex, in, there.error());
    fail_rpc(*ex, {rpc_code::not_found, "source file not found: " + from});
  };
  find_entries(shared, in, from, 0, std::move(found));
}

void remove(facade& shared, const exchange_ptr& ex, const visit& in,
            const path_call& call) {
  shared.sandboxes()->remove_file(
    in.who, in.id, call.path, [ex, in](const sandbox_result<void>& done) {
      // What is not there is removed.
      if (done
          || (done.error().code == ec::not_found
              && done.error().problem == sandbox_problem::none))
        return answer_rpc(*ex, "{}");
      if (is_about_sandbox(done.error()))
        return refuse_gone(*ex, in.id.str());
      fail_rpc(*ex, {rpc_code::internal, message_of(done.error())});
    });
}

void answer_list(exchange& ex, const std::vector<entry_info>& all) {
  json::object_writer out;
  out.raw("entries",
          json::array_of(all, [](const entry_info& e) { return to_json(e); }));
  answer_rpc(ex, out.finish());
}

/// An empty list may be that of a file: then it is looked at closely.
void answer_empty_list(facade& shared, const exchange_ptr& ex, const visit& in,
                       const std::string& path) {
  find_entries(
    shared, in, path, 0,
    [ex, in, path](const sandbox_result<std::vector<entry_info>>& found) {
      if (!found)
        return fail_call(*ex, in, found.error());
      const auto& what = found->front();
      if (what.target == 'L')
        return fail_rpc(*ex,
                        {rpc_code::failed_precondition,
                         "cyclic symlink or chain of links: " + path});
      if (what.target == 'N')
        return fail_rpc(*ex, {rpc_code::not_found, "path not found: " + path});
      if (!what.is_folder())
        return fail_rpc(
          *ex,
          {rpc_code::invalid_argument, "path is not a directory: " + path});
      answer_list(*ex, {});
    });
}

void list(facade& shared, const exchange_ptr& ex, const visit& in,
          const path_call& call) {
  message_reader message{call.body};
  const auto depth = message.integer("depth").value_or(1);
  if (message.bad())
    return fail_rpc(*ex, *message.bad());
  if (depth < 0 || depth > deepest)
    return fail_rpc(
      *ex, {rpc_code::invalid_argument, "depth must be from 1 to 100"});
  const auto path = call.path;
  find_entries(shared, in, path,
               static_cast<unsigned>(std::max<std::int64_t>(depth, 1)),
               [&shared, ex, in,
                path](const sandbox_result<std::vector<entry_info>>& found) {
                 if (!found)
                   return fail_call(*ex, in, found.error());
                 if (found->empty())
                   return answer_empty_list(shared, ex, in, path);
                 answer_list(*ex, *found);
               });
}

} // namespace

void add_filesystem(data_routes& into) {
  const auto add = [&](std::string_view name, visit_work work) {
    into.add(method::post, "/envd/filesystem.Filesystem/" + std::string{name},
             proof::token, std::move(work), largest_call);
  };
  add("Stat", about_path("path", stat));
  add("MakeDir", about_path("path", make_folder));
  add("Move", about_path("source", move));
  add("Remove", about_path("path", remove));
  add("ListDir", about_path("path", list));
}

} // namespace troupe::net::e2b_facade
