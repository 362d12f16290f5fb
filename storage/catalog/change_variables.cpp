// Changes of variables: one per name and config, one per name and agent. Values
// are sealed here; to see whether one changes, the old one is opened.
#include "storage/catalog/catalog_change.hpp"
#include "storage/database/key_codec.hpp"

namespace troupe {

namespace {

// How often the record has been written, this time included.
template <class Sealed>
std::uint64_t next_version(const Sealed* old) {
  if (!old)
    return 1;
  auto header = read_sealed_header(old->sealed);
  return header ? header->record_version + 1 : 1;
}

result<void> check(std::string_view key, const secret& value) {
  if (auto good = check_variable_name(key); !good)
    return good;
  return check_variable_value(value.reveal());
}

result<void> check_description(std::string_view text,
                               const catalog_limits& limits) {
  if (text.size() > limits.description_bytes)
    return bad_field("/description",
                     "is longer than "
                       + std::to_string(limits.description_bytes) + " bytes");
  return {};
}

error variable_taken(const std::string& key) {
  return {ec::conflict,
          "a variable named '" + key + "' exists in this config already",
          {},
          {}};
}

} // namespace

// -- of a config --------------------------------------------------------------

result<change_reply> catalog_edit::operator()(const put_variable& c) {
  if (!current().configs.contains(c.config))
    return not_found_error("sandbox config", c.config.str());
  auto of_config = current().variables.find(c.config);
  if (of_config != current().variables.end()) {
    auto old = of_config->second.find(c.key);
    if (old != of_config->second.end()) {
      // As Letta: what is not given stays.
      update_variable change{old->second->about.id, {}, c.value, {}};
      if (!c.description.empty())
        change.description = c.description;
      return (*this)(change);
    }
    if (of_config->second.size() >= options_.limits.variables_per_config)
      return too_many("variables in a config",
                      options_.limits.variables_per_config);
  }
  sealed_variable made;
  made.about.id = variable_id::make();
  made.about.config = c.config;
  made.about.key = c.key;
  made.about.description = c.description;
  made.about.created_at = now_;
  made.about.created_by = who_.user.str();
  auto kept = write_variable(std::move(made), c.value, nullptr);
  if (!kept)
    return kept.error();
  return reply_for(*kept, true);
}

result<change_reply> catalog_edit::operator()(const update_variable& c) {
  auto place = current().variables_by_id.find(c.id);
  if (place == current().variables_by_id.end())
    return not_found_error("variable", c.id.str());
  auto old = place->second;
  bool renames = c.key && *c.key != old->about.key;
  if (renames && current().variables.at(old->about.config).contains(*c.key))
    return variable_taken(*c.key);
  bool describes = c.description && *c.description != old->about.description;
  bool sets = c.value && !equals(*old, *c.value);
  if (!renames && !describes && !sets)
    return reply_for(old);
  auto changed = *old;
  if (renames)
    changed.about.key = *c.key;
  if (describes)
    changed.about.description = *c.description;
  // The name is part of what the tag covers: renaming seals anew.
  auto value = sets ? result<secret>{*c.value} : seals_.open(*old);
  if (!value)
    return value.error();
  auto kept = write_variable(std::move(changed), *value, old.get());
  if (!kept)
    return kept.error();
  return reply_for(*kept);
}

result<catalog_edit::variable_ptr>
catalog_edit::write_variable(sealed_variable v, const secret& value,
                             const sealed_variable* old) {
  auto& about = v.about;
  if (auto good = check(about.key, value); !good)
    return good.error();
  if (auto good = check_description(about.description, options_.limits); !good)
    return good.error();
  about.organization = who_.organization;
  about.updated_at = now_;
  about.updated_by = who_.user.str();
  auto sealed = seals_.seal({about.organization, sealed_kind::config_variable,
                             about.config.str(), about.key},
                            value, next_version(old));
  if (!sealed)
    return sealed.error();
  v.sealed = std::move(*sealed);
  auto kept = std::make_shared<const sealed_variable>(std::move(v));
  store(kept, old);
  return kept;
}

void catalog_edit::store(const variable_ptr& v, const sealed_variable* old) {
  tables_.variables.put(batch_, *v);
  auto& of_config = writable().variables[v->about.config];
  if (old)
    of_config.erase(old->about.key);
  of_config[v->about.key] = v;
  writable().variables_by_id[v->about.id] = v;
}

result<change_reply> catalog_edit::operator()(const delete_variable& c) {
  auto place = current().variables_by_id.find(c.id);
  if (place == current().variables_by_id.end())
    return not_found_error("variable", c.id.str());
  auto old = place->second;
  tables_.variables.erase(batch_, *old);
  auto& of_config = writable().variables[old->about.config];
  of_config.erase(old->about.key);
  if (of_config.empty())
    writable().variables.erase(old->about.config);
  writable().variables_by_id.erase(old->about.id);
  return reply_for(old);
}

void catalog_edit::erase_variables(const config_id& config) {
  auto of_config = current().variables.find(config);
  if (of_config == current().variables.end())
    return;
  batch_.erase_prefix(column::variables,
                      key_codec::encode(who_.organization, {config.str()}));
  for (const auto& [key, v] : of_config->second)
    writable().variables_by_id.erase(v->about.id);
  writable().variables.erase(config);
}

result<void> catalog_edit::reseal(const sealed_variable& v) {
  auto value = seals_.open(v);
  if (!value)
    return value.error().within("variable " + v.about.id.str());
  auto changed = v;
  auto sealed = seals_.seal({v.about.organization, sealed_kind::config_variable,
                             v.about.config.str(), v.about.key},
                            *value, next_version(&v));
  if (!sealed)
    return sealed.error();
  changed.sealed = std::move(*sealed);
  store(std::make_shared<const sealed_variable>(std::move(changed)), nullptr);
  return {};
}

// A value that does not open holds nothing, so that it can be replaced.
bool catalog_edit::equals(const sealed_variable& v, const secret& value) const {
  auto opened = seals_.open(v);
  return opened && *opened == value;
}

// -- of an agent --------------------------------------------------------------

result<change_reply> catalog_edit::operator()(const put_agent_variables& c) {
  const auto& limits = options_.limits;
  if (c.agent_id.empty() || c.agent_id.size() > limits.name_bytes)
    return bad_field("/agent_id",
                     "an agent's id has 1 to "
                       + std::to_string(limits.name_bytes) + " bytes");
  auto place = current().agent_variables.find(c.agent_id);
  bool is_new = place == current().agent_variables.end();
  if (is_new && current().agent_variables.size() >= limits.agents)
    return too_many("agents with variables", limits.agents);
  if (!is_new && c.replace_all) {
    auto before = place->second; // a picture: erasing changes the original
    for (const auto& [key, old] : before)
      if (!c.values.contains(key))
        erase_agent_variable(*old);
  }
  for (const auto& [key, value] : c.values)
    if (auto kept = write_agent_variable(c.agent_id, key, value); !kept)
      return kept.error();
  change_reply reply;
  reply.created = is_new;
  place = current().agent_variables.find(c.agent_id);
  if (place == current().agent_variables.end())
    return reply;
  if (place->second.size() > limits.variables_per_agent)
    return too_many("variables of an agent", limits.variables_per_agent);
  for (const auto& [key, v] : place->second)
    reply.agent_variables.push_back(v);
  return reply;
}

result<catalog_edit::agent_variable_ptr> catalog_edit::write_agent_variable(
  const std::string& agent, const std::string& key, const secret& value) {
  if (auto good = check(key, value); !good)
    return good.error();
  agent_variable_ptr old;
  if (auto of_agent = current().agent_variables.find(agent);
      of_agent != current().agent_variables.end())
    if (auto i = of_agent->second.find(key); i != of_agent->second.end())
      old = i->second;
  if (old && equals(*old, value))
    return old;
  sealed_agent_variable v;
  if (old) {
    v = *old;
  } else {
    v.about.id = agent_variable_id::make();
    v.about.organization = who_.organization;
    v.about.agent_id = agent;
    v.about.key = key;
    v.about.created_at = now_;
  }
  v.about.updated_at = now_;
  auto sealed = seals_.seal({who_.organization, sealed_kind::agent_variable,
                             v.about.agent_id, v.about.key},
                            value, next_version(old.get()));
  if (!sealed)
    return sealed.error();
  v.sealed = std::move(*sealed);
  auto kept = std::make_shared<const sealed_agent_variable>(std::move(v));
  store(kept);
  return kept;
}

void catalog_edit::store(const agent_variable_ptr& v) {
  tables_.agent_variables.put(batch_, *v);
  writable().agent_variables[v->about.agent_id][v->about.key] = v;
}

void catalog_edit::erase_agent_variable(const sealed_agent_variable& v) {
  tables_.agent_variables.erase(batch_, v);
  auto& of_agent = writable().agent_variables[v.about.agent_id];
  of_agent.erase(v.about.key);
  if (of_agent.empty())
    writable().agent_variables.erase(v.about.agent_id);
}

result<change_reply> catalog_edit::operator()(const delete_agent_variable& c) {
  auto of_agent = current().agent_variables.find(c.agent_id);
  if (of_agent == current().agent_variables.end())
    return not_found_error("agent with variables", c.agent_id);
  auto place = of_agent->second.find(c.key);
  if (place == of_agent->second.end())
    return not_found_error("variable", c.key);
  auto old = place->second;
  erase_agent_variable(*old);
  change_reply reply;
  reply.agent_variables.push_back(old);
  return reply;
}

result<void> catalog_edit::reseal(const sealed_agent_variable& v) {
  auto value = seals_.open(v);
  if (!value)
    return value.error().within("agent variable " + v.about.id.str());
  auto changed = v;
  auto sealed = seals_.seal({v.about.organization, sealed_kind::agent_variable,
                             v.about.agent_id, v.about.key},
                            *value, next_version(&v));
  if (!sealed)
    return sealed.error();
  changed.sealed = std::move(*sealed);
  store(std::make_shared<const sealed_agent_variable>(std::move(changed)));
  return {};
}

bool catalog_edit::equals(const sealed_agent_variable& v,
                          const secret& value) const {
  auto opened = seals_.open(v);
  return opened && *opened == value;
}

} // namespace troupe
