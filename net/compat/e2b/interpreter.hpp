#pragma once

#include "net/compat/e2b/facade.hpp"
#include "runtime/engine/sandbox_contexts.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What the calls of the code interpreter share.
namespace troupe::net::e2b_facade {

/// Failures of the interpreter are texts.
void refuse_text(exchange& ex, int status, std::string text);
void fail_text(exchange& ex, const visit& in, const sandbox_error& why);

/// Null, and answered, where there are none.
sandbox_contexts* contexts_of(facade& shared, exchange& ex);

/// The body as an object; 422, and nothing, for others.
std::optional<json::object> call_of(exchange& ex);

/// As clients name it; "" is Python.
result<context_language> language_of(std::string_view said);
std::string no_language(std::string_view said);

void add_cells(data_routes& into);

} // namespace troupe::net::e2b_facade
