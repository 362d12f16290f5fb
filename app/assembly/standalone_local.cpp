#include "app/assembly/standalone_local.hpp"

namespace troupe {

result<std::unique_ptr<standalone_local>>
standalone_local::open(local_options options) {
  std::unique_ptr<standalone_local> self{new standalone_local};
  auto backend = local_backend::open(self->io_.executor(), std::move(options));
  if (!backend)
    return backend.error();
  self->backend_ = std::move(*backend);
  return self;
}

standalone_local::~standalone_local() {
  if (backend_)
    backend_->stop();
}

result<void> standalone_local::wait_until_probed() {
  return backend_->wait_until_probed();
}

} // namespace troupe
