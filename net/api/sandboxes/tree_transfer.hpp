#pragma once

#include "net/previews/body_meter.hpp"
#include "net/server/takeover.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/engine/sandbox_trees.hpp"

#include <boost/asio/local/stream_protocol.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

using archive_done = sandbox_handler<archive_count>;
/// Begins a transfer over its end of a stream.
using begin_transfer = std::function<void(unique_fd, archive_done)>;

/// What an archive is to become, or comes from: a stream to the place, and the
/// connection that HTTP has let go of. On the connection's thread.
class tree_transfer : public connection_taker,
                      public std::enable_shared_from_this<tree_transfer> {
public:
  void begin(connection& line) override;
  void closed() override;
  int status() const override { return status_; }

protected:
  using error_code = boost::system::error_code;

  explicit tree_transfer(begin_transfer how) : how_{std::move(how)} {}
  virtual void opened() = 0;
  /// What came of it at the place.
  virtual void done(const sandbox_result<archive_count>& how) = 0;
  void abort();
  void finish();

  std::shared_ptr<connection> line_; // null: it is gone
  std::optional<boost::asio::local::stream_protocol::socket> stream_;
  int status_ = 200;

private:
  const begin_transfer how_;
};

/// An archive on its way out, in chunks, as fast as the client takes it. One
/// that breaks off is not ended, but cut.
class tree_download final : public tree_transfer {
public:
  tree_download(begin_transfer how, std::string head, bool chunked)
      : tree_transfer{std::move(how)}, out_{std::move(head)}, chunked_{
                                                                chunked} {}

  void received(std::string_view bytes) override;
  void ended() override {} // and is told all the same
  void sent() override;

private:
  static constexpr std::size_t piece = 64u << 10;

  void opened() override;
  void done(const sandbox_result<archive_count>& how) override;
  void read_more();
  void end_if_whole();

  std::string out_; // being sent
  const bool chunked_;
  std::string buffer_;
  bool all_read_ = false;
  bool well_ = false;
  bool over_ = false; // the last bytes are on their way
};

/// The body of a request on its way in; then the answer.
class tree_upload final : public tree_transfer {
public:
  /// `answer` writes it whole, with its status.
  using write_answer
    = std::function<std::string(const sandbox_result<archive_count>&, int&)>;
  tree_upload(begin_transfer how, const body_shape& body, bool expects,
              write_answer answer)
      : tree_transfer{std::move(how)}, meter_{body}, answer_{std::move(answer)},
        out_{expects ? "HTTP/1.1 100 Continue\r\n"
                       "\r\n"
                     : ""} {}

  void received(std::string_view bytes) override;
  void ended() override;
  void sent() override;

private:
  void opened() override;
  void done(const sandbox_result<archive_count>& how) override;
  void end_body();
  void reply();

  body_meter meter_;
  const write_answer answer_;
  std::string out_;  // being sent
  std::string held_; // of the archive, being written
  std::optional<std::string> reply_;
  bool sending_ = false;
  bool replied_ = false;
};

} // namespace troupe::net
