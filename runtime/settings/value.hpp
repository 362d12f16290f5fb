#pragma once

#include "runtime/base/error.hpp"
#include "runtime/settings/key.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Reads `text` as a value of `key` and stores it. Texts come from a file, the
/// environment or the command line, so every complaint says what is expected.
/// A list is split at commas. The complaint never repeats a secret.
result<void> assign(settings& into, const setting_key& key,
                    std::string_view text);

/// The same for a list that was already split.
result<void> assign_items(settings& into, const setting_key& key,
                          std::vector<std::string> items);

/// The value as config.ini spells it: "127.0.0.1:8283" with its quotes, 30s,
/// "512MiB". A secret is "***", an empty one "".
std::string spelled(const settings& from, const setting_key& key);

/// "30s", "500ms", "2h", "1.5min" to milliseconds.
result<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string spell_duration(std::chrono::milliseconds value);

/// "512MiB", "64 KB", "4096" to bytes.
result<std::uint64_t> parse_size(std::string_view text);
std::string spell_size(std::uint64_t bytes);

} // namespace troupe
