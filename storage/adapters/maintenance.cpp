#include "storage/adapters/maintenance.hpp"

#include "runtime/base/log.hpp"
#include "storage/maintenance/backup.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <utility>

namespace troupe {

namespace {

/// A key that the operator has put beside the one in use, else a new one.
result<master_key> next_key(const store_options& options,
                            const std::string& in_use) {
  auto where = options.master;
  if (where.file.empty())
    where.file = options.data_directory / "master.key";
  auto source = key_source::open(where, false);
  if (!source)
    return source.error();
  for (auto& key : source->all())
    if (key.id != in_use)
      return key.clone();
  return master_key::make(system_random());
}

class stored_maintenance final : public maintenance {
public:
  stored_maintenance(std::shared_ptr<store> kept, store_options opened_with)
      : kept_{std::move(kept)}, options_{std::move(opened_with)} {}

  ~stored_maintenance() override { disk_.join(); }

  void back_up(std::filesystem::path directory,
               std::function<void(result<backup_facts>)> done) override {
    alone(std::move(done), [this, directory = std::move(directory)] {
      return copy_to(directory);
    });
  }

  void
  rotate_master(std::function<void(result<master_key_change>)> done) override {
    alone(std::move(done), [this] { return rotate(); });
  }

private:
  template <class T, class Work>
  void alone(std::function<void(result<T>)> done, Work work) {
    if (busy_.exchange(true)) {
      done(
        error{ec::conflict, "a backup or a rotation is in progress", {}, {}});
      return;
    }
    boost::asio::post(disk_,
                      [this, done = std::move(done), work = std::move(work)] {
                        auto outcome = carry_out<T>(work);
                        busy_ = false;
                        done(std::move(outcome));
                      });
  }

  /// The disk and the cipher may throw; the thread must not.
  template <class T, class Work>
  static result<T> carry_out(const Work& work) {
    try {
      return work();
    } catch (const std::exception& e) {
      return error{ec::internal, e.what(), {}, {}};
    }
  }

  result<backup_facts> copy_to(const std::filesystem::path& directory) {
    auto made = create_backup(*kept_->db, directory);
    if (!made)
      return made.error();
    return backup_facts{made->files, made->bytes, made->format,
                        made->master_key};
  }

  result<master_key_change> rotate() {
    auto old = kept_->seals->master_id();
    auto fresh = next_key(options_, old);
    if (!fresh)
      return fresh.error();
    auto tell = [](const rotation_progress& p) {
      log::info("rotating the master key",
                {{"step", p.step},
                 {"done", std::to_string(p.done)},
                 {"total", std::to_string(p.total)}});
    };
    if (auto done = kept_->seals->rotate_master(std::move(*fresh), tell); !done)
      return done.error();
    return master_key_change{old, kept_->seals->master_id()};
  }

  std::shared_ptr<store> kept_;
  store_options options_;
  std::atomic<bool> busy_ = false;
  boost::asio::thread_pool disk_{1};
};

} // namespace

std::unique_ptr<maintenance>
make_stored_maintenance(std::shared_ptr<store> kept,
                        store_options opened_with) {
  return std::make_unique<stored_maintenance>(std::move(kept),
                                              std::move(opened_with));
}

} // namespace troupe
