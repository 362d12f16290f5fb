#include "storage/sealing/master_key.hpp"

#include "runtime/base/digest.hpp"
#include "storage/database/durable_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace troupe {

namespace {

constexpr std::size_t hex_digits = 2 * key_bytes::size;
constexpr std::size_t id_digits = 16;
constexpr std::size_t max_keys = 8; // old and new, and some patience
constexpr std::size_t max_file_bytes = max_keys * (hex_digits + 1);
// 32 random bytes have about 30 different ones; a typed-in key has few.
constexpr std::size_t min_different_bytes = 12;
constexpr mode_t others = 0077;
constexpr mode_t world = 0007; // systemd's credentials may show group bits

constexpr std::string_view way_out
  = "a key is 64 hexadecimal digits; make one with: openssl rand -hex 32";

int digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

error bad_key(std::string reason) {
  return {ec::invalid_request,
          "the master key " + std::move(reason) + "; " + std::string{way_out},
          {},
          {}};
}

result<std::vector<master_key>> parse_all(std::string_view text,
                                          char separator) {
  std::vector<master_key> keys;
  while (!text.empty()) {
    auto end = std::min(text.find(separator), text.size());
    auto key = master_key::parse(text.substr(0, end));
    if (!key)
      return key.error();
    if (keys.size() == max_keys)
      return bad_key("is one of more than " + std::to_string(max_keys));
    keys.push_back(std::move(*key));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (keys.empty())
    return bad_key("is empty");
  return keys;
}

// Looks at the file that was opened, not at a name that may change meanwhile.
result<std::vector<master_key>> read_file(const std::filesystem::path& file,
                                          mode_t forbidden) {
  files::descriptor in{
    ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (!in)
    return files::last_error("open", file);
  struct stat about {};
  if (::fstat(in.get(), &about) != 0)
    return files::last_error("look at", file);
  if (!S_ISREG(about.st_mode))
    return bad_key("is not a regular file");
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return error{
      ec::denied, "the file belongs to another user; chown it", {}, {}};
  if ((about.st_mode & forbidden) != 0)
    return error{ec::denied,
                 "the file can be used by others; run: chmod 600 "
                   + file.string(),
                 {},
                 {}};
  if (about.st_size > static_cast<off_t>(max_file_bytes))
    return bad_key("file is too long");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  auto n = ::read(in.get(), text.data(), text.size());
  if (n < 0)
    return files::last_error("read", file);
  text.resize(static_cast<std::size_t>(n));
  auto keys = parse_all(text, '\n');
  wipe(text.data(), text.size());
  return keys;
}

/// What a file of keys holds.
secret text_of(const std::vector<master_key>& keys) {
  std::string all;
  all.reserve(keys.size() * (hex_digits + 1)); // growing would leave copies
  for (const auto& key : keys) {
    all += key.to_text().reveal();
    all += '\n';
  }
  return secret{std::move(all)};
}

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>{value} : std::nullopt;
}

} // namespace

// -- a key --------------------------------------------------------------------

result<master_key> master_key::parse(std::string_view hex) {
  if (hex.size() != hex_digits)
    return bad_key("has " + std::to_string(hex.size())
                   + " characters instead of 64");
  std::string bytes(key_bytes::size, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto high = digit(hex[2 * i]);
    auto low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      wipe(bytes.data(), bytes.size());
      return bad_key("has a character that is not a hexadecimal digit");
    }
    bytes[i] = static_cast<char>(high * 16 + low);
  }
  std::set<char> different(bytes.begin(), bytes.end());
  auto key = key_bytes::from(bytes);
  wipe(bytes.data(), bytes.size());
  if (!key)
    return key.error();
  if (different.size() < min_different_bytes)
    return bad_key("is not random");
  auto id = hmac(*key, "troupe master key id");
  auto digest = std::span{reinterpret_cast<const std::uint8_t*>(id.data()),
                          id_digits / 2};
  return master_key{std::move(*key), troupe::hex(digest)};
}

result<master_key> master_key::make(const random_source& random) {
  auto bytes = key_bytes::random(random);
  if (!bytes)
    return bytes.error();
  master_key key{std::move(*bytes), {}};
  return parse(key.to_text().reveal());
}

secret master_key::to_text() const {
  return secret{troupe::hex({bytes.data(), key_bytes::size})};
}

// -- where keys come from -----------------------------------------------------

result<key_source> key_source::open(const master_key_options& options,
                                    bool create, const random_source& random) {
  auto lookup = options.lookup ? options.lookup : process_variable;
  key_source source;
  auto take = [&](result<std::vector<master_key>> keys) -> result<key_source> {
    if (!keys)
      return keys.error().within("master key from " + source.origin_);
    source.keys_ = std::move(*keys);
    return std::move(source);
  };
  if (auto text = lookup(options.variable)) {
    secret wiped{std::move(*text)};
    source.origin_ = options.variable;
    return take(parse_all(wiped.reveal(), ','));
  }
  if (auto directory = lookup("CREDENTIALS_DIRECTORY")) {
    auto file = std::filesystem::path{*directory} / options.credential;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
      source.origin_ = "credential " + file.string();
      return take(read_file(file, world));
    }
  }
  source.file_ = options.file;
  source.origin_ = "file " + options.file.string();
  auto keys = read_file(options.file, others);
  if (keys || keys.error().code != ec::not_found)
    return take(std::move(keys));
  if (!create)
    return error{ec::not_found,
                 "the master key in " + source.origin_
                   + " is missing, but the store is sealed with one: restore "
                     "it, or set it in "
                   + options.variable,
                 {},
                 {}};
  auto made = master_key::make(random);
  if (!made)
    return made.error();
  source.keys_.push_back(std::move(*made));
  auto created = files::create(options.file, text_of(source.keys_).reveal());
  // Somebody else's first start was faster: its key is the one.
  if (!created && created.error().code == ec::conflict)
    return take(read_file(options.file, others));
  if (!created)
    return created.error().within("make a master key");
  return source;
}

const master_key* key_source::find(std::string_view id) const {
  auto i = std::find_if(keys_.begin(), keys_.end(),
                        [&](const auto& k) { return k.id == id; });
  return i == keys_.end() ? nullptr : &*i;
}

result<void> key_source::save() const {
  return files::replace(file_, text_of(keys_).reveal());
}

result<void> key_source::add(master_key key) {
  if (find(key.id))
    return {};
  if (file_.empty())
    return error{
      ec::conflict,
      "the new master key must first be added to " + origin_
        + " next to the old one, so that both are found after a restart",
      {},
      {}};
  keys_.push_back(std::move(key));
  auto saved = save();
  if (!saved)
    keys_.pop_back();
  return saved;
}

result<void> key_source::drop(std::string_view id) {
  // Elsewhere it is the operator who takes it away; it just is not used.
  if (file_.empty() || !find(id))
    return {};
  std::vector<master_key> kept;
  for (const auto& key : keys_)
    if (key.id != id)
      kept.push_back(key.clone());
  std::swap(keys_, kept);
  auto saved = save();
  if (!saved)
    std::swap(keys_, kept);
  return saved;
}

} // namespace troupe
