// Trees of the files of living sandboxes: searched, as archives, watched.
#include "net/api/sandboxes/file_paths.hpp"
#include "net/api/sandboxes/sandbox_answers.hpp"
#include "net/api/sandboxes/sandbox_watch_stream.hpp"
#include "net/api/sandboxes/tree_transfer.hpp"
#include "net/api/shared/run_stream.hpp"
#include "net/http/problem.hpp"
#include "runtime/json/writer.hpp"

namespace troupe::net {

namespace {

constexpr std::string_view archive_type = "application/x-tar";
constexpr std::int64_t most_matches = 10'000;
constexpr std::size_t longest_pattern = 1'024;

std::string match_text(const file_match& m) {
  json::object_writer out;
  out.text("path", json::repair_utf8(m.path))
    .text("type",
          m.folder   ? "folder"
            : m.link ? "link"
                     : "file")
    .number("bytes", m.bytes);
  if (m.line > 0)
    out.number("line", m.line).text("text", json::repair_utf8(m.text));
  return out.finish();
}

std::optional<file_search> read_search(exchange& ex) {
  query_reader query{ex.in().query};
  file_search wish;
  wish.path = path_in_query(query).value_or("");
  wish.name = query.text("name").value_or("");
  wish.text = query.text("text").value_or("");
  wish.ignore_case = query.boolean("ignore_case").value_or(false);
  wish.most = static_cast<std::uint32_t>(
    query.integer("limit", 1, most_matches).value_or(wish.most));
  for (const auto* each : {"name", "text"})
    if (const auto said = query.text(each);
        said && (said->empty() || said->size() > longest_pattern))
      query.complain(each, "is empty, or longer than 1024 bytes",
                     "leave it out, or search for a part of it");
  if (wish.name.empty() && wish.text.empty())
    query.complain("name", "is missing, as 'text' is",
                   "say what to search for");
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return wish;
}

void search_files(sandbox_trees& trees, const sandbox_id& id,
                  const exchange_ptr& ex) {
  auto wish = read_search(*ex);
  if (!wish)
    return;
  trees.search(
    ex->who(), id, std::move(*wish),
    or_fail<files_found>(ex, [](exchange& ex, const files_found& found) {
      json::object_writer out;
      out.raw("items", json::array_of(found.matches, match_text))
        .boolean("complete", found.whole);
      ex.answer_json(out.finish());
    }));
}

answer_frame last_frame(const request& in) {
  answer_frame frame;
  frame.request_id = in.id;
  frame.keep = false;
  frame.http10 = in.http10;
  return frame;
}

std::string archive_head(const request& in) {
  response r;
  r.type = archive_type;
  auto frame = last_frame(in);
  frame.chunked = !in.http10;
  frame.head_only = in.verb == method::head;
  std::string head;
  append_answer(head, r, frame);
  return head;
}

/// What cannot be archived is told as every refusal; once the archive is on its
/// way it can only break off.
void download(sandbox_engine& engine, sandbox_trees& trees,
              const sandbox_id& id, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto path = path_in_query(query);
  if (auto bad = query.finish())
    return ex->fail(*bad);
  auto begin = [&trees, who = ex->who(), id, path = *path](unique_fd to,
                                                           archive_done then) {
    trees.pack(who, id, path, std::move(to), std::move(then));
  };
  engine.stat_file(
    ex->who(), id, *path,
    or_fail<sandbox_entry>(
      ex, [begin = std::move(begin)](exchange& ex, const sandbox_entry&) {
        if (ex.in().verb == method::head) {
          response r;
          r.type = archive_type;
          return ex.answer(std::move(r));
        }
        ex.take_over(std::make_shared<tree_download>(
          begin, archive_head(ex.in()), !ex.in().http10));
      }));
}

std::string transfer_answer(const exchange& ex,
                            const sandbox_result<archive_count>& how,
                            int& status) {
  response r;
  if (how) {
    json::object_writer out;
    out.number("entries", how->entries).number("bytes", how->bytes);
    r.body = out.finish();
  } else {
    r = write_problem(status_of(how.error()), code_of(how.error()), how.error(),
                      ex.in().id, {});
  }
  status = r.status;
  std::string text;
  append_answer(text, r, last_frame(ex.in()));
  return text;
}

void upload(sandbox_engine&, sandbox_trees& trees, const sandbox_id& id,
            const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto path = path_in_query(query);
  if (auto bad = query.finish())
    return ex->fail(*bad);
  auto begin = [&trees, who = ex->who(), id, path = *path](unique_fd from,
                                                           archive_done then) {
    trees.unpack(who, id, path, std::move(from), std::move(then));
  };
  ex->take_over(std::make_shared<tree_upload>(
    std::move(begin), body_shape_of(ex->in()), ex->in().has("expect"),
    [ex](const sandbox_result<archive_count>& how, int& status) {
      return transfer_answer(*ex, how, status);
    }));
}

void watch_files(sandbox_trees& trees, const sandbox_id& id,
                 const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto path = path_in_query(query);
  const auto deep = query.boolean("recursive").value_or(false);
  if (auto bad = query.finish())
    return ex->fail(*bad);
  trees.watch(ex->who(), id, *path, deep,
              or_fail<sandbox_watch_ptr>(
                ex, [](exchange& ex, const sandbox_watch_ptr& watch) {
                  auto format
                    = wanted_stream(ex.in()).value_or(stream_format::ndjson);
                  std::make_shared<sandbox_watch_stream>(ex.shared_from_this(),
                                                         watch, format)
                    ->start();
                }));
}

/// A route for engines that have trees.
template <class Work>
sandbox_routes::one_handler with_trees(Work work) {
  return [work](sandbox_engine& engine, const sandbox_id& id,
                const exchange_ptr& ex) {
    auto* trees = engine.trees();
    if (!trees)
      return fail_with(*ex,
                       {sandbox_problem::unsupported_here, ec::invalid_request,
                        "this engine has no such calls about files"});
    if constexpr (std::is_invocable_v<Work, sandbox_trees&, const sandbox_id&,
                                      const exchange_ptr&>)
      work(*trees, id, ex);
    else
      work(engine, *trees, id, ex);
  };
}

} // namespace

void add_sandbox_trees(router& routes, const api_options& options,
                       const memory_ptr& memory) {
  sandbox_routes all{routes, options, memory};
  all.add(method::get, "/files/search", with_trees(search_files), with_query());
  all.add(method::get, "/files/watch", with_trees(watch_files), with_query());
  auto stream = with_query(body_rule::any);
  stream.takes_over = true;
  all.add(method::get, "/files/archive", with_trees(download), stream);
  all.add(method::put, "/files/archive", with_trees(upload), stream);
}

} // namespace troupe::net
