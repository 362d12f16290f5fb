#pragma once

#include "app/cli/engine_locator.hpp"
#include "runtime/async/cancellation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

/// A message on its way to the engine and back.
struct mcp_order {
  std::string line;
  std::string id; // as JSON
  std::string method;
  std::string name; // for the field Mcp-Name
  bool modern = false;
  bool cancelled = false; // then nothing is answered
  std::shared_ptr<cancellation> abort = std::make_shared<cancellation>();
};

/// The engine's /mcp for one client: what its fields and its session of the
/// protocol are, so that the client needs neither.
class mcp_exchange {
public:
  using writer = std::function<void(std::string_view message)>;
  using later = boost::asio::awaitable<void>;

  mcp_exchange(boost::asio::any_io_executor executor, engine_locator place,
               std::vector<std::pair<std::string, std::string>> fields,
               std::string version, writer write);
  ~mcp_exchange();

  /// Nothing more is to be heard of changes.
  void stop() { heard_->cancel(); }
  bool listens() const { return listens_; }

  /// Writes each message that the engine answers with.
  later send(std::shared_ptr<mcp_order> order);
  /// Tells that a legacy request is not wanted any more.
  later cancel(std::string id);

private:
  net::client_request request(std::string body) const;
  net::client_request request_for(const mcp_order& order) const;
  boost::asio::awaitable<result<void>> open_session();
  later listen();
  later post(std::shared_ptr<mcp_order> order, bool again);
  void answer(const mcp_order& order, const net::client_exchange& came);

  const boost::asio::any_io_executor executor_;
  engine_locator place_;
  std::optional<net::http_client> client_;
  const std::vector<std::pair<std::string, std::string>> fields_;
  const std::string version_; // of the legacy form
  const writer write_;
  std::string session_; // of the protocol; "": none yet
  const std::shared_ptr<cancellation> heard_ = std::make_shared<cancellation>();
  bool listens_ = false;
};

} // namespace troupe
