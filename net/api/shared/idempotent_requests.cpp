#include "net/api/shared/idempotent_requests.hpp"

#include "net/http/problem.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/ids.hpp"

#include <utility>

namespace troupe::net {

namespace {

constexpr std::size_t longest_key = 255;
// Larger answers are made again: nothing that changes anything is that large.
constexpr std::size_t largest_body = 64u << 10;

/// Everything that makes a request this one, behind `salt`.
secret text_of(const request& in, std::string_view salt = {}) {
  const auto verb = to_string(in.verb);
  std::string text;
  text.reserve(salt.size() + verb.size() + in.path.size() + in.query.size()
               + in.body.size() + 3); // no copy of it is left behind
  text.append(salt).append(verb).append(" ").append(in.path);
  text.append("?").append(in.query).append("\n").append(in.body);
  return secret{std::move(text)};
}

// Names and types are constants of ours: these are what changes answer with.
constexpr std::string_view kept_fields[] = {"etag", "location"};
constexpr std::string_view kept_types[] = {json_type, problem_type};

std::string to_archive(const response& r) {
  json::object o;
  o["status"] = r.status;
  o["type"] = r.type;
  o["body"] = r.body;
  json::object fields;
  for (const auto& [name, value] : r.fields)
    fields[name] = value;
  o["fields"] = std::move(fields);
  return json::to_text(o);
}

std::optional<response> from_archive(std::string_view text) {
  auto o = json::parse_object(text);
  const auto* status = o ? o->if_contains("status") : nullptr;
  const auto* type = o ? o->if_contains("type") : nullptr;
  const auto* body = o ? o->if_contains("body") : nullptr;
  const auto* fields = o ? o->if_contains("fields") : nullptr;
  if (!status || !status->is_int64() || !type || !type->is_string() || !body
      || !body->is_string() || !fields || !fields->is_object())
    return std::nullopt;
  response r;
  r.status = static_cast<int>(status->get_int64());
  r.type = "";
  for (auto known : kept_types)
    if (type->get_string() == known)
      r.type = known;
  r.body = std::string{body->get_string()};
  for (auto known : kept_fields)
    if (const auto* v = fields->get_object().if_contains(known);
        v && v->is_string())
      r.fields.emplace_back(known, std::string{v->get_string()});
  return r;
}

/// What is remembered in place of an answer with a secret.
response secret_shown_once(const response& r, std::string_view request_id) {
  std::string place;
  for (const auto& [name, value] : r.fields)
    if (name == "location")
      place = value;
  error why;
  why.text = "this Idempotency-Key has created " + place
    + ", and its secret is shown only once: if that response was lost, delete "
      "it and create another with a new key";
  auto out = write_problem(409, "secret_not_repeatable", why, request_id, {});
  out.fields.emplace_back("location", std::move(place));
  return out;
}

} // namespace

void refuse_reused_key(exchange& ex) {
  ex.refuse(422, "idempotency_key_reused",
            "this Idempotency-Key was used for another request; use a new key "
            "for a new request");
}

std::optional<std::string> idempotency_key_of(exchange& ex) {
  auto given = ex.in().field("idempotency-key");
  if (given.size() <= longest_key && ex.in().count("idempotency-key") <= 1)
    return std::string{given};
  ex.refuse(400, "bad_idempotency_key",
            "Idempotency-Key must be a single string of at most 255 bytes");
  return std::nullopt;
}

void mark_replayed(response& r) {
  r.fields.emplace_back("idempotency-replayed", "true");
}

idempotency_cache::idempotency_cache(const api_options& options)
    : most_{options.remembered_answers}, keep_{options.remember_for},
      archive_{options.archive}, salt_{make_uuid()} {}

std::string idempotency_cache::fingerprint(const request& in) const {
  return hex(sha256(text_of(in, salt_).reveal()));
}

route_handler idempotency_cache::remembering(route_handler next,
                                             answer_holds holds) {
  return [self = shared_from_this(), next = std::move(next),
          holds](exchange_ptr ex) {
    auto given = idempotency_key_of(*ex);
    if (!given)
      return;
    if (given->empty()) {
      next(std::move(ex));
      return;
    }
    auto key = ex->who().organization.str() + '\n' + *given;
    auto carry_out = [self, key, next, holds](exchange_ptr ex) {
      // Only what the handler says is remembered: a refusal of ours is about
      // this request, and the key belongs to another one.
      ex->before_answer([self, key, holds, who = ex->who().organization,
                         id = ex->in().id](const response& r) {
        bool hidden = holds == answer_holds::a_secret && r.status < 300;
        self->store_response(who, key, hidden ? secret_shown_once(r, id) : r);
      });
      next(std::move(ex));
    };
    response again;
    switch (self->begin(ex->in(), key, again)) {
    case verdict::fresh:
      if (self->archive_)
        self->look_up(ex, key, carry_out);
      else
        carry_out(std::move(ex));
      return;
    case verdict::other:
      refuse_reused_key(*ex);
      return;
    case verdict::under_way:
      ex->refuse(409, "idempotency_key_in_use",
                 "the first request with this Idempotency-Key is in progress; "
                 "try again when it has ended");
      return;
    case verdict::answered:
      mark_replayed(again);
      ex->answer(std::move(again));
    }
  };
}

idempotency_cache::verdict idempotency_cache::begin(const request& in,
                                                    const std::string& key,
                                                    response& again) {
  auto mark = fingerprint(in);
  std::lock_guard lock{mutex_};
  evict_expired();
  auto [i, fresh] = entries_.try_emplace(key);
  auto& e = i->second;
  if (fresh) {
    e.fingerprint = std::move(mark);
    e.at = clock::now();
    order_.emplace_back(e.at, key);
    return verdict::fresh;
  }
  if (e.fingerprint != mark)
    return verdict::other;
  if (!e.done)
    return verdict::under_way;
  again.status = e.status;
  again.type = e.type;
  again.body = e.body;
  again.fields = e.fields;
  return verdict::answered;
}

void idempotency_cache::look_up(const exchange_ptr& ex, const std::string& key,
                                const route_handler& next) {
  auto done = [self = shared_from_this(), ex, key,
               next](result<archived_answer> found) {
    if (found) {
      self->resume(ex, key, next, std::move(*found));
    } else {
      self->forget(key);
      ex->fail(found.error());
    }
  };
  archive_->enter(ex->who().organization, key, text_of(ex->in()),
                  std::move(done));
}

void idempotency_cache::resume(const exchange_ptr& ex, const std::string& key,
                               const route_handler& next,
                               archived_answer found) {
  if (found.what == archived_answer::kind::mine) {
    std::unique_lock lock{mutex_};
    if (auto i = entries_.find(key); i != entries_.end())
      i->second.ticket = std::move(found.ticket);
    lock.unlock();
    next(ex);
    return;
  }
  forget(key); // the archive knows better, and will next time
  if (found.what == archived_answer::kind::other) {
    refuse_reused_key(*ex);
    return;
  }
  auto again = found.what == archived_answer::kind::answered
    ? from_archive(found.answer)
    : std::nullopt;
  if (again) {
    mark_replayed(*again);
    ex->answer(std::move(*again));
    return;
  }
  ex->refuse(409, "idempotency_key_in_use",
             "a request with this Idempotency-Key was started before the "
             "engine was restarted, and it is unknown whether it was executed: "
             "check its effects, then use a new key");
}

void idempotency_cache::forget(const std::string& key) {
  std::lock_guard lock{mutex_};
  entries_.erase(key);
}

void idempotency_cache::store_response(const organization_id& who,
                                       const std::string& key,
                                       const response& r) {
  std::lock_guard lock{mutex_};
  auto i = entries_.find(key);
  if (i == entries_.end())
    return;
  auto& e = i->second;
  // What may turn out otherwise next time is worth another try.
  if (r.status >= 500 || r.status == 429 || r.body.size() > largest_body) {
    if (!e.ticket.empty())
      archive_->release(who, key, std::move(e.ticket));
    entries_.erase(i);
    return;
  }
  if (!e.ticket.empty())
    archive_->keep(who, key, std::exchange(e.ticket, {}), to_archive(r));
  e.done = true;
  e.status = r.status;
  e.type = r.type;
  e.body = r.body;
  e.fields = r.fields;
}

void idempotency_cache::evict_expired() {
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
