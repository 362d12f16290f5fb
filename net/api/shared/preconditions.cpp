#include "net/api/shared/preconditions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace troupe::net {

namespace {

constexpr std::size_t longest_told = 128;

} // namespace

caller_catalog::caller_catalog(const engine& core,
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
  ex.refuse(412, "precondition_failed",
            "If-Match is not a valid ETag for this resource; expected "
            "something like \"r5\"");
  return out;
}

bool is_unchanged(const request& in, std::uint64_t revision) {
  auto text = in.field("if-none-match");
  return !text.empty()
    && (text.find(make_etag(revision)) != std::string_view::npos
        || trim(text) == "*");
}

bool has_no_etag(exchange& ex) {
  auto text = trim(ex.in().field("if-match"));
  if (text.empty() || text == "*")
    return true;
  ex.refuse(412, "precondition_failed",
            "this resource has no ETag; send the request without If-Match");
  return false;
}

void fail_change(exchange& ex, const error& why, const precondition& given) {
  bool stale = why.code == ec::conflict && !why.fields.empty()
    && why.fields.front().pointer == revision_pointer;
  if (stale && given.revision)
    ex.refuse(412, "precondition_failed",
              "it has changed since; read it again before you change it");
  else
    ex.fail(why);
}

void respond_resource(exchange& ex, std::string body, bool created,
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
  return (who.scopes & static_cast<std::uint8_t>(scope::operate)) != 0;
}

void respond_no_content(exchange& ex) {
  response r;
  r.status = 204;
  r.type = {};
  ex.answer(std::move(r));
}

void respond_not_found(exchange& ex, std::string_view what,
                       std::string_view list, std::string_view near) {
  // What is no name of ours is not repeated: answers end up on pages.
  auto name = ex.param(0);
  bool plain = name.size() <= longest_told
    && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                 return std::isalnum(c) || c == '-' || c == '_' || c == '.';
               });
  std::string text{plain ? "there is no " : "there is no such "};
  text.append(what);
  if (plain)
    text.append(" '").append(name).append("'");
  if (!near.empty())
    text.append("; did you mean '").append(near).append("'?");
  else
    text.append("; GET ").append(list).append(" lists those that exist");
  ex.fail({ec::not_found, std::move(text), {}, {}});
}

} // namespace troupe::net
