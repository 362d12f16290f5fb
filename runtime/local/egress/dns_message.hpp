#pragma once

#include "runtime/base/error.hpp"
#include "runtime/model/address.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// As much of DNS (RFC 1035) as it takes to know which name led to which
/// address. Bytes come from tools and from nameservers: both are foreign.
namespace troupe::network {

inline constexpr std::uint16_t dns_type_a = 1;
inline constexpr std::uint16_t dns_type_cname = 5;
inline constexpr std::uint16_t dns_type_aaaa = 28;

enum class dns_code : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
};

/// A standard query with one question.
struct dns_query {
  std::uint16_t id = 0;
  std::string name; // normalized: lower case, no final dot; "." is ""
  std::uint16_t type = 0;
  std::size_t question_end = 0; // where the question section ends
};
result<dns_query> parse_dns_query(std::string_view packet);

struct dns_answer {
  dns_code code = dns_code::no_error;
  std::vector<ip_address> addresses; // of the name that was asked for
  std::chrono::seconds ttl{0};       // the shortest along the way
};
/// The answer to `asked`; an error when it is the answer to something else.
/// Aliases are followed; records about other names are ignored.
result<dns_answer> parse_dns_answer(std::string_view packet,
                                    const dns_query& asked);

/// An answer without records to a query that was parsed.
std::string refuse_dns_query(std::string_view packet, const dns_query& asked,
                             dns_code code);

void set_dns_id(std::string& packet, std::uint16_t id);

/// A query that says how large an answer over UDP may be (EDNS, RFC 6891):
/// without it that is 512 bytes. One that says so already is left alone.
std::string with_room(std::string query, std::uint16_t bytes);
/// A packet without that record: an answer for who did not say so, a question
/// for who does not know of it.
std::string without_room(std::string packet);

/// "There is more than fits": asked again over TCP, it comes whole.
bool is_cut(std::string_view answer);
void say_whole(std::string& answer);

} // namespace troupe::network
