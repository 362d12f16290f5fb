// sealer's rotation of the master key. In the store, in this order:
//
//   master_next = fresh, with its check value   "announced"
//   each data key wrapped with fresh            "rewrapped"
//   master_current = fresh, next gone,          "switched"
//     old one marked as retired
//   old one dropped by the key source           "dropped"
//
// The fresh key is with the key source before the first of them, so at every
// point both keys that the store speaks of can be found.
#include "storage/sealing/sealer.hpp"

namespace troupe {

namespace {

// Small, because sealing waits meanwhile; large enough for 10,000 tenants in a
// few hundred syncs.
constexpr std::size_t keys_per_batch = 64;

void report(const progress_sink& tell, std::string step, std::size_t done = 0,
            std::size_t total = 0) {
  if (tell)
    tell({std::move(step), done, total});
}

} // namespace

std::string sealer::master_id() const {
  std::shared_lock guard{keys_mutex_};
  return wrapping_;
}

result<void> sealer::rotate_master(master_key fresh,
                                   const progress_sink& tell) {
  std::unique_lock alone{rotating_, std::try_to_lock};
  if (!alone)
    return error{
      ec::conflict, "a rotation of the master key is in progress", {}, {}};
  auto record = read_master_record(*db_);
  if (!record)
    return record.error();
  if (!record->next.empty() && record->next != fresh.id)
    return error{ec::conflict,
                 "a rotation to master key " + record->next
                   + " has not finished; finish it first",
                 {},
                 {}};
  if (record->next.empty() && record->current == fresh.id)
    return error{ec::conflict, "this master key is in use already", {}, {}};
  if (record->next.empty()) {
    auto check = make_check(fresh, random_);
    if (!check)
      return check.error();
    auto id = fresh.id;
    std::unique_lock guard{keys_mutex_};
    if (auto added = source_.add(std::move(fresh)); !added)
      return added;
    guard.unlock();
    report(tell, "added");
    guard.lock();
    batch b;
    b.put(column::meta, check_key(id), *check);
    b.put(column::meta, meta_keys::master_next(), id);
    if (auto written = db_->write(b); !written)
      return written;
    wrapping_ = id;
  }
  report(tell, "announced");
  return finish_rotation(tell);
}

result<void> sealer::resume_rotation(const progress_sink& tell) {
  std::unique_lock alone{rotating_, std::try_to_lock};
  if (!alone)
    return error{
      ec::conflict, "a rotation of the master key is in progress", {}, {}};
  auto record = read_master_record(*db_);
  if (!record)
    return record.error();
  if (!record->next.empty())
    return finish_rotation(tell);
  if (!record->retired.empty())
    return drop_retired(tell);
  return {};
}

result<void> sealer::finish_rotation(const progress_sink& tell) {
  if (auto rewrapped = rewrap_all(tell); !rewrapped)
    return rewrapped;
  auto record = read_master_record(*db_);
  if (!record)
    return record.error();
  batch b;
  b.put(column::meta, meta_keys::master_current(), record->next);
  b.erase(column::meta, meta_keys::master_next());
  b.erase(column::meta, check_key(record->current));
  b.put(column::meta, meta_keys::master_retired(record->current), "");
  if (auto written = db_->write(b); !written)
    return written;
  report(tell, "switched");
  return drop_retired(tell);
}

result<void> sealer::rewrap_all(const progress_sink& tell) {
  // Keys made from now on are wrapped with the fresh one, so this list is all.
  std::vector<wrapped_key> old;
  auto wrapping = master_id(); // before the scan: it must not wait for our lock
  auto listed = each_wrapped_key(*db_, [&](wrapped_key w) -> result<void> {
    if (w.master != wrapping)
      old.push_back(std::move(w));
    return {};
  });
  if (!listed)
    return listed;
  for (std::size_t done = 0; done < old.size();) {
    // Alone, so that no key is retired between reading and writing it.
    std::unique_lock guard{keys_mutex_};
    batch b;
    auto end = std::min(old.size(), done + keys_per_batch);
    for (; done < end; ++done) {
      const auto& w = old[done];
      auto still = db_->get(column::meta, w.key());
      if (!still)
        return still.error();
      // Gone, or forgotten and made anew: not what was listed.
      if (*still != w.value())
        continue;
      auto key = unwrap(w, *source_.find(w.master));
      if (!key)
        return key.error();
      auto fresh = wrap(*key, *source_.find(wrapping_), w.organization,
                        w.version, random_);
      if (!fresh)
        return fresh.error();
      b.put(column::meta, fresh->key(), fresh->value());
    }
    if (auto written = db_->write(b); !written)
      return written;
    guard.unlock();
    report(tell, "rewrapped", done, old.size());
  }
  return {};
}

result<void> sealer::drop_retired(const progress_sink& tell) {
  auto record = read_master_record(*db_);
  if (!record)
    return record.error();
  batch b;
  for (const auto& id : record->retired) {
    std::unique_lock guard{keys_mutex_};
    if (auto dropped = source_.drop(id); !dropped)
      return dropped;
    b.erase(column::meta, meta_keys::master_retired(id));
  }
  report(tell, "dropped");
  return db_->write(b);
}

} // namespace troupe
