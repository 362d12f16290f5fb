#pragma once

#include "tests/support/http/scripted_server.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// One request as a stand-in for a provider sees it.
struct stand_request {
  std::string method;
  std::string target;                         // as it came
  std::string path;                           // decoded once
  std::map<std::string, std::string> query;   // decoded once
  std::map<std::string, std::string> headers; // names in lower case
  std::string body;                           // chunked framing taken off

  std::string header(const std::string& lower_name) const {
    auto i = headers.find(lower_name);
    return i == headers.end() ? std::string{} : i->second;
  }
};

/// How a stand-in answers: at once, or piece by piece.
class stand_reply {
public:
  explicit stand_reply(peer& p) : peer_{p} {}

  void send(int status, std::string_view body = {},
            std::map<std::string, std::string> headers = {});
  void json(int status, std::string_view body) {
    send(status, body, {{"Content-Type", "application/json"}});
  }
  void begin(int status, std::string_view content_type);
  bool piece(std::string_view bytes);
  void end();
  /// Ends a streamed reply in the middle.
  void cut_off() { peer_.reset(); }
  int socket() { return peer_.socket(); }
  bool answered() const { return answered_; }

private:
  peer& peer_;
  bool answered_ = false;
};

/// What goes wrong with the next request whose path begins with `path`.
struct fault {
  enum class kind {
    status,       // `code` with `headers`, nothing done
    reset_before, // the connection breaks, nothing done
    reset_after,  // it is done, then the connection breaks
    garbage,      // a login page with status 200, nothing done
    endless,      // `bytes`, then `more` for ever: header after header
    trickle,      // one byte of a body at a time, for ever
    silent,       // no answer until the other side leaves
    flood,        // a body without end
    raw,          // exactly `bytes`, then the end of the connection
  } what
    = kind::status;
  std::string path{};
  int code = 503;
  std::map<std::string, std::string> headers{};
  std::string bytes{};
  std::string more{};
};

enum class tls_face;
class tls_faces;

/// The frame of a provider's stand-in: reads requests, plays faults, calls the
/// handler. Refusals are the handler's: it checks what the real one checks.
class stand_in {
public:
  using handler = std::function<void(const stand_request&, stand_reply&)>;

  /// With faces it speaks TLS, and shows the right one at first.
  explicit stand_in(handler h, const tls_faces* faces = nullptr);

  std::uint16_t port() const { return server_.port(); }
  std::string url() const;
  void add_fault(fault f);
  /// Of one that speaks TLS: from now on, on new connections; others end.
  void show(tls_face which);
  /// Everything received so far, as "POST /v2/sandboxes".
  std::vector<std::string> seen() const;
  std::size_t count(std::string_view what) const;
  /// The same, with headers and bodies up to a bound.
  std::vector<stand_request> requests() const;
  static constexpr std::size_t max_kept_bytes = 128u << 10;

private:
  void serve(peer& p);
  bool play_fault(const stand_request& r, peer& p);

  handler handler_;
  const tls_faces* faces_;
  mutable std::mutex mutex_;
  std::vector<fault> faults_;
  std::vector<stand_request> seen_;
  scripted_server server_; // last: it serves from its construction on
};

stand_request parse_request(const std::string& bytes);
std::string percent_decode(std::string_view text);

/// A program of ours, run for a stand-in: those really run what they are sent.
struct program_run {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string input;
  /// What it prints, in order.
  std::function<void(bool is_err, std::string_view)> sink;
  /// Its end comes with the end of this socket, if there is one.
  int watched_socket = -1;
  std::function<void(int pid)> begun{};
};

/// Exit code, or the negative signal. Ends with its whole process group.
int run_program(const program_run& what);

} // namespace troupe::test
