// Files of sessions as resources, and completion of their addresses.
#include "net/mcp/methods.hpp"
#include "net/mcp/request_call.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/json/members.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/toolkit/file_view.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::net::mcp {

namespace {

constexpr std::string_view scheme = "troupe://";
constexpr std::string_view files_part = "/files/";
constexpr std::string_view file_template = "troupe://{session}/files/{+path}";
constexpr std::size_t most_sessions = 100;
constexpr std::size_t most_files = 100;
constexpr std::size_t most_values = 100;
constexpr std::uint64_t largest_text = 1u << 20;
constexpr std::uint64_t largest_blob = 4u << 20;

bool is_unreserved(char c, bool slashes) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
    || (c >= '0' && c <= '9')
    || std::string_view{"-._~"}.find(c) != std::string_view::npos
    || (slashes && c == '/');
}

std::string encoded(std::string_view text, bool slashes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c, slashes))
      out += c;
    else
      out.append(1, '%')
        .append(1, digits[byte >> 4])
        .append(1, digits[byte & 15]);
  }
  return out;
}

std::string uri_of(std::string_view session, std::string_view path) {
  return std::string{scheme} + encoded(session, false) + std::string{files_part}
  + encoded(path, true);
}

struct file_address {
  std::string session;
  std::string path; // below the workspace; "": itself
};

/// Decoded once; nothing for what is no address of ours.
std::optional<file_address> parse_uri(std::string_view uri) {
  if (!uri.starts_with(scheme))
    return std::nullopt;
  uri.remove_prefix(scheme.size());
  const auto slash = uri.find('/');
  if (slash == uri.npos || !uri.substr(slash).starts_with(files_part))
    return std::nullopt;
  auto session = percent_decode(uri.substr(0, slash));
  auto path = percent_decode(uri.substr(slash + files_part.size()));
  if (!session || session->empty() || !path)
    return std::nullopt;
  for (std::string_view rest = *path; !rest.empty();) {
    const auto end = rest.find('/');
    if (rest.substr(0, end) == "..")
      return std::nullopt;
    if (end == rest.npos)
      break;
    rest.remove_prefix(end + 1);
  }
  return file_address{std::move(*session), std::move(*path)};
}

void fail_missing(request_call& call, std::string_view uri) {
  json::object_writer data;
  data.text("uri", uri);
  call.fail({200, codes::invalid_params, "Resource not found", data.finish()});
}

using records = std::vector<sandbox_record_ptr>;

/// The caller's living sandboxes that have a session, newest first. Of a key
/// that has a session of its own, no other key's is shown.
void find_sessions(request_call& call, std::string session,
                   std::function<void(records)> then) {
  auto* engine = call.home().tools.engine();
  if (!engine)
    return then({});
  sandbox_filter which;
  which.session = std::move(session);
  which.limit = 200;
  engine->list(call.who(), std::move(which),
               [then = std::move(then), who = call.who()](
                 sandbox_result<page<sandbox_record_ptr>> found) {
                 records mine;
                 const auto own = "default@" + who.key.str();
                 if (found)
                   for (auto& each : found->items)
                     if (!each->session.empty()
                         && (!each->session.starts_with("default@")
                             || each->session == own))
                       mine.push_back(std::move(each));
                 std::sort(mine.begin(), mine.end(),
                           [](const auto& a, const auto& b) {
                             return a->created_at > b->created_at;
                           });
                 if (mine.size() > most_sessions)
                   mine.resize(most_sessions);
                 then(std::move(mine));
               });
}

std::string session_entry(const sandbox_record& r) {
  json::object_writer out;
  out.text("uri", uri_of(r.session, ""))
    .text("name", r.session)
    .text("title", "Files of " + r.session)
    .text("mimeType", "inode/directory");
  return out.finish();
}

std::string file_entry(const sandbox_record& r, const sandbox_entry& e) {
  json::object_writer out;
  out.text("uri", uri_of(r.session, e.name) + (e.folder ? "/" : ""))
    .text("name", toolkit::plain_text(e.name));
  if (e.folder)
    out.text("mimeType", "inode/directory");
  else
    out.number("size", e.bytes);
  return out.finish();
}

