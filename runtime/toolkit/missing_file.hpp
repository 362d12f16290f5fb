#pragma once

#include "runtime/toolkit/toolkit_call.hpp"

#include <string>

namespace troupe::toolkit {

/// Refuses for a path that leads nowhere, with the nearest names beside it.
void refuse_missing(const call_ptr& call, const std::string& path);

/// Goes on with the file or folder at a path, or refuses.
void with_entry(const call_ptr& call, const std::string& path,
                std::function<void(sandbox_entry)> then);

/// The path in the argument of that name, or nothing, and refused.
std::optional<std::string> path_argument(const call_ptr& call,
                                         std::string_view name,
                                         std::string_view otherwise = {});

/// Nothing is there, or what is.
void find_entry(const call_ptr& call, const std::string& path,
                std::function<void(std::optional<sandbox_entry>)> then);

} // namespace troupe::toolkit
