#pragma once

#include "net/client/http_client.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/engine/sandbox.hpp"
#include "runtime/json/json.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What travels between us and E2B, without the travelling.
namespace troupe::net::e2b {

inline constexpr std::string_view default_template = "code-interpreter-v1";
inline constexpr std::string_view lease_label = "troupe_lease";
inline constexpr std::string_view owner_label = "troupe";
inline constexpr std::string_view key_label = "troupe_key";
inline constexpr std::string_view token_key = "access_token";
inline constexpr std::string_view traffic_key = "traffic_token";
inline constexpr std::string_view domain_key = "domain";
inline constexpr std::string_view envd_key = "envd_version";
/// Whose processes and files they are where an envd has to be told.
inline constexpr std::string_view user = "user";

/// A template keeps the envd that it was built with, for years.
struct envd_version {
  std::uint32_t major = 0, minor = 0, patch = 0;
  auto operator<=>(const envd_version&) const = default;
};
inline constexpr envd_version oldest_known{0, 1, 0};
inline constexpr envd_version names_its_user{0, 4, 0}; // before: we do
inline constexpr envd_version closes_input{0, 5, 2};   // before: no CloseStdin
/// One that says nothing we can read is taken for a current one.
envd_version envd_of(const sandbox_handle& sandbox);
/// Whom to name in a query; "" where nobody has to be.
inline std::string_view user_of(const sandbox_handle& sandbox) {
  return envd_of(sandbox) < names_its_user ? user : std::string_view{};
}

/// Whether envd requests for every sandbox of that domain go to one host, as
/// E2B's own clients send them: then one connection serves many sandboxes.
bool has_shared_host(std::string_view domain);

/// The body of a creation. Refuses what E2B cannot express, such as ports in
/// an allow list.
result<std::string> creation_body(const sandbox_request& wanted,
                                  const e2b_options& options);
result<sandbox_handle> parse_creation(std::string_view body);
result<std::vector<tagged_sandbox>> parse_list(std::string_view body);

/// The body of process.Process/Start. What is in `input_file` becomes the
/// process's input, and the file goes. Where it is not there the process is not
/// begun: the shell says so, names the file and ends with this code.
constexpr std::int32_t lost_input_code = 125;
std::string start_body(const process_request& what,
                       std::string_view input_file = {});
/// Whether E2B's proxy answered in the place of a sandbox that is not there,
/// or where nobody listens: so nothing was begun.
bool says_sandbox_is_gone(const client_response& reply);

/// One event of a process; nothing for those we ignore.
struct process_event {
  enum class kind { started, out, err, ended, other } what = kind::other;
  std::uint32_t pid = 0;
  std::string bytes;
  process_end end;
};
result<process_event> parse_process_event(std::string_view json);

/// The body of /execute, in two pieces as the script is: the first one serves
/// every run of the language.
std::string execute_head(language lang, std::string_view runner);
std::string execute_rest(language lang, std::string_view rest);

/// One line of the code interpreter's reply.
struct cell_event {
  enum class kind { out, err, failed, ended, other } what = kind::other;
  std::string text; // of the output, or "Name: value" of the failure
};
result<cell_event> parse_cell_event(std::string_view line);

} // namespace troupe::net::e2b