void answer_resources(const request_ptr& call, const std::string& items) {
  call->answer("\"resources\":[" + items + "]", cached::not_at_all);
}

// -- resources/read -----------------------------------------------------------

std::string_view mime_of(std::string_view path, std::string_view bytes) {
  struct ending {
    std::string_view text, mime;
  };
  constexpr ending endings[] = {
    {".csv", "text/csv"},          {".html", "text/html"},
    {".json", "application/json"}, {".md", "text/markdown"},
    {".py", "text/x-python"},      {".js", "text/javascript"},
    {".svg", "image/svg+xml"},
  };
  if (auto binary = toolkit::binary_type(bytes); !binary.empty())
    return binary;
  for (const auto& [text, mime] : endings)
    if (path.ends_with(text))
      return mime;
  return "text/plain";
}

void answer_contents(request_call& call, std::string_view uri,
                     std::string_view mime, std::string_view bytes) {
  json::object_writer out;
  out.text("uri", uri).text("mimeType", mime);
  const bool is_text = toolkit::binary_type(bytes).empty()
    && json::is_utf8(bytes) && bytes.size() <= largest_text;
  if (is_text)
    out.text("text", bytes);
  else
    out.text("blob", frame::to_base64(bytes));
  call.answer("\"contents\":[" + out.finish() + "]", cached::not_at_all);
}

/// What a sandbox at hand is asked for a resource.
struct resource_read {
  request_ptr call;
  sandbox_id sandbox;
  std::string uri;
  std::string path; // in the sandbox

  sandbox_engine& engine() const { return *call->home().tools.engine(); }
  void fail(const sandbox_error& why) const {
    if (why.code == ec::not_found)
      return fail_missing(*call, uri);
    call->fail({200, codes::internal_error, toolkit::plain_text(why.text)});
  }
};

void read_folder(const resource_read& what) {
  what.engine().list_files(
    what.call->who(), what.sandbox, what.path,
    [what](sandbox_result<std::vector<sandbox_entry>> all) {
      if (!all)
        return what.fail(all.error());
      toolkit::sort_entries(*all);
      std::string text;
      for (const auto& each : *all)
        text += toolkit::entry_line(each) + "\n";
      answer_contents(*what.call, what.uri, "text/plain",
                      toolkit::cut_middle(text, largest_text / 4));
    });
}

void read_file(const resource_read& what, std::uint64_t bytes) {
  if (bytes > largest_blob)
    return what.call->fail(
      {200, codes::invalid_params,
       "The file has " + toolkit::size_text(bytes)
         + ", and at most 4 MiB are read as a resource: use the tools, or "
           "GET /v1/sandboxes/ID/files/content"});
  what.engine().read_file(what.call->who(), what.sandbox, what.path,
                          [what](sandbox_result<std::string> bytes) {
                            if (!bytes)
                              return what.fail(bytes.error());
                            answer_contents(*what.call, what.uri,
                                            mime_of(what.path, *bytes), *bytes);
                          });
}

void read_in(const resource_read& what) {
  what.engine().stat_file(what.call->who(), what.sandbox, what.path,
                          [what](sandbox_result<sandbox_entry> found) {
                            if (!found)
                              return what.fail(found.error());
                            if (found->folder)
                              read_folder(what);
                            else
                              read_file(what, found->bytes);
                          });
}

std::string below_home(const sandbox_record& r, std::string_view path) {
  std::string full = toolkit::workspace_at(r.place.kind());
  while (path.starts_with('/'))
    path.remove_prefix(1);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  return path.empty() ? full : full.append("/").append(path);
}

// -- completion ---------------------------------------------------------------

void answer_values(request_call& call, std::vector<std::string> values) {
  const auto total = values.size();
  if (values.size() > most_values)
    values.resize(most_values);
  json::object_writer out;
  out.list("values", values, [&](const std::string& each) { out.text(each); })
    .number("total", total)
    .boolean("hasMore", total > values.size());
  call.answer("\"completion\":" + out.finish());
}

void complete_session(request_call& call, const std::string& begun) {
  find_sessions(call, {},
                [self = call.shared_from_this(), begun](const records& all) {
                  std::vector<std::string> values;
                  for (const auto& each : all)
                    if (each->session.starts_with(begun))
                      values.push_back(each->session);
                  answer_values(*self, std::move(values));
                });
}

