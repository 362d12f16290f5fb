#include "runtime/engine/catalog.hpp"

namespace troupe {

const organization_catalog* catalog::find(const organization_id& id) const {
  auto i = organizations.find(id);
  return i == organizations.end() ? nullptr : i->second.get();
}

} // namespace troupe
