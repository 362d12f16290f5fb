#pragma once

#include "runtime/json/json.hpp"
#include "runtime/model/sandbox_context.hpp"

#include <string>
#include <string_view>

/// Code as clients send it, made what a context runs.
namespace troupe::net::e2b_facade {

/// Without the indentation of its first line that says something.
std::string dedented(std::string_view code);

/// Cells to be run before and after one that has variables of its own: the
/// first sets them for it and for what it starts, the other puts back what was
/// there. Values travel as data, never as text of a program.
struct variable_cells {
  std::string before;
  std::string after;
};
/// Names and texts. An `invalid_request` for what is no variable.
result<variable_cells> cells_around(context_language language,
                                    const json::object& variables);

} // namespace troupe::net::e2b_facade