void complete_path(request_call& call, const std::string& session,
                   const std::string& begun) {
  const auto slash = begun.rfind('/');
  const auto folder = slash == begun.npos ? "" : begun.substr(0, slash + 1);
  if (session.empty() || ("/" + folder).find("/../") != std::string::npos)
    return answer_values(call, {});
  find_sessions(
    call, session,
    [self = call.shared_from_this(), begun, folder](const records& all) {
      if (all.empty())
        return answer_values(*self, {});
      self->home().tools.engine()->list_files(
        self->who(), all.front()->id, below_home(*all.front(), folder),
        [self, begun,
         folder](sandbox_result<std::vector<sandbox_entry>> entries) {
          std::vector<std::string> values;
          if (entries)
            for (const auto& each : *entries)
              if (auto path = folder + each.name + (each.folder ? "/" : "");
                  path.starts_with(begun))
                values.push_back(std::move(path));
          std::sort(values.begin(), values.end());
          answer_values(*self, std::move(values));
        });
    });
}

const json::object* object_in(const json::object& in, std::string_view name) {
  const auto* found = in.if_contains(name);
  return found && found->is_object() ? &found->get_object() : nullptr;
}

} // namespace

void list_resources(request_call& call) {
  if (const auto* cursor = call.message().params.if_contains("cursor");
      cursor && !cursor->is_null())
    return call.fail({200, codes::invalid_params, "Unknown cursor"});
  find_sessions(call, {}, [self = call.shared_from_this()](const records& all) {
    std::string items;
    for (const auto& each : all)
      items += (items.empty() ? "" : ",") + session_entry(*each);
    if (all.empty())
      return answer_resources(self, items);
    const auto newest = all.front();
    self->home().tools.engine()->list_files(
      self->who(), newest->id, below_home(*newest, ""),
      [self, newest, items](sandbox_result<std::vector<sandbox_entry>> files) {
        auto more = items;
        if (files) {
          toolkit::sort_entries(*files);
          if (files->size() > most_files)
            files->resize(most_files);
          for (const auto& each : *files)
            more += "," + file_entry(*newest, each);
        }
        answer_resources(self, more);
      });
  });
}

void list_resource_templates(request_call& call) {
  json::object_writer out;
  out.text("uriTemplate", file_template)
    .text("name", "file")
    .text("title", "A file of a session")
    .text("description",
          "A file or folder below the workspace of a session's sandbox.");
  call.answer("\"resourceTemplates\":[" + out.finish() + "]",
              cached::for_an_hour);
}

void read_resource(request_call& call) {
  const auto said = call.message().text("uri");
  if (!said)
    return call.fail({200, codes::invalid_params, "params.uri is missing"});
  const std::string uri{*said};
  const auto address = parse_uri(uri);
  if (!address)
    return fail_missing(call, uri);
  find_sessions(
    call, address->session,
    [self = call.shared_from_this(), uri,
     path = address->path](const records& all) {
      if (all.empty())
        return fail_missing(*self, uri);
      read_in({self, all.front()->id, uri, below_home(*all.front(), path)});
    });
}

void complete(request_call& call) {
  const auto* ref = object_in(call.message().params, "ref");
  const auto* argument = object_in(call.message().params, "argument");
  if (!ref || !argument || json::text_or_empty(*ref, "type") != "ref/resource"
      || json::text_or_empty(*ref, "uri") != file_template)
    return call.fail({200, codes::invalid_params,
                      "Unknown reference: only the template "
                        + std::string{file_template} + " is completed"});
  const auto name = json::text_or_empty(*argument, "name");
  const auto begun = json::text_or_empty(*argument, "value");
  if (name == "session")
    return complete_session(call, begun);
  if (name != "path" && name != "+path")
    return call.fail(
      {200, codes::invalid_params, "Unknown argument: session or path"});
  const auto* context = object_in(call.message().params, "context");
  const auto* known = context ? object_in(*context, "arguments") : nullptr;
  complete_path(call,
                known ? json::text_or_empty(*known, "session") : std::string{},
                begun);
}

} // namespace troupe::net::mcp
