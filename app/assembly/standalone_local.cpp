#include "app/assembly/standalone_local.hpp"

namespace troupe {

result<std::unique_ptr<local_engine>>
local_engine::open(local_options options) {
  std::unique_ptr<local_engine> self{new local_engine};
  auto backend = local_backend::open(self->io_.executor(), std::move(options));
  if (!backend)
    return backend.error();
  self->backend_ = std::move(*backend);
  return self;
}

local_engine::~local_engine() {
  if (backend_)
    backend_->stop();
}

result<void> local_engine::wait_until_probed() {
  return backend_->wait_until_probed();
}

} // namespace troupe
