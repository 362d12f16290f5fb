#include "net/providers/aio/calls.hpp"

#include "net/http/multipart.hpp"
#include "net/http/url.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/printable.hpp"

namespace troupe::net::aio {

namespace {

using verb = operation::verb;

constexpr bool repeatable = true;
constexpr bool only_once = false;

operation post(std::string_view doing, std::string_view target,
               const json::object& body, bool again) {
  return {doing, verb::post, std::string{target}, json::to_text(body),
          {},    again};
}

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

} // namespace

// -- files --------------------------------------------------------------------

operation write_text(std::string_view path, std::string_view text) {
  return post("write a file", "/v1/file/write",
              {{"file", path}, {"content", text}, {"encoding", "utf-8"}},
              repeatable);
}

operation upload(const sandbox_file& file) {
  auto name = std::string_view{file.path}.substr(file.path.rfind('/') + 1);
  form_part parts[]{form_file("file", name, file.content),
                    form_field("path", file.path)};
  auto boundary = make_boundary();
  return {"take a file",       verb::post,
          "/v1/file/upload",   form_body(parts, boundary),
          form_type(boundary), repeatable};
}

operation download(std::string_view path) {
  return {"read a file", verb::get,
          "/v1/file/download?path=" + percent_encode(path)};
}

operation read_lines(std::string_view path, std::int64_t from,
                     std::int64_t to) {
  return post("read lines", "/v1/file/read",
              {{"file", path}, {"start_line", from}, {"end_line", to}},
              repeatable);
}

operation list_folder(std::string_view path) {
  return post("list a directory", "/v1/file/list",
              {{"path", path},
               {"recursive", false},
               {"show_hidden", true},
               {"include_size", true}},
              repeatable);
}

operation replace_text(std::string_view path, std::string_view text,
                       std::string_view by) {
  return post("replace a text", "/v1/file/replace",
              {{"file", path}, {"old_str", text}, {"new_str", by}}, only_once);
}

operation search_file(std::string_view path, std::string_view regex) {
  return post("search a file", "/v1/file/search",
              {{"file", path}, {"regex", regex}}, repeatable);
}

operation find_names(std::string_view folder, std::string_view glob) {
  return post("find files", "/v1/file/find", {{"path", folder}, {"glob", glob}},
              repeatable);
}

operation grep(std::string_view folder, std::string_view text) {
  return post("find a text", "/v1/file/grep",
              {{"path", folder}, {"pattern", text}, {"fixed_strings", true}},
              repeatable);
}

// -- code ---------------------------------------------------------------------

operation run_jupyter(std::string_view code, std::chrono::seconds limit) {
  return post("run code in Jupyter", "/v1/jupyter/execute",
              {{"code", code}, {"timeout", std::int64_t{limit.count()}}},
              only_once);
}

operation run_node(std::string_view code, std::chrono::seconds limit) {
  return post("run code in Node", "/v1/nodejs/execute",
              {{"code", code}, {"timeout", std::int64_t{limit.count()}}},
              only_once);
}

operation run_code(std::string_view language, std::string_view code,
                   std::chrono::seconds limit) {
  return post("run code", "/v1/code/execute",
              {{"language", language},
               {"code", code},
               {"timeout", std::int64_t{limit.count()}}},
              only_once);
}

// -- what comes back ----------------------------------------------------------

result<std::vector<sandbox_entry>> parse_entries(const json::object& data) {
  auto* files = data.if_contains("files");
  if (!files || !files->is_array())
    return fail(ec::unavailable,
                "the AIO sandbox returned an invalid directory listing");
  std::vector<sandbox_entry> out;
  for (const auto& each : files->as_array()) {
    auto* o = each.if_object();
    sandbox_entry entry;
    if (o) {
      entry.name = text_of(*o, "name");
      entry.path = text_of(*o, "path");
      auto* folder = o->if_contains("is_directory");
      entry.folder = folder && folder->is_bool() && folder->as_bool();
      auto* size = o->if_contains("size");
      if (size && size->is_int64() && size->as_int64() > 0)
        entry.bytes = static_cast<std::uint64_t>(size->as_int64());
    }
    if (entry.name.empty())
      return fail(ec::unavailable,
                  "the AIO sandbox returned a file without a name");
    out.push_back(std::move(entry));
  }
  return out;
}

result<std::string> parse_printed(const json::object& data) {
  auto status = text_of(data, "status");
  auto* code = data.if_contains("exit_code");
  auto failed = code && code->is_int64() && code->as_int64() != 0;
  if (status.empty() || status == "error" || status == "timeout" || failed)
    return fail(ec::unavailable,
                "the AIO sandbox's code ended as '" + printable(status)
                  + "': " + printable(text_of(data, "stderr")));
  auto out = text_of(data, "stdout");
  auto* outputs = data.if_contains("outputs");
  if (!out.empty() || !outputs || !outputs->is_array())
    return out;
  for (const auto& each : outputs->as_array())
    if (auto* o = each.if_object(); o && text_of(*o, "output_type") == "stream")
      out += text_of(*o, "text");
  return out;
}

} // namespace troupe::net::aio
