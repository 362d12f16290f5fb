#include "net/http/json_lines.hpp"

#include <utility>

namespace troupe::net {

result<void> line_reader::feed(std::string_view bytes) {
  auto searched = buffer_.size();
  buffer_ += bytes;
  std::size_t begin = 0;
  for (auto end = buffer_.find('\n', searched); end != std::string::npos;
       end = buffer_.find('\n', begin)) {
    auto line = std::string_view{buffer_}.substr(begin, end - begin);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (!line.empty())
      if (auto taken = sink_(line); !taken)
        return taken;
    begin = end + 1;
  }
  buffer_.erase(0, begin);
  if (buffer_.size() > limit_)
    return error{ec::unavailable,
                 "a line of more than " + std::to_string(limit_) + " bytes",
                 {},
                 {}};
  return {};
}

result<void> line_reader::finish() {
  auto last = std::exchange(buffer_, {});
  if (last.empty())
    return {};
  return sink_(last);
}

} // namespace troupe::net
