// /files: whole files, in and out.
#include "net/api/shared/request_body.hpp"
#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/inside_program.hpp"
#include "net/compat/e2b/wire/paths.hpp"
#include "net/http/multipart.hpp"
#include "net/http/problem.hpp"
#include "net/http/url.hpp"
#include "runtime/json/writer.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t form_around = 1u << 20; // heads of the parts of a form
constexpr std::string_view bytes_type = "application/octet-stream";

struct typed_ending {
  std::string_view ending;
  std::string_view type;
};
constexpr std::array<typed_ending, 12> types{{
  {".txt", "text/plain; charset=utf-8"},
  {".html", "text/html; charset=utf-8"},
  {".css", "text/css; charset=utf-8"},
  {".js", "text/javascript; charset=utf-8"},
  {".json", "application/json"},
  {".xml", "text/xml; charset=utf-8"},
  {".pdf", "application/pdf"},
  {".png", "image/png"},
  {".jpg", "image/jpeg"},
  {".jpeg", "image/jpeg"},
  {".gif", "image/gif"},
  {".svg", "image/svg+xml"},
}};

std::string_view type_of(std::string_view path) {
  for (const auto& each : types)
    if (path.ends_with(each.ending))
      return each.type;
  return bytes_type;
}

/// The query of a call about a file.
struct file_query {
  std::optional<std::string> path; // absolute; nothing: none was said
};

std::optional<file_query> read_query(exchange& ex) {
  query_reader query{ex.in().query};
  const auto path = query.text("path");
  const auto user = query.text("username").value_or("");
  if (auto bad = query.finish_lenient()) {
    refuse(ex, 400, message_of(*bad));
    return std::nullopt;
  }
  if (why_no_user(user)) {
    refuse(ex, 401,
           "error looking up user '" + user + "': user: unknown user " + user);
    return std::nullopt;
  }
  file_query out;
  if (!path)
    return out;
  auto full = absolute_path(*path);
  if (!full) {
    refuse(ex, 400, message_of(full.error()));
    return std::nullopt;
  }
  out.path = std::move(*full);
  return out;
}

// -- out ----------------------------------------------------------------------

void answer_file(exchange& ex, const std::string& path, std::string bytes) {
  response r;
  r.type = type_of(path);
  r.fields.emplace_back("Content-Disposition",
                        "inline; filename=" + percent_encode(name_of(path)));
  r.body = std::move(bytes);
  ex.answer(std::move(r));
}

void refuse_read(facade& shared, const exchange_ptr& ex, const visit& in,
                 const std::string& path, const sandbox_error& why) {
  if (is_about_sandbox(why))
    return refuse_gone(*ex, in.id.str());
  if (why.code == ec::not_found)
    return refuse(*ex, 404, "path '" + path + "' does not exist");
  if (why.code == ec::denied)
    return refuse(*ex, 500,
                  "error opening file '" + path + "': permission denied");
  shared.sandboxes()->stat_file(
    in.who, in.id, path,
    [ex, path, why](const sandbox_result<sandbox_entry>& there) {
      if (there && there->folder)
        return refuse(*ex, 400, "path '" + path + "' is a directory");
      const auto status = net::status_of(why);
      refuse(*ex, status == 422 ? 400 : status, message_of(why));
    });
}

/// Files of /proc say that they are empty, and are not.
void read_slowly(facade& shared, const exchange_ptr& ex, const visit& in,
                 const std::string& path) {
  process_spec what;
  what.argv = {"cat", "--", path};
  run_inside(*shared.sandboxes(), in.who, in.id, std::move(what),
             [ex, path](sandbox_result<program_answer> came) {
               answer_file(*ex, path,
                           came ? std::move(came->out) : std::string{});
             });
}

bool may_lie_about_size(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/");
}

void read_file(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto query = read_query(*ex);
  if (!query)
    return;
  const auto path = query->path.value_or(std::string{user_home});
  shared.sandboxes()->read_file(
    in.who, in.id, path,
    [&shared, ex, in, path](sandbox_result<std::string> bytes) {
      if (!bytes)
        return refuse_read(shared, ex, in, path, bytes.error());
      if (bytes->empty() && may_lie_about_size(path))
        return read_slowly(shared, ex, in, path);
      answer_file(*ex, path, std::move(*bytes));
    });
}

// -- in -----------------------------------------------------------------------

struct upload {
  std::string path;
  std::string_view content; // in the body of the request
};

/// Files that are written one after the other; the request holds their bytes.
struct upload_work {
  facade& shared;
  exchange_ptr ex;
  visit in;
  std::vector<upload> files;
  std::size_t written = 0;
};

