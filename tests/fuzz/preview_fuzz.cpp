// What servers in sandboxes answer, and bodies of requests on their way to
// them. What is passed on is one head; no body goes on behind its end.
#include "net/previews/body_meter.hpp"
#include "net/previews/forwarded_head.hpp"

#include <cstdlib>

using namespace troupe::net;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void check_answer(std::string_view bytes, const answer_rules& rules) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == bytes.npos)
    return;
  const auto answer = forward_answer(bytes.substr(0, end + 4), rules);
  if (!answer)
    return;
  const auto& text = answer->text;
  demand(text.starts_with("HTTP/1."));
  demand(text.find("\r\n\r\n") == text.size() - 4);
  for (std::size_t i = 0; i < text.size(); ++i)
    demand(text[i] != '\n' || (i > 0 && text[i - 1] == '\r'));
  demand(!answer->upgraded || rules.upgrade);
}

/// In one piece and byte by byte, a body ends at the same place.
void check_body(std::string_view bytes) {
  body_meter whole{{true, 0}};
  const auto used = whole.take(bytes);
  body_meter parts{{true, 0}};
  std::size_t sum = 0;
  for (const char c : bytes) {
    if (parts.is_done() || parts.is_bad())
      break;
    sum += parts.take({&c, 1});
  }
  demand(parts.is_done() == whole.is_done());
  demand(parts.is_bad() == whole.is_bad());
  demand(whole.is_bad() || used == sum);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view bytes{reinterpret_cast<const char*>(data), size};
  check_answer(bytes, {});
  check_answer(bytes, {"/v1/sandboxes/x/ports/1/proxy", true, true, false});
  check_answer(bytes, {{}, false, false, true});
  check_body(bytes);
  (void)without_token(bytes);
  (void)token_in_query(bytes);
  return 0;
}
