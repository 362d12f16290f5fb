#pragma once

#include "net/api/shared/pulled_stream.hpp"
#include "runtime/engine/sandbox_engine.hpp"

#include <optional>
#include <string>

namespace troupe::net {

/// How bytes of a process are told in JSON.
enum class output_encoding : std::uint8_t {
  text,   // UTF-8; what is none becomes U+FFFD
  base64, // exactly
};

/// The output of a process, or of one of its streams, on its way to one client:
/// what is there, then what comes, then its end, exactly once. A slow reader
/// stops no one else: what falls out of the window meanwhile is
/// counted.
class sandbox_output_stream final : public pulled_stream {
public:
  struct wish {
    std::optional<output_stream> only; // absent: both
    output_offsets from;
    output_encoding encoding = output_encoding::text;
  };

  sandbox_output_stream(exchange_ptr ex, sandbox_program_ptr program,
                        stream_format format, wish what)
      : pulled_stream{std::move(ex), format}, program_{std::move(program)},
        wish_{what} {}

private:
  bool step() override;
  bool write_piece(output_stream which);
  void wait_for_more();
  bool wants(output_stream which) const {
    return !wish_.only || *wish_.only == which;
  }
  std::string encoded(output_stream which, const std::string& bytes);

  const sandbox_program_ptr program_;
  wish wish_; // `from` moves on; used by the thread that is busy
  utf8_joiner out_;
  utf8_joiner err_;
};

std::string_view name_of(output_stream which);

} // namespace troupe::net
