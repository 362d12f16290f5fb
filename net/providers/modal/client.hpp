#pragma once

#include "net/providers/modal/messages.hpp"
#include "net/providers/modal/provider.hpp"
#include "runtime/sandboxes/async_semaphore.hpp"

#include <map>
#include <memory>
#include <string>

namespace troupe::net {

/// Modal's control plane: credentials, token refresh, retries, and the few
/// lookups that are the same for every sandbox.
class modal_client : public std::enable_shared_from_this<modal_client> {
public:
  modal_client(boost::asio::any_io_executor executor,
               std::shared_ptr<grpc_channel> channel, modal_options options,
               std::string host);

  struct answer {
    result<std::string> bytes;
    bool may_have_acted = false;
    grpc_code code = grpc_code::ok;
  };
  /// One unary call of modal.client.ModalClient, repeated as Modal's own
  /// clients do: with one idempotency key for all tries.
  boost::asio::awaitable<answer> call(std::string method, std::string message,
                                      call_scope scope);

  boost::asio::awaitable<result<std::string>> app(call_scope scope);
  /// Built, or from Modal's cache. Layer by layer.
  boost::asio::awaitable<result<std::string>>
  image(std::vector<modal::image_layer> layers, call_scope scope);

  /// Whether the app or that image would not be asked for now.
  bool remembers(const std::vector<modal::image_layer>& layers) const;
  /// Modal knows one of them no more: apps are stopped and images deleted. By
  /// their ids, since others may have asked for new ones meanwhile.
  void forget(const std::string& app, const std::string& image);

private:
  boost::asio::awaitable<result<void>> refresh_token(call_scope scope);
  boost::asio::awaitable<result<void>> ask_for_token(call_scope scope);
  boost::asio::awaitable<result<std::string>> look_up_app(call_scope scope);
  boost::asio::awaitable<result<std::string>> builder(call_scope scope);
  boost::asio::awaitable<result<std::string>>
  build(std::vector<modal::image_layer> layers, call_scope scope);
  boost::asio::awaitable<result<std::string>> layer(modal::image_layer what,
                                                    std::string app,
                                                    std::string builder,
                                                    call_scope scope);
  boost::asio::awaitable<grpc_reply> join_image(modal::image_state& state,
                                                call_scope scope);
  header_list metadata(bool with_token) const;
  boost::asio::awaitable<answer> try_call(std::string method,
                                          std::string message, call_scope scope,
                                          bool with_token);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<grpc_channel> channel_;
  modal_options options_;
  std::string host_;
  std::string token_;
  std::chrono::steady_clock::time_point token_fresh_until_{};
  std::chrono::steady_clock::time_point token_ends_{};
  // One asks, the others wait for its answer. An image takes minutes: who
  // needs another one does not wait for that.
  async_semaphore asking_for_token_{executor_, 1};
  async_semaphore looking_up_app_{executor_, 1};
  std::map<std::string, std::shared_ptr<async_semaphore>>
    building_; // by commands
  std::string app_;
  std::string builder_;
  std::map<std::string, std::string> images_; // by their commands; bounded
};

} // namespace troupe::net
