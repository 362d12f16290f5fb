#include "runtime/model/ids.hpp"

namespace troupe {

organization_id default_organization() {
  static const organization_id known{
    "org-00000000-0000-4000-8000-000000000000"};
  return known;
}

user_id default_user() {
  static const user_id known{"user-00000000-0000-4000-8000-000000000000"};
  return known;
}

} // namespace troupe
