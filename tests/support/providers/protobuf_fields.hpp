#pragma once

#include "net/grpc/protobuf.hpp"
#include "tests/support/providers/fake_grpc.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// What stand-ins that speak protobuf read and say, field by field.
namespace troupe::test {

/// The value of a field, the last one if it repeats.
inline std::string_view bytes_of(std::string_view message, int number) {
  std::string_view out;
  net::protobuf::reader reader{message};
  for (net::protobuf::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 2)
      out = f.bytes;
  return out;
}

inline std::uint64_t number_of(std::string_view message, int number) {
  std::uint64_t out = 0;
  net::protobuf::reader reader{message};
  for (net::protobuf::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 0)
      out = f.value;
  return out;
}

inline std::vector<std::string> texts_of(std::string_view message, int number) {
  std::vector<std::string> out;
  net::protobuf::reader reader{message};
  for (net::protobuf::field f; reader.next(f);)
    if (f.number == number && f.wire_type == 2)
      out.emplace_back(f.bytes);
  return out;
}

inline std::map<std::string, std::string> pairs_of(std::string_view message,
                                                   int number) {
  std::map<std::string, std::string> out;
  for (const auto& pair : texts_of(message, number))
    out[std::string{bytes_of(pair, 1)}] = std::string{bytes_of(pair, 2)};
  return out;
}

inline void say(grpc_exchange& call, const net::protobuf::writer& message) {
  call.send(message.bytes());
  call.end();
}

} // namespace troupe::test
