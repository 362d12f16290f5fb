#pragma once

#include "net/providers/daytona/client.hpp"

#include <string>

namespace troupe::net {

/// What is done in a sandbox of Daytona by its toolbox: files go in, commands
/// are begun in a session and looked at until they end.
class daytona_exec {
public:
  explicit daytona_exec(daytona_client client) : client_{std::move(client)} {}

  boost::asio::awaitable<process_outcome> execute(const sandbox_handle& sandbox,
                                                  process_request what,
                                                  output_sink sink,
                                                  call_scope scope);
  boost::asio::awaitable<process_outcome>
  run_script(const sandbox_handle& sandbox, language lang,
             sandbox_script script, output_sink sink, call_scope scope);

private:
  struct begun {
    result<std::string> command; // its id
    bool may_have_begun = false; // of one that failed
  };
  struct log_view;

  boost::asio::awaitable<result<void>> upload(const sandbox_handle& sandbox,
                                              std::string_view path,
                                              const std::string& text,
                                              call_scope scope);
  boost::asio::awaitable<begun> begin(const sandbox_handle& sandbox,
                                      std::string line, call_scope scope);
  boost::asio::awaitable<result<process_end>>
  follow(const sandbox_handle& sandbox, std::string command, output_sink sink,
         call_scope scope);
  boost::asio::awaitable<result<void>>
  emit_new_output(const sandbox_handle& sandbox, const std::string& command,
                  log_view& log, bool ended, call_scope scope);

  daytona_client client_;
};

} // namespace troupe::net
