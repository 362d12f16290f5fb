#pragma once

#include "net/client/http_client.hpp"
#include "net/providers/e2b/client.hpp"

#include <map>
#include <memory>
#include <string>

namespace troupe::net {

/// What is done in a sandbox of E2B: processes and files by its envd, code by
/// its interpreter.
class e2b_exec : public std::enable_shared_from_this<e2b_exec> {
public:
  explicit e2b_exec(e2b_client client) : client_{std::move(client)} {}

  /// A process of its own, to its end.
  boost::asio::awaitable<process_outcome> execute(sandbox_handle sandbox,
                                                  process_request what,
                                                  output_sink sink,
                                                  call_scope scope);

  /// In the one kernel of the interpreter, so for unshared sandboxes only.
  boost::asio::awaitable<process_outcome>
  run_cell(sandbox_handle sandbox, language lang, sandbox_script script,
           output_sink sink, call_scope scope);

  /// In a context that was made before, which keeps what the code did.
  boost::asio::awaitable<process_outcome>
  run_in_context(sandbox_handle sandbox, std::string context, std::string code,
                 output_sink sink, call_scope scope);

private:
  struct delivery;

  boost::asio::awaitable<process_outcome>
  follow(client_request request, sandbox_handle sandbox, std::string input,
         output_sink sink, call_scope scope);
  boost::asio::awaitable<result<void>> put_input(sandbox_handle sandbox,
                                                 std::string path,
                                                 std::string text,
                                                 call_scope scope);
  boost::asio::awaitable<void> deliver(sandbox_handle sandbox,
                                       std::uint32_t pid, std::string text,
                                       std::shared_ptr<delivery> into,
                                       call_scope scope);
  boost::asio::awaitable<process_outcome>
  send_cell(sandbox_handle sandbox, std::shared_ptr<const std::string> head,
            std::string rest, output_sink sink, call_scope scope);
  boost::asio::awaitable<process_outcome> cut_off(sandbox_handle sandbox,
                                                  error why, call_scope scope);
  std::shared_ptr<const std::string>
  head_of(language lang, const std::shared_ptr<const std::string>& runner);

  e2b_client client_;
  // By runner: one per language.
  std::map<std::shared_ptr<const std::string>,
           std::shared_ptr<const std::string>>
    heads_;
};

} // namespace troupe::net
