#include "net/providers/daytona/replies.hpp"

#include "net/http/multipart.hpp"
#include "net/providers/provider_errors.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net::daytona {

namespace {

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

result<sandbox_entry> entry_of(const json::value& v) {
  auto* o = v.if_object();
  sandbox_entry out;
  if (o) {
    out.name = text_of(*o, "name");
    auto* folder = o->if_contains("isDir");
    out.folder = folder && folder->is_bool() && folder->as_bool();
    auto* size = o->if_contains("size");
    if (size && size->is_int64() && size->as_int64() > 0)
      out.bytes = static_cast<std::uint64_t>(size->as_int64());
    if (auto own = text_of(*o, "path"); !own.empty())
      out.path = std::move(own);
  }
  if (out.name.empty())
    return fail(ec::unavailable, "Daytona returned a file without a name");
  return out;
}

} // namespace

result<std::vector<sandbox_entry>> parse_entries(std::string_view body) {
  auto parsed = json::parse(body);
  if (!parsed || !parsed->is_array())
    return fail(ec::unavailable,
                "Daytona listed a directory with no JSON array");
  std::vector<sandbox_entry> out;
  for (const auto& each : parsed->as_array()) {
    auto entry = entry_of(each);
    if (!entry)
      return entry.error();
    out.push_back(std::move(*entry));
  }
  return out;
}

result<sandbox_entry> parse_entry(std::string_view body) {
  auto parsed = json::parse(body);
  return entry_of(parsed ? *parsed : json::value{});
}

result<std::string> parse_download(std::string_view content_type,
                                   std::string_view body) {
  auto form = parse_form(content_type, body);
  if (!form)
    return form.error().within("Daytona's download");
  for (const auto& part : *form) {
    if (part.name == "file")
      return std::string{part.content};
    if (part.name != "error")
      continue;
    auto why = reply_message(part.content);
    auto o = json::parse_object(part.content.substr(0, 64u << 10));
    auto missing = o
      && (text_of(*o, "code") == "FILE_NOT_FOUND"
          || (o->contains("statusCode") && o->at("statusCode") == 404));
    return fail(missing ? ec::not_found : ec::unavailable,
                "Daytona did not read a file"
                  + (why.empty() ? why : ": " + why));
  }
  return fail(ec::unavailable, "Daytona's download contains no file");
}

result<mixed_output> parse_execution(std::string_view body) {
  auto parsed = json::parse_object(body);
  auto* code = parsed ? parsed->if_contains("exitCode") : nullptr;
  if (!code || !code->is_int64())
    return fail(ec::unavailable, "Daytona ended a command without its code");
  return mixed_output{static_cast<std::int32_t>(code->as_int64()),
                      text_of(*parsed, "result")};
}

result<std::string> parse_text(std::string_view body, std::string_view member) {
  auto parsed = json::parse_object(body);
  auto text = parsed ? text_of(*parsed, member) : std::string{};
  if (text.empty())
    return fail(ec::unavailable,
                "Daytona answered without '" + std::string{member} + "'");
  return text;
}

result<std::map<std::string, std::string>> parse_labels(std::string_view body) {
  auto parsed = json::parse_object(body);
  auto* labels = parsed ? parsed->if_contains("labels") : nullptr;
  if (!labels || !labels->is_object())
    return fail(ec::unavailable, "Daytona showed a sandbox without labels");
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : labels->as_object())
    if (value.is_string())
      out[std::string{name}] = std::string{value.as_string()};
  return out;
}

} // namespace troupe::net::daytona
