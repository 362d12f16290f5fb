#include "actors/sandbox/gateway/tree_gateway.hpp"

#include "actors/sandbox/gateway/live_watch.hpp"

#include <boost/asio/this_coro.hpp>

namespace troupe {

namespace {

/// As slow as the client of an archive may be.
constexpr std::chrono::minutes longest_transfer{30};

/// On the place's executor, where the watch belongs.
boost::asio::awaitable<result<sandbox_watch_ptr>>
begin_watch(sandbox_files& files, sandbox_handle box, std::string path,
            bool deep, call_scope scope) {
  auto heard = std::make_shared<live_watch::queue>();
  file_watch_events events;
  events.told
    = [heard](std::vector<file_event> some) { heard->tell(std::move(some)); };
  events.ended = [heard](error why) { heard->end(std::move(why)); };
  auto begun = co_await files.watch(std::move(box), std::move(path), deep,
                                    std::move(events), std::move(scope));
  if (!begun)
    co_return begun.error();
  auto executor = co_await boost::asio::this_coro::executor;
  co_return sandbox_watch_ptr{std::make_shared<live_watch>(
    std::move(heard), std::move(*begun), std::move(executor))};
}

} // namespace

void tree_gateway::read_part(caller who, sandbox_id id, std::string path,
                             byte_range which, done<file_part> then) {
  with_files<file_part>(
    who, id,
    [path, which](sandbox_files& files, const sandbox_handle& box,
                  call_scope scope) {
      return files.read_part(box, path, which, std::move(scope));
    },
    std::move(then));
}

void tree_gateway::search(caller who, sandbox_id id, file_search what,
                          done<files_found> then) {
  with_files<files_found>(
    who, id,
    [what](sandbox_files& files, const sandbox_handle& box, call_scope scope) {
      return files.search(box, what, std::move(scope));
    },
    std::move(then));
}

void tree_gateway::pack(caller who, sandbox_id id, std::string path,
                        unique_fd to, done<archive_count> then) {
  transfer(who, id, &sandbox_files::pack, std::move(path), std::move(to),
           std::move(then));
}

void tree_gateway::unpack(caller who, sandbox_id id, std::string path,
                          unique_fd from, done<archive_count> then) {
  transfer(who, id, &sandbox_files::unpack, std::move(path), std::move(from),
           std::move(then));
}

void tree_gateway::transfer(const caller& who, const sandbox_id& id,
                            transfer_call call, std::string path,
                            unique_fd stream, done<archive_count> then) {
  auto shared = std::make_shared<unique_fd>(std::move(stream));
  with_files<archive_count>(
    who, id,
    [call, path, shared](sandbox_files& files, const sandbox_handle& box,
                         call_scope scope) {
      return (files.*call)(box, path, std::move(*shared), std::move(scope));
    },
    std::move(then), longest_transfer);
}

void tree_gateway::watch(caller who, sandbox_id id, std::string path, bool deep,
                         done<sandbox_watch_ptr> then) {
  with_files<sandbox_watch_ptr>(
    who, id,
    [path, deep](sandbox_files& files, const sandbox_handle& box,
                 call_scope scope) {
      return begin_watch(files, box, path, deep, std::move(scope));
    },
    std::move(then));
}

} // namespace troupe
