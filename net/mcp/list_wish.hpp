#pragma once

#include "net/mcp/request_call.hpp"
#include "runtime/toolkit/catalogue.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::mcp {

/// Which tools a request sees, by its URL or its head:
/// `?toolsets=files,shell&tools=git_*&exclude=git_push&readonly=1`, or
/// Troupe-Toolsets, Troupe-Tools, Troupe-Exclude, Troupe-Readonly.
struct list_wish {
  std::vector<std::string> toolsets;
  std::vector<std::string> tools;
  std::vector<std::string> exclude;
  bool read_only = false;
  bool session_in_url = false;

  static list_wish of(const request& in);
  bool shows(const toolkit::tool_entry& tool) const;
  bool shows_stored(std::string_view name, bool is_read_only) const;
};

/// A parameter of the URL, decoded; nothing: it is not there.
std::optional<std::string> url_parameter(const request& in,
                                         std::string_view name);

/// The session that the tools of a request work in; nothing, and failed, when
/// it is not named well.
std::optional<toolkit::binding> session_for(request_call& call);

} // namespace troupe::net::mcp