std::string written_json(const upload& file) {
  json::object_writer out;
  out.text("path", json::repair_utf8(file.path))
    .text("name", json::repair_utf8(name_of(file.path)))
    .text("type", "file");
  return out.finish();
}

void refuse_write(const upload_work& work, const std::string& path,
                  const sandbox_error& why) {
  if (is_about_sandbox(why))
    return refuse_gone(*work.ex, work.in.id.str());
  if (why.code == ec::no_space || why.problem == sandbox_problem::disk_limit)
    return refuse(*work.ex, 507, "not enough disk space: " + message_of(why));
  if (why.code == ec::denied)
    return refuse(*work.ex, 500,
                  "error opening file '" + path + "': permission denied");
  const auto ex = work.ex;
  work.shared.sandboxes()->stat_file(
    work.in.who, work.in.id, path,
    [ex, path, why](const sandbox_result<sandbox_entry>& there) {
      if (there && there->folder)
        return refuse(*ex, 400, "path is a directory: " + path);
      // A full disk is told by the sandbox as one of its limits.
      const bool full = why.text.find("disk_limit") != std::string::npos;
      const auto status = full ? 507 : net::status_of(why);
      refuse(*ex, status == 422 ? 400 : status, message_of(why));
    });
}

void write_next(const std::shared_ptr<upload_work>& work) {
  if (work->written == work->files.size())
    return work->ex->answer_json(json::array_of(work->files, written_json));
  const auto& file = work->files[work->written];
  for (std::size_t i = 0; i < work->written; ++i)
    if (work->files[i].path == file.path)
      return refuse(*work->ex, 400,
                    "you cannot upload multiple files to the same path: "
                      + file.path);
  work->shared.sandboxes()->write_file(
    work->in.who, work->in.id, file.path, std::string{file.content},
    [work, path = file.path](const sandbox_result<void>& done) {
      if (!done)
        return refuse_write(*work, path, done.error());
      ++work->written;
      write_next(work);
    });
}

/// What forms escape in names.
std::string unescaped(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto code = name.substr(i, 3);
    const char c = code == "%22" ? '"'
      : code == "%0D"            ? '\r'
      : code == "%0A"            ? '\n'
                                 : '\0';
    out += c == '\0' ? name[i] : c;
    i += c == '\0' ? 0 : 2;
  }
  return out;
}

/// The files of a form. Where the query says a path, it is that of the one
/// file; else the whole name of each part is its path.
result<std::vector<upload>> files_of_form(const request& in,
                                          const file_query& query) {
  auto parts = parse_form(in.field("content-type"), in.body);
  if (!parts)
    return parts.error();
  std::vector<upload> out;
  for (const auto& part : *parts) {
    if (part.name != "file")
      continue;
    if (query.path) {
      if (!out.empty())
        return bad_request("path names one file, and the form has several");
      out.push_back({*query.path, part.content});
      continue;
    }
    auto path = absolute_path(unescaped(part.filename));
    if (!path)
      return path.error();
    out.push_back({std::move(*path), part.content});
  }
  return out;
}

result<std::vector<upload>> files_of(const request& in,
                                     const file_query& query) {
  const auto type = in.field("content-type");
  constexpr std::string_view form = "multipart/form-data";
  if (equal_ignoring_case(type.substr(0, form.size()), form))
    return files_of_form(in, query);
  if (!equal_ignoring_case(type.substr(0, bytes_type.size()), bytes_type))
    return bad_request("send the file as application/octet-stream, or files "
                       "as multipart/form-data");
  if (!query.path)
    return bad_request("path is missing in the query");
  return std::vector<upload>{{*query.path, in.body}};
}

bool has_metadata(const request& in) {
  constexpr std::string_view prefix = "x-metadata-";
  return std::ranges::any_of(in.fields, [&](const auto& field) {
    return equal_ignoring_case(field.first.substr(0, prefix.size()), prefix);
  });
}

void write_files(facade& shared, const exchange_ptr& ex, const visit& in) {
  const auto query = read_query(*ex);
  if (!query)
    return;
  if (has_metadata(ex->in()))
    return refuse(*ex, 400, "metadata of files is not kept by this server");
  auto files = files_of(ex->in(), *query);
  if (!files)
    return refuse(*ex, 400, message_of(files.error()));
  write_next(std::make_shared<upload_work>(
    upload_work{shared, ex, in, std::move(*files)}));
}

} // namespace

void add_transfers(data_routes& into) {
  into.add(method::get, "/envd/files", proof::token_or_signature, read_file,
           form_around);
  into.add(method::post, "/envd/files", proof::token_or_signature, write_files,
           bounds::sandbox_file_bytes + form_around);
}

} // namespace troupe::net::e2b_facade
