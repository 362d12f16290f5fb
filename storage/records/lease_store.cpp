#include "storage/records/lease_store.hpp"

#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"

namespace troupe {

namespace {

constexpr std::string_view a_lease = "sandbox lease";

std::string place_of(const sandbox_lease& lease) {
  return key_codec::encode(lease.organization, {lease.tag});
}

std::string encode(const sandbox_lease& lease) {
  json::object o;
  o["provider"] = to_string(lease.provider);
  o["run"] = lease.run.str();
  o["sandbox"] = lease.sandbox;
  if (!lease.key.empty())
    o["key"] = lease.key;
  o["written_at"] = to_text(lease.written_at);
  return records::encode(o);
}

/// An account that the settings no longer name keeps its leases.
result<backend_name> read_provider(std::string_view text) {
  if (auto known = parse_backend_name(text))
    return known;
  const auto dot = text.find('.');
  auto kind = parse_backend(text.substr(0, dot));
  if (!kind || dot == text.npos)
    return fail(ec::internal, "is not a provider");
  return backend_name::make(*kind, text.substr(dot + 1));
}

result<sandbox_lease> decode(std::string_view key, std::string_view bytes) {
  auto place = key_codec::split(key);
  if (!place || place->size() != 2)
    return records::damaged(a_lease, "has a key of another form");
  auto parts = records::decode(bytes, a_lease);
  if (!parts)
    return parts.error();
  json::reader in{parts->body};
  sandbox_lease lease;
  lease.organization = organization_id{std::string{(*place)[0]}};
  lease.tag = (*place)[1];
  auto provider = read_provider(in.required_text("provider"));
  lease.run = run_id{in.required_text("run")};
  lease.sandbox = in.required_text("sandbox");
  lease.key = in.text("key").value_or("");
  auto written = parse_timestamp(in.required_text("written_at"));
  if (in.finish_lenient() || !provider || !written)
    return records::damaged(a_lease, "does not read");
  lease.provider = *provider;
  lease.written_at = *written;
  return lease;
}

} // namespace

result<std::unique_ptr<lease_store>>
lease_store::open(std::shared_ptr<database> db) {
  std::unique_ptr<lease_store> made{new lease_store{std::move(db)}};
  if (auto read = made->read_all(); !read)
    return read.error();
  return made;
}

result<void> lease_store::read_all() {
  generation_ = db_->generation();
  leases_.clear();
  return db_->scan(column::sandboxes, {},
                   [this](auto key, auto bytes) -> result<bool> {
                     auto lease = decode(key, bytes);
                     if (!lease)
                       return lease.error();
                     leases_[lease->tag] = std::move(*lease);
                     return true;
                   });
}

result<void> lease_store::recover() {
  if (auto recovered = db_->recover(); !recovered)
    return recovered;
  if (db_->generation() != generation_)
    return read_all();
  return {};
}

result<void> lease_store::put(const sandbox_lease& lease, durability how) {
  batch changes;
  changes.put(column::sandboxes, place_of(lease), encode(lease));
  if (auto written = db_->write(changes, how); !written)
    return written;
  leases_[lease.tag] = lease;
  return {};
}

result<void> lease_store::write(const sandbox_lease& lease) {
  std::lock_guard guard{mutex_};
  if (auto recovered = recover(); !recovered)
    return recovered;
  return put(lease, durability::synced);
}

result<void> lease_store::confirm(const std::string& tag,
                                  const std::string& sandbox) {
  std::lock_guard guard{mutex_};
  if (auto recovered = recover(); !recovered)
    return recovered;
  auto i = leases_.find(tag);
  if (i == leases_.end())
    return {};
  auto lease = i->second;
  lease.sandbox = sandbox;
  return put(lease, durability::buffered);
}

result<void> lease_store::release(const std::string& tag) {
  std::lock_guard guard{mutex_};
  if (auto recovered = recover(); !recovered)
    return recovered;
  auto i = leases_.find(tag);
  if (i == leases_.end())
    return {};
  batch changes;
  changes.erase(column::sandboxes, place_of(i->second));
  auto written = db_->write(changes, durability::buffered);
  if (written)
    leases_.erase(i);
  return written;
}

std::vector<sandbox_lease> lease_store::list(backend_name provider) const {
  std::lock_guard guard{mutex_};
  std::vector<sandbox_lease> out;
  for (const auto& [tag, lease] : leases_)
    if (lease.provider == provider)
      out.push_back(lease);
  return out;
}

} // namespace troupe
