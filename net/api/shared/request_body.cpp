#include "net/api/shared/request_body.hpp"

#include "net/api/shared/route_rules.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/json/big_integers.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

/// Of a run, and of the runs of a batch.
constexpr std::string_view places_of_arguments[] = {"/args", "/items/*/args"};

constexpr std::size_t check_letters = 12; // of the hex SHA-256

std::string check_of(const organization_id& organization, std::string_view list,
                     std::string_view place) {
  auto text
    = organization.str() + '\0' + std::string{list} + '\0' + std::string{place};
  return hex(sha256(text)).substr(0, check_letters);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<json::object> parse_body(exchange& ex) {
  // The listener has measured it by the settings.
  const auto& body = ex.in().body;
  auto parsed = json::parse_large(body, places_of_arguments,
                                  {.bytes = body.size(), .wiped = true});
  if (!parsed) {
    // The reason is one of a closed set: it quotes nothing of the body.
    ex.refuse(400, "malformed_json",
              "the body is " + parsed.error().fields.at(0).reason);
    return std::nullopt;
  }
  if (auto* object = parsed->if_object())
    return std::move(*object);
  ex.fail(bad_field("", "the body must be a JSON object"));
  return std::nullopt;
}

} // namespace

std::optional<json::object> body_of(exchange& ex) {
  if (!ex.in().body.empty())
    return parse_body(ex);
  ex.refuse(400, "malformed_json", "a JSON body is required");
  return std::nullopt;
}

std::optional<json::object> optional_body_of(exchange& ex) {
  if (ex.in().body.empty())
    return json::object{};
  return parse_body(ex);
}

// -- queries -----------------------------------------------------------------

namespace {

/// What others take as a parameter and we as a field.
constexpr std::pair<std::string_view, std::string_view> fields_instead[]
  = {{"wait", "Prefer: wait=10"},
     {"async", "Prefer: respond-async"},
     {"after", "Last-Event-ID: 1"},
     {"stream", "Accept: text/event-stream"},
     {"idempotency_key", "Idempotency-Key: ..."},
     {"api_key", "Authorization: Bearer troupe_..."}};

std::string way_out(std::string_view name,
                    const std::vector<std::string_view>& known) {
  if (auto near = json::nearest(name, known); !near.empty())
    return "did you mean '" + near + "'?";
  for (const auto& [parameter, field] : fields_instead)
    if (name == parameter)
      return "send the field '" + std::string{field} + "'";
  return known.empty() ? "this path has no parameters" : std::string{};
}

} // namespace

query_reader::query_reader(std::string_view query) {
  while (!query.empty()) {
    auto end = query.find('&');
    auto item = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{}
                                          : query.substr(end + 1);
    if (item.empty())
      continue;
    auto equals = item.find('=');
    auto name = percent_decode(item.substr(0, equals), true);
    auto value = equals == std::string_view::npos
      ? std::optional<std::string>{std::string{}}
      : percent_decode(item.substr(equals + 1), true);
    if (!name || !value || !json::is_utf8(*name) || !json::is_utf8(*value))
      complaints_.push_back({"?", "malformed percent-encoding", {}});
    else
      items_.emplace_back(std::move(*name), std::move(*value));
  }
}

void query_reader::know(std::string_view name) {
  known_.push_back(name);
}

void query_reader::complain(std::string_view name, std::string reason,
                            std::string hint) {
  complaints_.push_back(
    {"?" + std::string{name}, std::move(reason), std::move(hint)});
}

std::optional<std::string> query_reader::text(std::string_view name) {
  auto all = texts(name);
  if (all.empty())
    return std::nullopt;
  if (all.size() > 1)
    complain(name, "is given more than once");
  return all.front();
}

std::vector<std::string> query_reader::texts(std::string_view name) {
  know(name);
  std::vector<std::string> out;
  for (const auto& [key, value] : items_)
    if (key == name)
      out.push_back(value);
  return out;
}

std::optional<std::int64_t> query_reader::integer(std::string_view name,
                                                  std::int64_t min,
                                                  std::int64_t max) {
  auto given = text(name);
  if (!given)
    return std::nullopt;
  std::int64_t n = 0;
  auto end = given->data() + given->size();
  auto [stop, ec] = std::from_chars(given->data(), end, n);
  if (given->empty() || ec != std::errc{} || stop != end || n < min
      || n > max) {
    complain(name,
             "must be a whole number from " + std::to_string(min) + " to "
               + std::to_string(max));
    return std::nullopt;
  }
  return n;
}

std::optional<bool> query_reader::boolean(std::string_view name) {
  auto given = text(name);
  if (!given)
    return std::nullopt;
  if (*given == "true" || *given == "True" || *given == "1")
    return true;
  if (*given != "false" && *given != "False" && *given != "0")
    complain(name, "must be true or false");
  return false;
}

std::optional<error> query_reader::finish() {
  for (const auto& [key, value] : items_)
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      complain(key.substr(0, 64), "is not known", way_out(key, known_));
    }
  return finish_lenient();
}

std::optional<error> query_reader::finish_lenient() {
  if (complaints_.empty())
    return std::nullopt;
  error e;
  e.code = ec::invalid_request;
  e.text = "the query is not valid: " + complaints_.front().pointer + " "
    + complaints_.front().reason;
  e.fields = std::move(complaints_);
  return e;
}

std::optional<error> refuse_query(const request& in) {
  return in.query.empty() ? std::nullopt : query_reader{in.query}.finish();
}

// -- cursors -----------------------------------------------------------------

std::string make_cursor(const organization_id& organization,
                        std::string_view list, std::string_view place) {
  if (place.empty())
    return {};
  auto bytes = std::span{reinterpret_cast<const std::uint8_t*>(place.data()),
                         place.size()};
  return check_of(organization, list, place) + hex(bytes);
}

std::optional<std::string> read_cursor(const organization_id& organization,
                                       std::string_view list,
                                       std::string_view cursor) {
  if (cursor.size() <= check_letters || cursor.size() % 2 != 0)
    return std::nullopt;
  auto digits = cursor.substr(check_letters);
  std::string place;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    int high = hex_value(digits[i]);
    int low = hex_value(digits[i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    place += static_cast<char>(high * 16 + low);
  }
  if (cursor.substr(0, check_letters) != check_of(organization, list, place))
    return std::nullopt;
  return place;
}

page_request read_page(query_reader& query, const organization_id& organization,
                       std::string_view list) {
  page_request page;
  page.limit
    = static_cast<std::size_t>(query.integer("limit", 1, 1'000).value_or(50));
  auto after = query.text("after");
  if (!after || after->empty())
    return page;
  if (auto place = read_cursor(organization, list, *after))
    page.after = std::move(*place);
  else
    query.complain("after", "is not a cursor of this list",
                   "use `next` of the previous page");
  return page;
}

bool accepts(const request& in, std::string_view type) {
  auto list = in.field("accept");
  while (!list.empty()) {
    auto comma = list.find(',');
    auto entry = list.substr(0, comma);
    if (equal_ignoring_case(trim(entry.substr(0, entry.find(';'))), type))
      return true;
    if (comma == std::string_view::npos)
      break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

} // namespace troupe::net
