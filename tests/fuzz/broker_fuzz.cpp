// What engine and broker tell each other: orders and the record of decisions.
#include "runtime/local/egress/broker_orders.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace troupe::network;
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  broker_order order, again;
  if (decode(bytes, order)
      && (!decode(encode(order), again) || encode(again) != encode(order)))
    std::abort(); // what was read can be written, and means the same then
  const auto report = read_record(bytes);
  if (report.events.size() > size)
    std::abort();
  return 0;
}
