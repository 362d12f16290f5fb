#pragma once

#include "runtime/engine/catalog.hpp"
#include "storage/sealing/aead.hpp"
#include "storage/sealing/record_cipher.hpp"
#include "storage/sealing/sealed_value.hpp"
#include "storage/sealing/wrapped_key.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace troupe {

/// How far a job over many keys or records has come.
struct rotation_progress {
  std::string step; // "announced", "rewrapped", "switched", ...
  std::size_t done = 0;
  std::size_t total = 0;
};
using progress_sink = std::function<void(const rotation_progress&)>;

/// Seals and opens values with one key per organization, each wrapped with the
/// master key. Thread-safe.
class sealer {
public:
  /// Checks the master key first; a wrong one is `denied` and nothing is
  /// written. A new store gets its check value, an interrupted rotation is
  /// finished.
  static result<std::shared_ptr<sealer>>
  open(std::shared_ptr<database> db, key_source source,
       random_source random = system_random());

  /// For a database that is open for reading: what is there can be opened and
  /// its digests checked; an interrupted rotation stays as it is.
  static result<std::shared_ptr<sealer>>
  open_to_read(std::shared_ptr<database> db, key_source source);

  // -- values ----------------------------------------------------------------

  /// Makes the organization's key when it has none yet. `record_version` is
  /// one more than that of the record it replaces.
  result<std::string> seal(const sealed_place& place, const secret& value,
                           std::uint64_t record_version);
  result<secret> open(const sealed_place& place, std::string_view sealed) const;
  result<secret> open(const sealed_variable& v) const;
  result<secret> open(const sealed_agent_variable& v) const;

  /// The same for records, of which there may be any number. `text` is as
  /// private as a value, but it is not wiped.
  result<std::string> seal_record(const sealed_place& place,
                                  std::string_view text);
  result<secret> open_record(const sealed_place& place,
                             std::string_view sealed) const;

  /// A keyed digest for cache keys and fingerprints that cover secrets: equal
  /// for equal texts, tells nothing without the key, outlives rotations.
  /// `purpose` keeps the digests of two uses apart.
  std::string digest(const organization_id& organization,
                     std::string_view purpose, std::string_view text) const;

  // -- the master key --------------------------------------------------------

  /// Wraps every data key anew, in small batches, while everything goes on.
  /// Interrupted at any point the next start, or the next call, finishes it.
  /// `conflict`: one is under way.
  result<void> rotate_master(master_key fresh, const progress_sink& tell = {});
  std::string master_id() const;
  /// Goes on where an interrupted rotation stopped; nothing to do otherwise.
  result<void> resume_rotation(const progress_sink& tell = {});

  // -- the keys of an organization -------------------------------------------

  /// A new version seals from now on; the old ones still open.
  result<std::uint32_t> renew_data_key(const organization_id& organization);
  /// Ascending; the last one seals. Empty: no key yet.
  std::vector<std::uint32_t>
  data_key_versions(const organization_id& organization) const;
  /// Every organization with more than one version.
  std::vector<organization_id> unfinished_renewals() const;
  /// Erases an old version from the store. The caller has made sure that no
  /// record needs it; readers of an older catalog still hold values sealed with
  /// it, so this process forgets it only when it ends.
  result<void> retire_data_key(const organization_id& organization,
                               std::uint32_t version);
  /// Erases all keys of an organization and their traces in the store's files:
  /// whatever was sealed with them is gone for good, backups excepted.
  result<void> forget(const organization_id& organization);

private:
  struct data_key {
    data_key(const key_bytes& key, const random_source& random)
        : values{key, random}, records{key.clone(), random} {}
    aead values;
    record_cipher records;
  };
  using data_key_ptr = std::shared_ptr<const data_key>;
  using versions = std::map<std::uint32_t, data_key_ptr>;

  sealer(std::shared_ptr<database> db, key_source source, random_source random);
  result<void> begin();
  result<void> load();
  /// With `keys_mutex_` held alone.
  result<data_key_ptr> make_data_key(const organization_id& organization,
                                     std::uint32_t version);
  data_key_ptr find(const organization_id& organization,
                    std::uint32_t version) const;
  template <class Cipher>
  result<std::string>
  seal_with(Cipher data_key::*cipher, const sealed_place& place,
            std::string_view text, std::uint64_t record_version);
  template <class Cipher>
  result<secret> open_with(Cipher data_key::*cipher, const sealed_place& place,
                           std::string_view sealed) const;
  result<data_key_ptr> key_of(const organization_id& organization,
                              const sealed_header& header) const;
  result<std::pair<std::uint32_t, data_key_ptr>>
  sealing_key(const organization_id& organization);
  result<void> rewrap_all(const progress_sink& tell);
  result<void> finish_rotation(const progress_sink& tell);
  result<void> drop_retired(const progress_sink& tell);

  std::shared_ptr<database> db_;
  random_source random_;

  std::mutex rotating_; // one rotation at a time
  mutable std::shared_mutex keys_mutex_;
  key_source source_;    // guarded by keys_mutex_, as all below
  std::string wrapping_; // id of the master key that wraps now
  std::map<organization_id, versions> keys_;
  std::map<organization_id, versions> retired_;
  key_bytes digest_key_; // set once, in open
};

} // namespace troupe
