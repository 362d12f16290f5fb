#include "net/http/multipart.hpp"

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"

#include <boost/algorithm/string/predicate.hpp>

namespace troupe::net {

namespace {

constexpr std::size_t max_parts = 10'000;
constexpr std::size_t max_part_head_bytes = 16u << 10;
constexpr std::size_t max_boundary_bytes = 70; // RFC 2046 5.1.1

/// `name="value"` or `name=value` of a header's parameters. Not one that ends
/// like it: "filename" ends like "name".
std::string parameter(std::string_view header, std::string_view name) {
  auto key = std::string{name} + "=";
  std::size_t at = 0;
  while ((at = header.find(key, at)) != header.npos && at > 0
         && header[at - 1] != ' ' && header[at - 1] != ';')
    at += key.size();
  if (at == header.npos)
    return {};
  auto rest = header.substr(at + key.size());
  if (!rest.starts_with('"'))
    return std::string{rest.substr(0, rest.find_first_of("; \t"))};
  std::string out;
  for (std::size_t i = 1; i < rest.size() && rest[i] != '"'; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size())
      ++i;
    out += rest[i];
  }
  return out;
}

/// The value of a line of a part's head.
std::string_view line_of(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    auto line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    auto colon = line.find(':');
    if (colon == line.npos || !boost::iequals(line.substr(0, colon), name))
      continue;
    line.remove_prefix(colon + 1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    return line;
  }
  return {};
}

error bad_form(std::string_view why) {
  return fail(ec::unavailable, "a form " + std::string{why});
}

} // namespace

form_part form_field(std::string_view name, std::string_view content) {
  return {"name=\"" + std::string{name} + "\"", {}, content};
}

form_part form_file(std::string_view name, std::string_view filename,
                    std::string_view content) {
  return {"name=\"" + std::string{name} + "\"; filename=\""
            + std::string{filename} + "\"",
          "application/octet-stream", content};
}

std::string make_boundary() {
  return "troupe-" + make_uuid();
}

std::string form_type(std::string_view boundary) {
  return "multipart/form-data; boundary=" + std::string{boundary};
}

std::string form_body(std::span<const form_part> parts,
                      std::string_view boundary) {
  std::string out;
  for (const auto& part : parts) {
    out.append("--").append(boundary);
    out.append("\r\nContent-Disposition: form-data; ");
    out.append(part.disposition).append("\r\n");
    if (!part.type.empty())
      out.append("Content-Type: ").append(part.type).append("\r\n");
    out.append("\r\n").append(part.content).append("\r\n");
  }
  return out.append("--").append(boundary).append("--\r\n");
}

result<std::vector<form_entry>> parse_form(std::string_view content_type,
                                           std::string_view body) {
  auto boundary = parameter(content_type, "boundary");
  if (!boost::istarts_with(content_type, "multipart/form-data")
      || boundary.empty() || boundary.size() > max_boundary_bytes)
    return bad_form("that is not text by its type");
  auto first = "--" + boundary;
  auto next = "\r\n" + first;
  if (!body.starts_with(first))
    return bad_form("that does not begin with its boundary");
  body.remove_prefix(first.size());
  std::vector<form_entry> out;
  while (!body.starts_with("--")) {
    auto blank = body.find("\r\n\r\n");
    auto end = blank == body.npos ? body.npos : body.find(next, blank + 2);
    if (end == body.npos || !body.starts_with("\r\n"))
      return bad_form("that is cut off");
    if (blank > max_part_head_bytes || out.size() >= max_parts)
      return bad_form("with too many or too long parts");
    auto head = body.substr(2, blank - std::min<std::size_t>(blank, 2));
    auto what = line_of(head, "Content-Disposition");
    form_entry part;
    part.name = parameter(what, "name");
    part.filename = parameter(what, "filename");
    part.type = line_of(head, "Content-Type");
    auto from = std::min(end, blank + 4); // an empty one shares its line's end
    part.content = body.substr(from, end - from);
    out.push_back(std::move(part));
    body.remove_prefix(end + next.size());
  }
  return out;
}

} // namespace troupe::net
