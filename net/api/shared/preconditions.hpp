#pragma once

#include "net/server/exchange.hpp"
#include "runtime/engine/engine.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace troupe::net {

/// The organization of the caller, or an empty one before its first change.
/// Holds on to the snapshot that it is part of.
class caller_catalog {
public:
  caller_catalog(const engine& core, const organization_id& organization);

  const organization_catalog* operator->() const { return mine_; }
  const organization_catalog& operator*() const { return *mine_; }
  const catalog* all() const { return all_.get(); }

private:
  catalog_ptr all_;
  const organization_catalog* mine_;
};

/// Revisions as entity tags: `"r5"`.
std::string make_etag(std::uint64_t revision);

/// The revision that If-Match insists on. `failed` when there is an If-Match
/// that no revision can meet; the exchange has been answered then.
struct precondition {
  std::optional<std::uint64_t> revision;
  bool failed = false;
};
precondition read_if_match(exchange& ex);

/// Whether If-None-Match names this revision.
bool is_unchanged(const request& in, std::uint64_t revision);

/// For resources without revisions: false, and answered, when an If-Match
/// insists on one.
bool has_no_etag(exchange& ex);

/// A conflict about the revision under If-Match is a failed precondition.
void fail_change(exchange& ex, const error& why, const precondition& given);

/// 200 or 201 with an ETag, and a Location when it is new.
void respond_resource(exchange& ex, std::string body, bool created,
                      std::uint64_t revision, std::string location);

/// Whether the caller may see and change what concerns every organization: it
/// is on this machine and needs no key, since it could read the store as well,
/// or its key has the scope `operator`. Scope admin of any organization does
/// not grant that.
bool is_operator(const caller& who);

void respond_no_content(exchange& ex); // 204

/// 404 about what the path names first, and where to look instead: a name
/// `near`, or the `list`.
void respond_not_found(exchange& ex, std::string_view what,
                       std::string_view list, std::string_view near = {});

} // namespace troupe::net
