// Whole trees of a sandbox's files: searched, as archives, watched.
#include "runtime/local/sandbox/hand_errors.hpp"
#include "runtime/local/sandbox/living_files.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace troupe {

namespace asio = boost::asio;

using inside::file_kind;
using inside::hand_message;
using inside::hand_word;

namespace {

constexpr std::size_t max_watches = 4; // of a sandbox; each has a hand

std::string below(const std::string& folder, const std::string& path) {
  return folder + (folder.ends_with('/') ? "" : "/") + path;
}

file_event event_of(inside::hand_event e) {
  static_assert(static_cast<int>(file_event::kind::overflow)
                == static_cast<int>(inside::event_kind::overflow));
  return {static_cast<file_event::kind>(e.what), std::move(e.path),
          std::move(e.to)};
}

/// A hand that tells, until this goes.
class living_watch final : public file_watch {
public:
  explicit living_watch(std::shared_ptr<hand_client> hand)
      : hand_{std::move(hand)} {}
  ~living_watch() override { hand_->stop(); }

private:
  std::shared_ptr<hand_client> hand_;
};

asio::awaitable<void>
tell_events(std::shared_ptr<hand_client> hand, file_watch_events to,
            [[maybe_unused]] std::shared_ptr<void> counted) {
  for (;;) {
    auto some = co_await hand->next_events();
    if (hand->is_stopped())
      co_return;
    if (!some) {
      to.ended(some.error());
      co_return;
    }
    std::vector<file_event> all;
    all.reserve(some->size());
    for (auto& each : *some)
      all.push_back(event_of(std::move(each)));
    to.told(std::move(all));
  }
}

} // namespace

sandbox_files::later<files_found>
living_files::do_search(sandbox_handle in, file_search what, call_scope scope) {
  auto question = about(hand_word::search, what.path);
  question.name = what.name;
  question.text = what.text;
  question.ignore_case = what.ignore_case;
  question.most = what.most;
  auto found = co_await ask(std::move(in), std::move(question), scope);
  if (!found)
    co_return found.error();
  files_found out;
  out.whole = found->done.whole;
  out.matches.reserve(found->matches.size());
  for (auto& m : found->matches)
    out.matches.push_back(
      {below(what.path, m.path), m.kind == file_kind::folder,
       m.kind == file_kind::link, m.bytes, m.line, std::move(m.text)});
  co_return out;
}

sandbox_files::later<archive_count>
living_files::transfer(sandbox_handle in, hand_word which, std::string path,
                       unique_fd stream, call_scope scope) {
  auto question = about(which, std::move(path));
  enclosed with;
  with.stream = std::move(stream);
  auto done
    = co_await ask(std::move(in), std::move(question), std::move(with), scope);
  if (!done)
    co_return done.error();
  co_return archive_count{done->done.count, done->done.bytes};
}

sandbox_files::later<file_watch_ptr>
living_files::do_watch(sandbox_handle in, std::string path, bool deep,
                       file_watch_events events, call_scope scope) {
  auto found = find_(in);
  if (!found)
    co_return found.error();
  auto place = *found;
  if (place.hands->watching >= max_watches)
    co_return fail(ec::exhausted,
                   "4 folders of the sandbox are watched "
                   "already; end one");
  ++place.hands->watching;
  std::shared_ptr<void> counted{
    place.hands.get(), [hands = place.hands](void*) { --hands->watching; }};
  auto socket = place.sandbox->make_hand();
  if (!socket)
    co_return socket.error();
  auto hand = std::make_shared<hand_client>(executor_, place.sandbox,
                                            std::move(*socket));
  auto question = about(hand_word::watch, path);
  question.recursive = deep;
  unique_fd nothing;
  auto begun
    = co_await hand->ask(std::move(question), std::move(nothing), scope);
  if (!begun)
    co_return begun.error();
  if (begun->done.error != 0)
    co_return hand_refusal(hand_word::watch, begun->done.error, path);
  asio::co_spawn(executor_,
                 tell_events(hand, std::move(events), std::move(counted)),
                 asio::detached);
  co_return file_watch_ptr{std::make_shared<living_watch>(std::move(hand))};
}

} // namespace troupe
