#pragma once

#include "net/api/shared/pulled_bytes.hpp"
#include "net/api/shared/run_json.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

#include <functional>
#include <string>

namespace troupe::net::e2b_facade {

/// A cell as the code interpreter tells it: a JSON object per line, in ASCII,
/// since clients decode what arrives piece by piece.
class execute_stream final : public pulled_bytes {
public:
  struct order {
    sandbox_cell_ptr cell;
    std::uint64_t number = 1;    // of the cell in its context
    std::function<void()> leave; // the client has gone: nobody waits for it
    /// The interpreter was lost; false: with its sandbox.
    std::function<bool()> lost;
  };
  execute_stream(exchange_ptr ex, order what)
      : pulled_bytes{std::move(ex)}, what_{std::move(what)} {}

private:
  void open(exchange& ex) override;
  bool step() override;
  void left() override;
  bool write_output(output_stream which, std::uint64_t before);
  bool write_end(const cell_record& record);
  void write_line(std::string line);
  void wait_for_more();

  const order what_;
  cell_offsets read_;
  bool begun_ = false;
  bool told_error_ = false;
  utf8_joiner out_;
  utf8_joiner err_;
};

/// {"type":"result"...} or {"type":"error"...}
std::string line_of(const cell_event& e);

/// Every character beyond ASCII as \uXXXX. Valid UTF-8 in.
std::string ascii_json(std::string_view text);

} // namespace troupe::net::e2b_facade
