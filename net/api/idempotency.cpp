#include "net/api/idempotency.hpp"

#include "runtime/digest.hpp"
#include "runtime/model/ids.hpp"

namespace troupe::net {

namespace {

constexpr std::size_t longest_key = 255;
// Larger answers are made again: nothing that changes anything is that large.
constexpr std::size_t largest_body = 64u << 10;

} // namespace

answer_memory::answer_memory(const api_options& options)
    : most_{options.remembered_answers}, keep_{options.remember_for},
      salt_{make_uuid()} {}

std::string answer_memory::fingerprint(const request& in) const {
  std::string text{salt_};
  text.append(to_string(in.verb)).append(" ").append(in.path);
  text.append("?").append(in.query).append("\n").append(in.body);
  return hex(sha256(text));
}

route_handler answer_memory::remembering(route_handler next) {
  return [self = shared_from_this(), next = std::move(next)](exchange_ptr ex) {
    auto given = ex->in().field("idempotency-key");
    if (given.empty()) {
      next(std::move(ex));
      return;
    }
    if (given.size() > longest_key || ex->in().count("idempotency-key") > 1) {
      ex->refuse(400, "bad_idempotency_key",
                 "Idempotency-Key is one text of at most 255 bytes");
      return;
    }
    auto key = ex->who().organization.str() + '\n' + std::string{given};
    if (!self->enter(*ex, key))
      return;
    ex->before_answer([self, key](const response& r) { self->leave(key, r); });
    next(std::move(ex));
  };
}

bool answer_memory::enter(exchange& ex, const std::string& key) {
  auto mark = fingerprint(ex.in());
  response again;
  {
    std::lock_guard lock{mutex_};
    forget_old();
    auto [i, fresh] = entries_.try_emplace(key);
    auto& e = i->second;
    if (fresh) {
      e.fingerprint = std::move(mark);
      e.at = clock::now();
      order_.emplace_back(e.at, key);
      return true;
    }
    again.status = e.fingerprint != mark ? 422 : e.done ? e.status : 409;
    if (e.done && again.status == e.status) {
      again.type = e.type;
      again.body = e.body;
      again.fields = e.fields;
    }
  }
  if (!again.body.empty() || again.status == 204) {
    again.fields.emplace_back("idempotency-replayed", "true");
    ex.answer(std::move(again));
  } else if (again.status == 422) {
    ex.refuse(422, "idempotency_key_reused",
              "this Idempotency-Key was used for another request");
  } else {
    ex.refuse(409, "idempotency_key_in_use",
              "the first request with this Idempotency-Key is under way");
  }
  return false;
}

void answer_memory::leave(const std::string& key, const response& r) {
  std::lock_guard lock{mutex_};
  auto i = entries_.find(key);
  if (i == entries_.end())
    return;
  // What may turn out otherwise next time is worth another try.
  if (r.status >= 500 || r.status == 429 || r.body.size() > largest_body) {
    entries_.erase(i);
    return;
  }
  auto& e = i->second;
  e.done = true;
  e.status = r.status;
  e.type = r.type;
  e.body = r.body;
  e.fields = r.fields;
}

void answer_memory::forget_old() {
  auto now = clock::now();
  while (!order_.empty()
         && (order_.size() > most_ || now - order_.front().first > keep_)) {
    auto i = entries_.find(order_.front().second);
    // An entry may have been erased and made again since.
    if (i != entries_.end() && i->second.at == order_.front().first)
      entries_.erase(i);
    order_.pop_front();
  }
}

} // namespace troupe::net
