#include "runtime/local/sandbox/contexts/kernel_frames.hpp"

#include "runtime/json/json.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::kernels {

namespace {

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= frame_reader::max_word
    && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_part_name(std::string_view text) {
  return !text.empty() && text.size() <= frame_reader::max_name
    && std::ranges::all_of(text, [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '+'
           || c == '-' || c == '_';
       });
}

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, into);
  return code == std::errc{} && end == last;
}

/// Texts are UTF-8 from here on, and JSON is JSON.
bool mend(std::string_view name, std::string& content) {
  if (is_json_type(name))
    return json::parse(content, {.bytes = bounds::bundle_bytes}).has_value();
  if (!json::is_utf8(content))
    content = json::repair_utf8(content);
  return true;
}

} // namespace

std::string_view frame::part(std::string_view name) const {
  for (const auto& [known, content] : parts)
    if (known == name)
      return content;
  return {};
}

std::string encode(const frame& f) {
  auto text = f.word;
  for (const auto& [name, content] : f.parts)
    text.append(" ").append(name).append(":").append(
      std::to_string(content.size()));
  text += '\n';
  for (const auto& [name, content] : f.parts)
    text += content;
  return text;
}

bool frame_reader::read_part(std::string_view text) {
  const auto colon = text.rfind(':');
  std::size_t size = 0;
  if (colon == text.npos || !is_part_name(text.substr(0, colon))
      || !read_number(text.substr(colon + 1), size)
      || size > bounds::bundle_bytes - total_
      || sizes_.size() >= bounds::bundle_parts)
    return false;
  head_.parts.emplace_back(text.substr(0, colon), std::string{});
  sizes_.push_back(size);
  total_ += size;
  return true;
}

bool frame_reader::read_head(std::string_view line) {
  head_ = {};
  sizes_.clear();
  total_ = 0;
  const auto space = line.find(' ');
  head_.word = line.substr(0, space);
  if (!is_word(head_.word))
    return false;
  for (auto rest = space; rest != line.npos;) {
    const auto next = line.find(' ', rest + 1);
    const auto length = next == line.npos ? next : next - rest - 1;
    if (!read_part(line.substr(rest + 1, length)))
      return false;
    rest = next;
  }
  return true;
}

frame_reader::status frame_reader::next(frame& out) {
  if (broken_)
    return status::broken;
  if (!has_head_) {
    const auto rest = std::string_view{buffered_}.substr(at_);
    const auto end = rest.find('\n');
    if (end == rest.npos && rest.size() <= max_head)
      return status::partial;
    if (end == rest.npos || end > max_head || !read_head(rest.substr(0, end))) {
      broken_ = true;
      return status::broken;
    }
    at_ += end + 1;
    has_head_ = true;
  }
  if (buffered_.size() - at_ < total_)
    return status::partial;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    head_.parts[i].second = buffered_.substr(at_, sizes_[i]);
    at_ += sizes_[i];
  }
  has_head_ = false;
  out = std::move(head_);
  return status::whole;
}

bool read_event(frame& from, cell_event& to) {
  using kind = cell_event::kind;
  if (from.word == "error") {
    to.what = kind::error;
    to.name = json::repair_utf8(from.part("name"));
    to.value = json::repair_utf8(from.part("value"));
    to.traceback = json::repair_utf8(from.part("traceback"));
    return true;
  }
  if (from.word != "display" && from.word != "update" && from.word != "result")
    return false;
  to.what = from.word == "display" ? kind::display
    : from.word == "update"        ? kind::update
                                   : kind::result;
  for (auto& [name, content] : from.parts) {
    if (!mend(name, content))
      return false;
    if (name == "id")
      to.display_id = std::move(content);
    else if (name.find('/') == name.npos)
      return false;
    else
      to.data.emplace_back(std::move(name), std::move(content));
  }
  return to.what != kind::update || !to.display_id.empty();
}

bool read_end(const frame& from, cell_end& to) {
  if (from.word != "end" || !read_number(from.part("count"), to.count))
    return false;
  const auto status = from.part("status");
  for (auto each :
       {cell_status::ok, cell_status::error, cell_status::interrupted})
    if (to_string(each) == status) {
      to.status = each;
      return true;
    }
  return false;
}

} // namespace troupe::kernels
