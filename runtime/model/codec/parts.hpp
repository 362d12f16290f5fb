#pragma once

#include "runtime/json/reader.hpp"
#include "runtime/model/run.hpp"

/// The parts that a run request has in a body and on the cluster's wire.
/// Private to this folder.
namespace troupe::codec {

/// Environment, agent, requirements, limits, policy, labels, ...
void read_common_parts(json::reader& in, run_request& r);
void write_common_parts(json::object& o, const run_request& r);

/// Texts that become names, arguments or programs: bounded, without NUL.
std::string plain_text(json::reader& in, std::string_view name,
                       std::size_t longest);
std::vector<std::string> read_argv(json::reader& in);
language read_language(json::reader& in);
/// A member object as compact JSON text; "" when it is absent.
std::string object_text(json::reader& in, std::string_view name);

} // namespace troupe::codec
