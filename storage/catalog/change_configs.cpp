// Changes of sandbox configs: one per type in an organization.
#include "storage/catalog/catalog_change.hpp"

namespace troupe {

result<change_reply> catalog_edit::operator()(const put_config& c) {
  auto place = current().configs_by_type.find(c.type);
  bool fresh = place == current().configs_by_type.end();
  auto revision = fresh ? 0 : current().configs.at(place->second)->revision;
  if (auto same = check_revision(revision, c.if_revision); !same)
    return same.error();
  if (!fresh)
    return replace_config(*current().configs.at(place->second), c.config);
  sandbox_config made;
  made.id = config_id::make();
  made.type = c.type;
  made.config = c.config;
  made.created_at = made.updated_at = now_;
  made.created_by = made.updated_by = who_.user.str();
  return write_config(std::move(made), true);
}

result<change_reply> catalog_edit::operator()(const default_config& c) {
  auto place = current().configs_by_type.find(c.type);
  if (place != current().configs_by_type.end())
    return reply_for(current().configs.at(place->second));
  auto config = standard_config(c.type, options_.defaults);
  if (!config)
    return config.error();
  return (*this)(put_config{c.type, std::move(*config), {}});
}

result<change_reply> catalog_edit::operator()(const update_config& c) {
  auto place = current().configs.find(c.id);
  if (place == current().configs.end())
    return not_found_error("sandbox config", c.id.str());
  const auto& old = *place->second;
  if (c.type && *c.type != old.type)
    return bad_field("/config",
                     "is of type " + std::string{to_string(*c.type)}
                       + ", but this sandbox config is of type "
                       + std::string{to_string(old.type)},
                     "a config keeps its type; create one of the other type");
  if (auto same = check_revision(old.revision, c.if_revision); !same)
    return same.error();
  return replace_config(old, c.config);
}

result<change_reply> catalog_edit::replace_config(const sandbox_config& old,
                                                  const json::object& config) {
  if (old.config == config)
    return reply_for(current().configs.at(old.id));
  auto changed = old;
  changed.config = config;
  changed.revision = old.revision + 1;
  changed.updated_at = now_;
  changed.updated_by = who_.user.str();
  return write_config(std::move(changed), false);
}

result<change_reply> catalog_edit::write_config(sandbox_config c,
                                                bool created) {
  c.organization = who_.organization;
  if (config_traits::encode(c).size() > options_.limits.config_bytes)
    return bad_field("/config",
                     "is larger than "
                       + std::to_string(options_.limits.config_bytes)
                       + " bytes");
  tables_.configs.put(batch_, c);
  auto kept = std::make_shared<const sandbox_config>(std::move(c));
  writable().configs[kept->id] = kept;
  writable().configs_by_type[kept->type] = kept->id;
  return reply_for(kept, created);
}

result<change_reply> catalog_edit::operator()(const delete_config& c) {
  auto place = current().configs.find(c.id);
  if (place == current().configs.end())
    return not_found_error("sandbox config", c.id.str());
  auto old = place->second;
  if (auto same = check_revision(old->revision, c.if_revision); !same)
    return same.error();
  tables_.configs.erase(batch_, *old);
  erase_variables(old->id);
  writable().configs_by_type.erase(old->type);
  writable().configs.erase(old->id);
  return reply_for(old);
}

} // namespace troupe
