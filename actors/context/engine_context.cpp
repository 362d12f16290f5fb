#include "actors/context/engine_context.hpp"

namespace troupe {

engine_context::engine_context(engine_options options_)
    : run_intake{options_}, options{std::move(options_)}, boot{make_uuid()},
      configuration{options.configuration} {}

} // namespace troupe
