#pragma once

#include "net/previews/forwarded_head.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

/// Follows the body of a request as it goes by, and says where it ends: what
/// comes behind it is not passed on. Chunks must be what every reader takes
/// them for: no extensions, no trailers, lines that end with CR LF.
class body_meter {
public:
  explicit body_meter(const body_shape& shape)
      : chunked_{shape.chunked}, left_{shape.length}, at_{shape.chunked
                                                            ? place::size
                                                            : place::end} {
    if (!chunked_ && left_ > 0)
      at_ = place::data;
  }

  /// How many of `bytes` belong to the body. What they say, without the frames
  /// of chunks, is put behind `content`, if there is one.
  std::size_t take(std::string_view bytes, std::string* content = nullptr);
  bool is_done() const { return at_ == place::end; }
  /// It is no body: none of the last bytes may be passed on.
  bool is_bad() const { return at_ == place::bad; }

private:
  enum class place : std::uint8_t {
    size,
    size_end, // the LF behind a size
    data,
    data_cr,
    data_lf,
    last_cr, // behind the last chunk
    last_lf,
    end,
    bad,
  };
  void take_one(char c);
  void take_digit(char c);

  bool chunked_;
  std::uint64_t left_;
  unsigned digits_ = 0;
  place at_;
};

} // namespace troupe::net
