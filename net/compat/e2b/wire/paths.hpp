#pragma once

#include "net/compat/e2b/wire/connect_rpc.hpp"
#include "net/http/request.hpp"
#include "runtime/base/error.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Users and paths of a sandbox, as clients name them.
namespace troupe::net::e2b_facade {

inline constexpr std::string_view user_name = "user";
inline constexpr std::string_view user_home = "/home/user";

/// Why that user cannot be had; nothing: it is the one that there is, or none
/// was named.
std::optional<std::string> why_no_user(std::string_view name);

/// The user of a call, by its Authorization; nothing: none is named. A
/// malformed field names one that there is not.
std::string user_of(const request& in);

/// The absolute path for one that may begin at the user's home.
result<std::string> absolute_path(std::string_view text);

/// "/home/user/a" of "/home/user/a/b"; "/" of "/a".
std::string parent_of(std::string_view path);
std::string name_of(std::string_view path);

} // namespace troupe::net::e2b_facade
