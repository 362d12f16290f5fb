// Files of living sandboxes.
#include "net/api/sandboxes/file_paths.hpp"
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/shared/preconditions.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/http/problem.hpp"
#include "runtime/engine/sandbox_trees.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view bytes_type = "application/octet-stream";
constexpr std::size_t longest_file_path = 4'096;

std::string entry_text(const sandbox_entry& e) {
  json::object_writer out;
  out.text("name", json::repair_utf8(e.name))
    .text("path", json::repair_utf8(e.path))
    .text("type",
          !e.target.empty() ? "link"
            : e.folder      ? "folder"
                            : "file")
    .number("bytes", e.bytes);
  if (e.target.empty())
    out.raw("target", "null");
  else
    out.text("target", json::repair_utf8(e.target));
  return out.finish();
}

/// A path of the sandbox, as it is said in the query.
std::optional<std::string> path_of(exchange& ex) {
  query_reader query{ex.in().query};
  auto path = path_in_query(query);
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return path;
}

/// The same in a body.
std::string path_in(json::reader& in, std::string_view name) {
  auto path = in.required_text(name, {.min = 1, .max = longest_file_path});
  if (path.empty())
    return path;
  if (auto fine = check_sandbox_path(path); !fine)
    in.complain(name, fine.error().text);
  return path;
}

/// A route about the file that the query names.
template <class Work>
sandbox_routes::one_handler with_path(Work work) {
  return [work](sandbox_engine& engine, const sandbox_id& id,
                const exchange_ptr& ex) {
    if (auto path = path_of(*ex))
      work(engine, id, ex, std::move(*path));
  };
}

response bytes_answer(std::string bytes) {
  response r;
  r.type = bytes_type;
  r.body = std::move(bytes);
  r.fields.emplace_back("accept-ranges", "bytes");
  return r;
}

void answer_part(exchange& ex, file_part part) {
  const auto total = std::to_string(part.total);
  if (!part.bytes) {
    error why;
    why.text = "the file has " + total + " bytes, and none in this range";
    auto r = write_problem(416, "range_not_satisfiable", why, ex.in().id, {});
    r.fields.emplace_back("content-range", "bytes */" + total);
    return ex.answer(std::move(r));
  }
  const auto last = part.from + part.bytes->size() - 1;
  auto r = bytes_answer(std::move(*part.bytes));
  r.status = 206;
  r.fields.emplace_back("content-range",
                        "bytes " + std::to_string(part.from) + "-"
                          + std::to_string(last) + "/" + total);
  ex.answer(std::move(r));
}

void read_bytes(sandbox_engine& engine, const sandbox_id& id,
                const exchange_ptr& ex, std::string path) {
  const auto range = wanted_range(ex->in());
  if (auto* trees = engine.trees(); trees && range)
    return trees->read_part(ex->who(), id, std::move(path), *range,
                            or_fail<file_part>(ex, answer_part));
  engine.read_file(ex->who(), id, std::move(path),
                   or_fail<std::string>(ex, [](exchange& ex, std::string all) {
                     ex.answer(bytes_answer(std::move(all)));
                   }));
}

void list_folder(sandbox_engine& engine, const sandbox_id& id,
                 const exchange_ptr& ex, std::string path) {
  engine.list_files(
    ex->who(), id, std::move(path),
    or_fail<std::vector<sandbox_entry>>(
      ex, [](exchange& ex, const std::vector<sandbox_entry>& all) {
        json::object_writer out;
        out.raw("items", json::array_of(all, entry_text));
        ex.answer_json(out.finish());
      }));
}

void make_folder(sandbox_engine& engine, const sandbox_id& id,
                 const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto path = path_in(in, "path");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  engine.make_folder(ex->who(), id, std::move(path), nothing_or_fail(ex));
}

void move_path(sandbox_engine& engine, const sandbox_id& id,
               const exchange_ptr& ex) {
  auto body = body_of(*ex);
  if (!body)
    return;
  json::reader in{*body};
  auto from = path_in(in, "from");
  auto to = path_in(in, "to");
  if (auto bad = in.finish()) {
    ex->fail(*bad);
    return;
  }
  engine.move_file(ex->who(), id, std::move(from), std::move(to),
                   nothing_or_fail(ex));
}

} // namespace

void add_sandbox_files(router& routes, const api_options& options,
                       const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  const std::string content = "/files/content";
  all.add(method::get, content, with_path(read_bytes), with_query());
  auto bytes = with_query(body_rule::any);
  bytes.body_limit = bounds::sandbox_file_bytes;
  all.add(method::put, content,
          with_path([](sandbox_engine& engine, const sandbox_id& id,
                       const exchange_ptr& ex, std::string path) {
            engine.write_file(ex->who(), id, std::move(path), ex->in().body,
                              nothing_or_fail(ex));
          }),
          bytes);
  all.add(method::del, content,
          with_path([](sandbox_engine& engine, const sandbox_id& id,
                       const exchange_ptr& ex, std::string path) {
            engine.remove_file(ex->who(), id, std::move(path),
                               nothing_or_fail(ex));
          }),
          with_query());
  all.add(method::get, "/files", with_path(list_folder), with_query());
  all.add(method::get, "/files/stat",
          with_path([](sandbox_engine& engine, const sandbox_id& id,
                       const exchange_ptr& ex, std::string path) {
            engine.stat_file(
              ex->who(), id, std::move(path),
              or_fail<sandbox_entry>(
                ex, [](exchange& ex, const sandbox_entry& found) {
                  ex.answer_json(entry_text(found));
                }));
          }),
          with_query());
  all.add(method::post, "/files/mkdir", make_folder, needing(scope::run));
  all.add(method::post, "/files/move", move_path, needing(scope::run));
}

} // namespace troupe::net
