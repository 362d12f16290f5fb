#pragma once

#include "runtime/base/error.hpp"
#include "runtime/engine/sandbox_files.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::daytona {

/// What comes back of the calls of daytona/calls.hpp: a provider's text, not
/// to be trusted.
result<std::vector<sandbox_entry>> parse_entries(std::string_view body);
result<sandbox_entry> parse_entry(std::string_view body);
/// The one file of a bulk download.
result<std::string> parse_download(std::string_view content_type,
                                   std::string_view body);
struct mixed_output {
  std::int32_t exit_code = 0;
  std::string text; // both streams
};
result<mixed_output> parse_execution(std::string_view body);
/// A member of an object that is a text: a branch, a URL.
result<std::string> parse_text(std::string_view body, std::string_view member);
result<std::map<std::string, std::string>> parse_labels(std::string_view body);

} // namespace troupe::net::daytona
