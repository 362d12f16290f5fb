#pragma once

#include "runtime/engine/engine.hpp"
#include "runtime/local/local_run.hpp"

#include <memory>
#include <string>

namespace troupe {

/// A run that derives the schema of a function by reading its source, for
/// nobody in particular: an organization's own slots stay its own.
std::shared_ptr<local_run> make_schema_run(boost::asio::any_io_executor strand,
                                           isolation_level level, language lang,
                                           std::string source,
                                           std::string function,
                                           handler<derived_schema> done);

} // namespace troupe
