#pragma once

#include "runtime/model/ids.hpp"
#include "storage/database/database.hpp"
#include "storage/sealing/master_key.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace troupe {

/// A data key as it lies in the store: wrapped with a master key.
struct wrapped_key {
  organization_id organization; // empty: the store's own digest key
  std::uint32_t version = 0;
  std::string master; // the id of the master key that unwraps it
  std::string text;

  std::string key() const; // in column meta
  std::string value() const;
};

result<wrapped_key> wrap(const key_bytes& key, const master_key& master,
                         const organization_id& organization,
                         std::uint32_t version, const random_source& random);
/// `denied` unless it is the very key that was wrapped for that organization,
/// version and master key.
result<key_bytes> unwrap(const wrapped_key& wrapped, const master_key& master);

/// Every wrapped key of the store, the digest key included.
result<void> each_wrapped_key(const database& db,
                              const std::function<result<void>(wrapped_key)>&);

/// What the store says about its master keys.
struct master_record {
  std::string current;              // empty: a new store
  std::string next;                 // not empty: a rotation is under way
  std::vector<std::string> retired; // to be dropped by the key source
};
result<master_record> read_master_record(const database& db);

/// A known text sealed with the master key, so that a wrong one is told at
/// once and not by the first value that does not open.
result<std::string> make_check(const master_key& master,
                               const random_source& random);
std::string check_key(std::string_view master_id);

/// Whether `source` holds every master key that the store needs, by their
/// check values. Changes nothing.
result<void> check_master_keys(const database& db, const key_source& source);

namespace meta_keys {
std::string master_current();
std::string master_next();
std::string master_retired(std::string_view id);
std::string data_keys(const organization_id& organization); // a prefix
} // namespace meta_keys

} // namespace troupe
