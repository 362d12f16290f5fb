#pragma once

#include "runtime/model/limits.hpp"
#include "runtime/model/members.hpp"

namespace troupe {

/// One limit: what it is called in JSON, and what a request may ask for.
template <class Member>
struct limit_field {
  std::string_view name;
  Member of;         // `limits`, `limit_overrides` and what else has limits
  std::uint64_t min; // below it nothing useful could run
  std::uint64_t max; // beyond it the unit is mistaken
};

template <class Member>
limit_field(std::string_view, Member, std::uint64_t, std::uint64_t)
  -> limit_field<Member>;

/// All of them, times in milliseconds. Reading, writing, merging and handing on
/// follow from it.
inline constexpr std::tuple limit_fields{
  limit_field{"wall_seconds", TROUPE_MEMBER(wall), 1, 86'400'000},
  limit_field{"cpu_seconds", TROUPE_MEMBER(cpu), 1, 86'400'000},
  limit_field{"memory_bytes", TROUPE_MEMBER(memory_bytes), 1u << 20,
              1ull << 40},
  limit_field{"processes", TROUPE_MEMBER(processes), 1, 65'536},
  limit_field{"open_files", TROUPE_MEMBER(open_files), 16, 1u << 20},
  limit_field{"disk_bytes", TROUPE_MEMBER(disk_bytes), 4096, 1ull << 40},
  limit_field{"inodes", TROUPE_MEMBER(inodes), 16, 1u << 24},
  limit_field{"output_bytes", TROUPE_MEMBER(output_bytes), 0, 1ull << 30},
  limit_field{"result_bytes", TROUPE_MEMBER(result_bytes), 64, 64ull << 20},
};

/// Each of them said.
limit_overrides all_of(const limits& l);

/// What is said, and for the rest what was there.
limit_overrides over(const limits& base, limit_overrides said);

static_assert(member_count<limits>()
              == std::tuple_size_v<decltype(limit_fields)>);
static_assert(member_count<limit_overrides>()
              == std::tuple_size_v<decltype(limit_fields)>);

} // namespace troupe
