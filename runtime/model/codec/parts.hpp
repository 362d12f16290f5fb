#pragma once

#include "runtime/json/reader.hpp"
#include "runtime/model/codec/support.hpp"
#include "runtime/model/run_fields.hpp"

/// Reads one field of a run, by its type, out of a body or a link's object.
/// What is absent leaves `into` as it is. Private to this folder.
namespace troupe::codec {

struct field_place {
  json::reader& in;
  std::string_view name;
  const field_rule& rule;
};

void read(const field_place& at, run_kind& into);
void read(const field_place& at, language& into);
void read(const field_place& at, std::string& into);
void read(const field_place& at, std::vector<std::string>& into);
void read(const field_place& at, environment& into);
void read(const field_place& at, std::map<std::string, std::string>& into);
void read(const field_place& at, std::vector<pip_requirement>& into);
void read(const field_place& at, std::vector<npm_requirement>& into);
void read(const field_place& at, std::vector<run_file>& into);
void read(const field_place& at, limit_overrides& into);
void read(const field_place& at, std::optional<network_policy>& into);
void read(const field_place& at, std::optional<isolation_level>& into);
void read(const field_place& at, std::optional<backend_name>& into);
void read(const field_place& at, std::chrono::milliseconds& into);
void read(const field_place& at, std::uint32_t& into);
void read(const field_place& at, std::int32_t& into);
void read(const field_place& at, bool& into);
template <class Kind>
void read(const field_place& at, id<Kind>& into) {
  into = checked_id<id<Kind>>(at.in, at.name);
}

// -- of sandboxes, and of what runs in them (process_spec.cpp) ----------------

std::string read_sandbox_name(json::reader& in, std::string_view name);
void read_sandbox_duration(json::reader& in, std::string_view name,
                           std::optional<std::chrono::milliseconds>& into);
void read_sandbox_variables(json::reader& in, environment& into);

} // namespace troupe::codec
