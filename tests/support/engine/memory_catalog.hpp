#pragma once

#include "runtime/engine/catalog.hpp"
#include "runtime/engine/engine.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <variant>

namespace troupe::test {

/// A configuration that is kept in memory only, with the rules of the real
/// one: who wins, what conflicts, what has gone.
class memory_catalog {
public:
  catalog_ptr snapshot() const {
    std::lock_guard lock{mutex_};
    return catalog_;
  }

  result<change_reply> change(const caller& who, catalog_change what) {
    std::lock_guard lock{mutex_};
    auto next = std::make_shared<catalog>(*catalog_);
    auto& slot = next->organizations[who.organization];
    auto mine = slot ? std::make_shared<organization_catalog>(*slot)
                     : std::make_shared<organization_catalog>();
    mine->id = who.organization;
    auto reply
      = std::visit([&](auto& c) { return apply(who, *next, *mine, c); }, what);
    if (reply) {
      slot = mine;
      if (std::holds_alternative<delete_organization>(what))
        next->organizations.erase(std::get<delete_organization>(what).id);
      ++next->version;
      catalog_ = next;
    }
    return reply;
  }

  void add_key(api_key key) {
    std::lock_guard lock{mutex_};
    auto next = std::make_shared<catalog>(*catalog_);
    auto hash = key.hash;
    next->keys_by_hash[hash] = std::make_shared<api_key>(std::move(key));
    catalog_ = next;
  }

private:
  using outcome = result<change_reply>;

  static error missing() {
    return {ec::not_found, "there is no such thing", {}, {}};
  }

  static timestamp time_now() {
    return std::chrono::floor<std::chrono::microseconds>(
      std::chrono::system_clock::now());
  }

