#include "runtime/model/sandbox_context.hpp"

#include <iterator>

namespace troupe {

namespace {

constexpr std::string_view languages[]
  = {"python", "javascript", "typescript", "bash"};

} // namespace

std::string_view to_string(context_language l) {
  return languages[static_cast<std::size_t>(l)];
}

result<context_language> parse_context_language(std::string_view text) {
  for (std::size_t i = 0; i < std::size(languages); ++i)
    if (languages[i] == text)
      return static_cast<context_language>(i);
  return bad_field("", "is not a language of contexts",
                   "python, javascript, typescript or bash");
}

bool is_json_type(std::string_view mime) {
  return mime == "application/json" || mime.ends_with("+json");
}

std::size_t cell_event::bytes() const {
  auto all = display_id.size() + name.size() + value.size() + traceback.size();
  for (const auto& [mime, content] : data)
    all += mime.size() + content.size();
  return all;
}

std::string_view to_string(cell_event::kind k) {
  constexpr std::string_view names[] = {"display", "update", "result", "error"};
  return names[static_cast<std::size_t>(k)];
}

std::string_view to_string(cell_status s) {
  constexpr std::string_view names[]
    = {"queued", "running", "ok", "error", "interrupted", "timeout", "lost"};
  return names[static_cast<std::size_t>(s)];
}

std::string_view to_string(context_state s) {
  constexpr std::string_view names[] = {"starting", "idle", "busy", "lost"};
  return names[static_cast<std::size_t>(s)];
}

} // namespace troupe
