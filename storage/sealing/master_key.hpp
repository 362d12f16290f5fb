#pragma once

#include "storage/sealing/key_bytes.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The key that wraps every organization's key. Its id is derived from it and
/// tells nothing about it.
struct master_key {
  key_bytes bytes;
  std::string id; // 16 hex digits

  static result<master_key> make(const random_source& random);
  /// 64 hexadecimal digits, nothing else.
  static result<master_key> parse(std::string_view hex);
  secret to_text() const;
  master_key clone() const { return {bytes.clone(), id}; }
};

struct master_key_options {
  /// Looked at first: the key itself, for containers. Several keys, while
  /// rotating, are separated by commas.
  std::string variable = "TROUPE_MASTER_KEY";
  /// Then a file of this name in $CREDENTIALS_DIRECTORY, as systemd's
  /// LoadCredential= makes it.
  std::string credential = "troupe-master-key";
  /// Then this file: a key per line, mode 0600. Made on the first start.
  std::filesystem::path file;
  /// Handed in so that a test needs no process environment.
  std::function<std::optional<std::string>(const std::string&)> lookup;
};

/// Where the master keys come from. All of them can open; which one is in use
/// is written in the store.
class key_source {
public:
  /// `create`: whether a key may be made when none is found. Refuses files
  /// that others may read, short keys, and anything that is no key.
  static result<key_source> open(const master_key_options& options, bool create,
                                 const random_source& random = system_random());

  const std::vector<master_key>& all() const { return keys_; }
  const master_key* find(std::string_view id) const;
  const master_key& first() const { return keys_.front(); }
  /// For people: "file /var/lib/troupe/master.key".
  const std::string& origin() const { return origin_; }

  /// Makes the key known before anything is wrapped with it. A file is
  /// rewritten; of the other origins the operator is asked to do it.
  result<void> add(master_key key);
  /// Forgets a key that nothing is wrapped with any more.
  result<void> drop(std::string_view id);

private:
  result<void> save() const;

  std::vector<master_key> keys_;
  std::string origin_;
  std::filesystem::path file_; // empty: not ours to write
};

} // namespace troupe