  static error changed() {
    return {ec::conflict,
            "it has changed",
            {{std::string{revision_pointer}, "is another", {}}},
            {}};
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_tool& p) {
    change_reply out;
    auto known = c.tools_by_name.find(p.value.name);
    if (known != c.tools_by_name.end()) {
      if (p.must_be_new)
        return error{ec::conflict, "a tool of that name exists", {}, {}};
      const auto& old = *c.tools[known->second];
      if (p.if_revision && *p.if_revision != old.revision)
        return changed();
      p.value.id = old.id;
      p.value.revision = old.revision + 1;
      p.value.created_at = old.created_at;
    } else {
      out.created = true;
      p.value.id = tool_id::make();
      p.value.created_at = time_now();
    }
    p.value.updated_at = time_now();
    p.value.organization = who.organization;
    out.tool = std::make_shared<tool>(p.value);
    c.tools_by_name[p.value.name] = p.value.id;
    c.tools[p.value.id] = out.tool;
    return out;
  }

  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_tool& u) {
    auto i = c.tools.find(u.value.id);
    if (i == c.tools.end())
      return missing();
    if (u.if_revision && *u.if_revision != i->second->revision)
      return changed();
    auto named = c.tools_by_name.find(u.value.name);
    if (named != c.tools_by_name.end() && named->second != u.value.id)
      return error{ec::conflict, "a tool of that name exists", {}, {}};
    c.tools_by_name.erase(i->second->name);
    u.value.revision = i->second->revision + 1;
    u.value.updated_at = time_now();
    change_reply out;
    out.tool = c.tools[u.value.id] = std::make_shared<tool>(u.value);
    c.tools_by_name[u.value.name] = u.value.id;
    return out;
  }

  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_tool& d) {
    auto i = c.tools.find(d.id);
    if (i == c.tools.end())
      return missing();
    if (d.if_revision && *d.if_revision != i->second->revision)
      return changed();
    c.tools_by_name.erase(i->second->name);
    c.tools.erase(d.id);
    return change_reply{};
  }

  outcome put(const caller& who, organization_catalog& c, backend_kind type,
              json::object config, bool keep) {
    change_reply out;
    sandbox_config value;
    auto known = c.configs_by_type.find(type);
    if (known != c.configs_by_type.end()) {
      value = *c.configs[known->second];
      if (keep) {
        out.config = c.configs[known->second];
        return out;
      }
      ++value.revision;
    } else {
      out.created = true;
      value.id = config_id::make();
      value.created_at = time_now();
    }
    value.organization = who.organization;
    value.type = type;
    value.config = std::move(config);
    value.updated_at = time_now();
    out.config = std::make_shared<sandbox_config>(value);
    c.configs_by_type[type] = value.id;
    c.configs[value.id] = out.config;
    return out;
  }

  outcome apply(const caller& w, catalog&, organization_catalog& c,
                put_config& p) {
    auto known = c.configs_by_type.find(p.type);
    auto is = known == c.configs_by_type.end()
      ? 0
      : c.configs[known->second]->revision;
    if (p.if_revision && *p.if_revision != is)
      return changed();
    return put(w, c, p.type, p.config, false);
  }
  outcome apply(const caller& w, catalog&, organization_catalog& c,
                default_config& p) {
    return put(w, c, p.type, {{"timeout", 300}}, true);
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_config& u) {
    auto i = c.configs.find(u.id);
    if (i == c.configs.end())
      return missing();
    if (u.if_revision && *u.if_revision != i->second->revision)
      return changed();
    auto value = *i->second;
    value.config = u.config;
    ++value.revision;
    value.updated_at = time_now();
    change_reply out;
    out.config = c.configs[value.id] = std::make_shared<sandbox_config>(value);
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_config& d) {
    auto i = c.configs.find(d.id);
    if (i == c.configs.end())
      return missing();
    if (d.if_revision && *d.if_revision != i->second->revision)
      return changed();
    for (const auto& [key, v] : c.variables[d.id])
      c.variables_by_id.erase(v->about.id);
    c.variables.erase(d.id);
    c.configs_by_type.erase(i->second->type);
    c.configs.erase(d.id);
    return change_reply{};
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_variable& p) {
    if (!c.configs.contains(p.config))
      return missing();
    change_reply out;
    auto& slot = c.variables[p.config][p.key];
    sealed_variable value;
    if (slot)
      value = *slot;
    out.created = !slot;
    if (!slot) {
      value.about.id = variable_id::make();
      value.about.created_at = time_now();
    }
    value.about.organization = who.organization;
    value.about.config = p.config;
    value.about.key = p.key;
    value.about.description = p.description;
    value.about.updated_at = time_now();
    value.sealed = "sealed";
    out.variable = slot = std::make_shared<sealed_variable>(value);
    c.variables_by_id[value.about.id] = slot;
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                update_variable& u) {
    auto i = c.variables_by_id.find(u.id);
    if (i == c.variables_by_id.end())
      return missing();
    auto value = *i->second;
    auto& named = c.variables[value.about.config];
    if (u.key && *u.key != value.about.key && named.contains(*u.key))
      return error{ec::conflict, "a variable of that name exists", {}, {}};
    named.erase(value.about.key);
    if (u.key)
      value.about.key = *u.key;
    if (u.description)
      value.about.description = *u.description;
    value.about.updated_at = time_now();
    change_reply out;
    out.variable = std::make_shared<sealed_variable>(value);
    named[value.about.key] = out.variable;
    c.variables_by_id[u.id] = out.variable;
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_variable& d) {
    auto i = c.variables_by_id.find(d.id);
    if (i == c.variables_by_id.end())
      return missing();
    c.variables[i->second->about.config].erase(i->second->about.key);
    c.variables_by_id.erase(d.id);
    return change_reply{};
  }

  outcome apply(const caller& who, catalog&, organization_catalog& c,
                put_agent_variables& p) {
    auto& mine = c.agent_variables[p.agent_id];
    if (p.replace_all)
      mine.clear();
    for (const auto& [key, value] : p.values) {
      sealed_agent_variable v;
      v.about.id = agent_variable_id::make();
      v.about.organization = who.organization;
      v.about.agent_id = p.agent_id;
      v.about.key = key;
      v.about.created_at = v.about.updated_at = time_now();
      mine[key] = std::make_shared<sealed_agent_variable>(v);
    }
    change_reply out;
    for (const auto& [key, v] : mine)
      out.agent_variables.push_back(v);
    return out;
  }
  outcome apply(const caller&, catalog&, organization_catalog& c,
                delete_agent_variable& d) {
    if (c.agent_variables[d.agent_id].erase(d.key) == 0)
      return missing();
    return change_reply{};
  }

  outcome apply(const caller&, catalog& all, organization_catalog&,
                put_key& p) {
    change_reply out;
    out.created = true;
    out.key = std::make_shared<api_key>(p.value);
    all.keys_by_hash[p.value.hash] = out.key;
    return out;
  }
  outcome apply(const caller& who, catalog& all, organization_catalog&,
                delete_key& d) {
    for (auto i = all.keys_by_hash.begin(); i != all.keys_by_hash.end(); ++i)
      if (i->second->id == d.id
          && i->second->organization == who.organization) {
        all.keys_by_hash.erase(i->first);
        return change_reply{};
      }
    return missing();
  }
  outcome apply(const caller&, catalog& all, organization_catalog&,
                delete_organization& d) {
    const auto before = all.keys_by_hash;
    for (const auto& [hash, key] : before)
      if (key->organization == d.id)
        all.keys_by_hash.erase(hash);
    return change_reply{}; // the rest of it goes with its slot
  }

  mutable std::mutex mutex_;
  catalog_ptr catalog_ = std::make_shared<catalog>();
};

} // namespace troupe::test
