#pragma once

#include "net/providers/modal/client.hpp"
#include "runtime/engine/sandbox.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

/// Modal's sandboxes, made, found, taken up and ended. There are two
/// generations with calls of their own: the newer one is asked first, the
/// older one where that is not served.
class modal_sandboxes {
public:
  static constexpr std::string_view task_key = "task_id";
  static constexpr std::string_view jwt_key = "jwt";
  static constexpr std::string_view url_key = "router_url";

  modal_sandboxes(boost::asio::any_io_executor executor,
                  std::shared_ptr<modal_client> client, modal_options options);

  boost::asio::awaitable<sandbox_creation> create(sandbox_request wanted,
                                                  call_scope scope);
  /// `not_found` when it has ended.
  boost::asio::awaitable<result<sandbox_handle>>
  reconnect(sandbox_handle sandbox, call_scope scope);
  /// With a new token for its router.
  boost::asio::awaitable<result<sandbox_handle>> enter(sandbox_handle sandbox,
                                                       call_scope scope);
  boost::asio::awaitable<result<void>> destroy(std::string id,
                                               call_scope scope);
  boost::asio::awaitable<result<std::vector<tagged_sandbox>>>
  list(call_scope scope);

private:
  /// One creation, with which ids, and whether it was one of those that Modal
  /// does not know.
  struct attempt {
    sandbox_creation made;
    std::string app{};
    std::string image{};
    bool unknown_id = false;
  };
  boost::asio::awaitable<attempt>
  try_to_create(sandbox_request wanted, std::vector<modal::image_layer> layers,
                call_scope scope);
  boost::asio::awaitable<attempt>
  create_older(modal::sandbox_create_request what, call_scope scope);
  boost::asio::awaitable<result<std::string>> store_secret(environment env,
                                                           call_scope scope);
  boost::asio::awaitable<result<sandbox_handle>> enter_older(std::string id,
                                                             call_scope scope);
  boost::asio::awaitable<result<std::string>> task_of(std::string id,
                                                      call_scope scope);
  boost::asio::awaitable<result<std::vector<tagged_sandbox>>>
  list_of(std::string app, call_scope scope);
  boost::asio::awaitable<result<void>>
  list_generation(std::string method, std::string app,
                  std::vector<tagged_sandbox>& into, call_scope scope);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<modal_client> client_;
  modal_options options_;
  bool newer_refused_ = false;
};

/// Whether an id is one of the older generation.
bool is_older_modal_id(std::string_view id);

} // namespace troupe::net
