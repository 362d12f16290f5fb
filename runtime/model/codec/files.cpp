#include "runtime/model/codec/files.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/model/codec/parts.hpp"

namespace troupe::codec {

namespace {

constexpr std::size_t most_files = 10'000; // the engine's own bound is lower
constexpr std::size_t largest_recorded = 256u << 10; // a record is no archive
constexpr std::string_view as_base64 = "base64";
constexpr std::string_view json_type = "application/json";

std::string_view view(const json::value& v) {
  const auto& s = v.get_string();
  return {s.data(), s.size()};
}

/// "text", or {"base64": "..."}.
result<std::string> content_of(const json::value& v) {
  if (v.is_string())
    return std::string{view(v)};
  const auto* o = v.if_object();
  const auto* bytes = o && o->size() == 1 ? o->if_contains(as_base64) : nullptr;
  if (bytes == nullptr || !bytes->is_string())
    return bad_request("must be a text or {\"base64\": \"...\"}");
  auto decoded = frame::from_base64(view(*bytes));
  if (!decoded)
    return bad_request("is not base64");
  return decoded;
}

/// Letters, digits and what else stands for itself in a query.
std::string query_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (unsigned char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'
        || c == '/') {
      out += static_cast<char>(c);
      continue;
    }
    out += '%';
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

void write_content(json::writer& w, const run_result& r, const output_file& f) {
  if (f.is_kept)
    w.text("url",
           "/v1/runs/" + r.id.str() + "/files?name=" + query_text(f.name));
  else if (w.brief() && f.content.size() > largest_recorded)
    return;
  else if (is_plain_text(f.content))
    w.name("text").text(f.content);
  else
    w.name("base64").text(frame::to_base64(f.content));
}

/// Documents as they are, pictures as base64.
void write_form(json::writer& w, std::string_view type,
                std::string_view bytes) {
  w.escaped_name(type);
  if (type == json_type && json::check(bytes, {.bytes = bytes.size()}))
    w.raw(bytes);
  else if (type.starts_with("image/") && type != "image/svg+xml")
    w.text(frame::to_base64(bytes));
  else
    w.text(json::repair_utf8(bytes));
}

std::string form_of(std::string_view type, const json::value& v) {
  if (!v.is_string())
    return json::to_text(v);
  if (type.starts_with("image/") && type != "image/svg+xml")
    if (auto bytes = frame::from_base64(view(v)))
      return std::move(*bytes);
  return std::string{view(v)};
}

void read_file(json::reader& in, run_result& r) {
  output_file f;
  f.name = in.required_text("name", {.max = 4'096});
  f.media_type = in.text("media_type").value_or("");
  f.size = static_cast<std::uint64_t>(in.integer("size", 0).value_or(0));
  const json::reader::text_rule any{.max = 128u << 20};
  if (auto text = in.text("text", any)) {
    f.content = std::move(*text);
  } else if (auto coded = in.text(as_base64, any)) {
    auto bytes = frame::from_base64(*coded);
    if (!bytes)
      in.complain(as_base64, "is not base64");
    else
      f.content = std::move(*bytes);
  }
  f.is_kept = in.text("url").has_value();
  r.files.push_back(std::move(f));
}

} // namespace

json::object files_by_name(const std::vector<run_file>& files) {
  json::object o;
  for (const auto& f : files)
    o[f.name] = is_plain_text(f.content)
      ? json::value(f.content)
      : json::value(json::object{{as_base64, frame::to_base64(f.content)}});
  return o;
}

void read(const field_place& at, std::vector<run_file>& into) {
  const auto* o = at.in.member_object(at.name);
  if (o == nullptr)
    return;
  if (o->size() > most_files)
    return at.in.complain(at.name, "has too many files");
  for (const auto& m : *o) {
    const std::string name{m.key().data(), m.key().size()};
    auto pointer = json::child(at.in.pointer_to(at.name), name.substr(0, 256));
    if (auto fine = check_file_name(name, pointer); !fine) {
      at.in.absorb(fine.error());
      continue;
    }
    auto content = content_of(m.value());
    if (content)
      into.push_back({name, std::move(*content)});
    else
      at.in.absorb(bad_field(std::move(pointer), content.error().text));
  }
}

void write_files(json::writer& w, const run_result& r) {
  if (!r.files.empty())
    w.objects("files", r.files, [&](const output_file& f) {
      w.text("name", f.name).text("media_type", f.media_type);
      w.number("size", f.size);
      write_content(w, r, f);
    });
  if (!r.displays.empty())
    w.objects("displays", r.displays, [&](const display_bundle& bundle) {
      for (const auto& [type, bytes] : bundle)
        write_form(w, type, bytes);
    });
}

void read_files(json::reader& in, run_result& r) {
  if (const auto* list = in.member_array("files"))
    for (std::size_t i = 0; i < list->size() && i < most_files; ++i) {
      auto pointer = json::child(in.pointer_to("files"), i);
      const auto* o = (*list)[i].if_object();
      if (o == nullptr)
        return in.absorb(bad_field(pointer, "expected an object"));
      json::reader item{*o, pointer};
      read_file(item, r);
      if (auto bad = item.finish_lenient())
        in.absorb(std::move(*bad));
    }
  if (const auto* list = in.member_array("displays"))
    for (const auto& each : *list) {
      display_bundle bundle;
      if (const auto* o = each.if_object())
        for (const auto& m : *o) {
          std::string type{m.key().data(), m.key().size()};
          auto bytes = form_of(type, m.value());
          bundle.emplace_back(std::move(type), std::move(bytes));
        }
      r.displays.push_back(std::move(bundle));
    }
}

} // namespace troupe::codec
