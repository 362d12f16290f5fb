#pragma once

#include <cstddef>
#include <cstdint>

/// How large the parts of a request may be. The front doors bound the whole.
namespace troupe::bounds {

inline constexpr std::size_t source_bytes = 4u << 20; // a generous program
inline constexpr std::size_t stdin_bytes = 16u << 20;
inline constexpr std::size_t command_bytes = 128u << 10; // MAX_ARG_STRLEN
inline constexpr std::size_t argv_items = 1024;
inline constexpr std::size_t name_bytes = 256;       // of tools and functions
inline constexpr std::size_t foreign_id_bytes = 256; // agents, projects
inline constexpr std::size_t variables = 1024;       // of one origin
// With its name, '=' and an end it is one string of exec's: at most 128 KiB.
inline constexpr std::size_t variable_value_bytes = 127u << 10;
inline constexpr std::size_t variable_description_bytes = 4u << 10;
inline constexpr std::size_t variable_bytes = 1u << 20; // of one origin, all
inline constexpr std::size_t labels = 64;
inline constexpr std::size_t label_name_bytes = 64;
inline constexpr std::size_t label_value_bytes = 256;
inline constexpr std::size_t idempotency_key_bytes = 255; // as others have it
inline constexpr std::int64_t lowest_priority = -100;
inline constexpr std::int64_t highest_priority = 100;

} // namespace troupe::bounds
