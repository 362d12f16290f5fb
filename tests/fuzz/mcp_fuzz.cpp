// Messages of the Model Context Protocol, fields of its requests, and what
// models send as patterns and edits: what is read holds, and ends soon.
#include "net/mcp/era.hpp"
#include "net/mcp/rpc.hpp"
#include "runtime/toolkit/edit.hpp"
#include "runtime/toolkit/glob.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <cstdlib>
#include <variant>

using namespace troupe;
using namespace troupe::net;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void read_as_message(std::string_view text) {
  const auto read = mcp::read_message(text);
  if (const auto* bad = std::get_if<mcp::bad_message>(&read)) {
    demand(json::parse_object(mcp::error_text(bad->id, bad->why)).has_value());
    return;
  }
  const auto& message = std::get<mcp::rpc_message>(read);
  demand(message.is_request() == !message.id.empty()
         || message.what == mcp::rpc_message::kind::response);
  if (message.is_request())
    demand(json::parse_object(mcp::result_text(message.id, "{}")).has_value());
}

/// The text in three: what is there, what is looked for, what comes instead.
void edit_with(std::string_view text) {
  const auto first = text.find('|');
  const auto second = first == text.npos ? first : text.find('|', first + 1);
  if (second == text.npos)
    return;
  const auto before = text.substr(0, first);
  auto done
    = toolkit::replace_piece(before, text.substr(first + 1, second - first - 1),
                             text.substr(second + 1), true);
  if (done)
    (void)toolkit::unified_diff(before, done->text, "file");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  read_as_message(text);
  (void)mcp::decoded_field(text);
  edit_with(text);
  const auto plain = toolkit::plain_text(text);
  demand(json::is_utf8(plain));
  demand(json::is_utf8(toolkit::cut_middle(plain, 50)));
  demand(json::is_utf8(toolkit::cut_line(plain)));
  if (const auto slash = text.find('\n'); slash != text.npos)
    if (auto pattern = toolkit::glob::parse(text.substr(0, slash)))
      (void)pattern->matches(text.substr(slash + 1));
  return 0;
}
