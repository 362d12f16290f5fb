#include "storage/adapters/response_store.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/model/codec/codec.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>

namespace troupe {

namespace {

constexpr std::size_t most_waiting = 1'024; // for the disk

/// Runs have keys in the same column: theirs never begin like this.
std::string place_of(const std::string& key) {
  return "http " + hex(sha256(key));
}

class stored_responses final : public response_store {
public:
  explicit stored_responses(std::shared_ptr<store> kept)
      : kept_{std::move(kept)} {}
  ~stored_responses() override { disk_.join(); }
  void stop() override { disk_.join(); }

  void enter(organization_id who, std::string key, secret request,
             handler<archived_answer> done) override {
    if (++waiting_ > most_waiting) {
      --waiting_;
      return done(error{ec::exhausted,
                        "too many changes are waiting for the disk",
                        {},
                        std::chrono::milliseconds{1'000}});
    }
    auto work
      = [this, who = std::move(who), place = place_of(key),
         digest = hex(sha256(request.reveal())), done = std::move(done)] {
          --waiting_;
          done(claim(who, place, digest));
        };
    boost::asio::post(disk_, std::move(work));
  }

  void keep(organization_id who, std::string key, std::string ticket,
            std::string answer) override {
    auto work = [this, who = std::move(who), place = place_of(key),
                 run = run_id{ticket}, answer = std::move(answer)] {
      // Unkept, the key stays open: nobody changes anything twice.
      (void)kept_->idempotency->finish(who, place, run, answer, now());
    };
    boost::asio::post(disk_, std::move(work));
  }

  void release(organization_id who, std::string key,
               std::string ticket) override {
    auto work = [this, who = std::move(who), place = place_of(key),
                 run = run_id{ticket}] {
      (void)kept_->idempotency->release(who, place, run);
    };
    boost::asio::post(disk_, std::move(work));
  }

private:
  result<archived_answer> claim(const organization_id& who,
                                const std::string& place,
                                const std::string& digest) {
    using kind = archived_answer::kind;
    archived_answer found;
    auto run = run_id::make();
    auto seen = kept_->idempotency->claim(who, place, digest, run, now());
    if (!seen) {
      if (seen.error().code != ec::conflict)
        return seen.error();
      found.what = kind::other;
      return found;
    }
    switch (seen->what) {
    case idempotency_claim::kind::mine:
      found.ticket = run.str();
      break;
    case idempotency_claim::kind::running:
      found.what = kind::open;
      break;
    case idempotency_claim::kind::ended:
      found.what = seen->answer.empty() ? kind::open : kind::answered;
      found.answer = std::move(seen->answer);
      break;
    }
    return found;
  }

  const std::shared_ptr<store> kept_;
  std::atomic<std::size_t> waiting_{0};
  boost::asio::thread_pool disk_{1};
};

} // namespace

std::shared_ptr<response_store>
make_stored_responses(std::shared_ptr<store> kept) {
  return std::make_shared<stored_responses>(std::move(kept));
}

} // namespace troupe
