#pragma once

#include "net/server/exchange.hpp"
#include "runtime/json/reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

/// The body as a JSON object. Answers the exchange itself when it is none: 400
/// for text that is no JSON, 422 for JSON that is no object.
std::optional<json::object> body_of(exchange& ex);

/// The same, but an absent body is an empty object.
std::optional<json::object> optional_body_of(exchange& ex);

/// Reads query parameters as json::reader reads members: every complaint at
/// once, unknown names refused with the nearest known one. Complaints point to
/// `?name`.
class query_reader {
public:
  explicit query_reader(std::string_view query);

  std::optional<std::string> text(std::string_view name);
  std::vector<std::string> texts(std::string_view name); // repeated
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min,
                                      std::int64_t max);
  std::optional<bool> boolean(std::string_view name);
  void complain(std::string_view name, std::string reason,
                std::string hint = {});

  std::optional<error> finish();
  std::optional<error> finish_lenient();

private:
  void know(std::string_view name);

  std::vector<std::pair<std::string, std::string>> items_;
  std::vector<std::string_view> known_;
  std::vector<field_error> complaints_;
};

/// A place in a list that only its organization can go on from.
std::string make_cursor(const organization_id& organization,
                        std::string_view list, std::string_view place);
std::optional<std::string> read_cursor(const organization_id& organization,
                                       std::string_view list,
                                       std::string_view cursor);

/// `limit` and `after` of a list, checked.
struct page_request {
  std::size_t limit = 50;
  std::string after; // the place, "" from the start
};
page_request read_page(query_reader& query, const organization_id& organization,
                       std::string_view list);

/// Whether an Accept field names the type, and whether it takes it over JSON.
bool accepts(const request& in, std::string_view type);

} // namespace troupe::net
