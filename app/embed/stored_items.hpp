#pragma once

#include "include/troupe/engine.hpp"
#include "runtime/engine/engine.hpp"

#include <future>
#include <string>

namespace troupe {

// What the public interface stores, by way of the engine's own changes. The
// engine outlives the answer.
std::future<api::stored> put_tool_of(engine& core, const caller& who,
                                     const api::tool& what);
std::future<api::stored> delete_tool_of(engine& core, const caller& who,
                                        const std::string& name);
std::future<api::stored> set_variable_of(engine& core, const caller& who,
                                         const std::string& backend,
                                         std::string name, std::string value);
std::future<api::stored> delete_variable_of(engine& core, const caller& who,
                                            const std::string& backend,
                                            const std::string& name);
std::future<api::stored> put_config_of(engine& core, const caller& who,
                                       const std::string& backend,
                                       const std::string& config,
                                       const config_defaults& defaults);

/// The answer where nothing can be stored.
std::future<api::stored> refused(error why);

} // namespace troupe
