#include "storage/records/record_format.hpp"

#include "storage/database/key_codec.hpp"

namespace troupe::records {

namespace {

constexpr std::string_view format_one{"\1", 1};

// What the doors let in nests 64 deep at most; records put it a little deeper.
constexpr json::parse_limits stored_limits{.depth = 128, .bytes = 256u << 20};

} // namespace

std::string encode(const json::object& body, std::string_view extra) {
  return encode_text(json::to_text(body), extra);
}

std::string encode_text(std::string_view body, std::string_view extra,
                        std::string_view secret) {
  return secret.empty() ? key_codec::encode({format_one, body, extra})
                        : key_codec::encode({format_one, body, extra, secret});
}

error damaged(std::string_view what, std::string_view why) {
  return {ec::internal,
          "a stored " + std::string{what} + " " + std::string{why}
            + "; the store is damaged: restore a backup",
          {},
          {}};
}

result<decoded> decode(std::string_view bytes, std::string_view what) {
  auto parts = key_codec::split(bytes);
  if (!parts || parts->empty() || parts->front().size() != 1)
    return damaged(what, "does not read");
  if (parts->front() != format_one)
    return error{ec::invalid_request,
                 "a stored " + std::string{what}
                   + " has a format that a newer version wrote; use that one",
                 {},
                 {}};
  if (parts->size() != 3 && parts->size() != 4)
    return damaged(what, "does not read");
  auto body = json::parse_object((*parts)[1], stored_limits);
  if (!body)
    return damaged(what, "does not read");
  return decoded{std::move(*body), (*parts)[2],
                 parts->size() == 4 ? parts->back() : std::string_view{}};
}

} // namespace troupe::records
