#include "net/api/changes.hpp"

#include <charconv>

namespace troupe::net {

own_catalog::own_catalog(const engine& core,
                         const organization_id& organization)
    : all_{core.snapshot()}, mine_{all_ ? all_->find(organization) : nullptr} {
  static const organization_catalog nothing;
  if (!mine_)
    mine_ = &nothing;
}

std::string make_etag(std::uint64_t revision) {
  return "\"r" + std::to_string(revision) + "\"";
}

precondition read_if_match(exchange& ex) {
  precondition out;
  auto text = trim(ex.in().field("if-match"));
  if (text.empty() || text == "*")
    return out;
  std::uint64_t n = 0;
  if (text.starts_with("\"r") && text.ends_with('"')) {
    auto digits = text.substr(2, text.size() - 3);
    auto end = digits.data() + digits.size();
    auto [stop, ec] = std::from_chars(digits.data(), end, n);
    if (ec == std::errc{} && stop == end && !digits.empty()) {
      out.revision = n;
      return out;
    }
  }
  out.failed = true;
  ex.refuse(412, "precondition_failed", "If-Match is no ETag of this resource");
  return out;
}

bool is_unchanged(const request& in, std::uint64_t revision) {
  auto text = in.field("if-none-match");
  return !text.empty()
    && (text.find(make_etag(revision)) != std::string_view::npos
        || trim(text) == "*");
}

void fail_change(exchange& ex, const error& why, const precondition& given) {
  if (why.code == ec::conflict && given.revision)
    ex.refuse(412, "precondition_failed",
              "it has changed since; read it again, then decide");
  else
    ex.fail(why);
}

void answer_with(exchange& ex, std::string body, bool created,
                 std::uint64_t revision, std::string location) {
  response r;
  r.status = created ? 201 : 200;
  r.body = std::move(body);
  if (revision != 0)
    r.fields.emplace_back("etag", make_etag(revision));
  if (created && !location.empty())
    r.fields.emplace_back("location", std::move(location));
  ex.answer(std::move(r));
}

bool is_operator(const caller& who) {
  return who.key.empty();
}

void answer_nothing(exchange& ex) {
  response r;
  r.status = 204;
  r.type = {};
  ex.answer(std::move(r));
}

void answer_missing(exchange& ex, std::string_view what) {
  ex.fail({ec::not_found, "there is no such " + std::string{what}, {}, {}});
}

} // namespace troupe::net
