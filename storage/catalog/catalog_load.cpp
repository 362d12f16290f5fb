#include "storage/catalog/catalog_load.hpp"

#include "storage/catalog/catalog_change.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/records/record_format.hpp"

namespace troupe {

namespace {

class loader {
public:
  explicit loader(const catalog_tables& tables) : tables_{tables} {}

  result<void> read() {
    for (auto step : {&loader::tools, &loader::configs, &loader::variables,
                      &loader::agent_variables, &loader::api_keys})
      if (auto done = (this->*step)(); !done)
        return done;
    return {};
  }

  std::shared_ptr<catalog> finish(std::uint64_t version) {
    for (auto& [id, organization] : organizations_)
      next_->organizations.emplace(id, std::move(organization));
    next_->version = version;
    return next_;
  }

private:
  organization_catalog& of(const organization_id& id) {
    auto& place = organizations_[id];
    if (!place) {
      place = std::make_shared<organization_catalog>();
      place->id = id;
    }
    return *place;
  }

  result<void> tools() {
    return tables_.tools.each([this](tool t) -> result<void> {
      auto& org = of(t.organization);
      auto kept = std::make_shared<const tool>(std::move(t));
      if (!org.tools_by_name.emplace(kept->name, kept->id).second)
        return records::damaged("tool", "has the name of another one");
      org.tools[kept->id] = kept;
      return {};
    });
  }

  result<void> configs() {
    return tables_.configs.each([this](sandbox_config c) -> result<void> {
      auto& org = of(c.organization);
      auto kept = std::make_shared<const sandbox_config>(std::move(c));
      if (!org.configs_by_type.emplace(kept->type, kept->id).second)
        return records::damaged("sandbox config", "has the type of another");
      org.configs[kept->id] = kept;
      return {};
    });
  }

  result<void> variables() {
    return tables_.variables.each([this](sealed_variable v) -> result<void> {
      auto& org = of(v.about.organization);
      if (!org.configs.contains(v.about.config))
        return records::damaged("variable", "has lost its sandbox config");
      auto kept = std::make_shared<const sealed_variable>(std::move(v));
      auto& of_config = org.variables[kept->about.config];
      if (!of_config.emplace(kept->about.key, kept).second)
        return records::damaged("variable", "has the name of another one");
      org.variables_by_id[kept->about.id] = kept;
      return {};
    });
  }

  result<void> agent_variables() {
    return tables_.agent_variables.each(
      [this](sealed_agent_variable v) -> result<void> {
        auto& org = of(v.about.organization);
        auto kept = std::make_shared<const sealed_agent_variable>(std::move(v));
        org.agent_variables[kept->about.agent_id][kept->about.key] = kept;
        return {};
      });
  }

  result<void> api_keys() {
    return tables_.keys.each([this](api_key k) -> result<void> {
      auto kept = std::make_shared<const api_key>(std::move(k));
      if (!next_->keys_by_hash.emplace(kept->hash, kept).second)
        return records::damaged("API key", "is there twice");
      return {};
    });
  }

  const catalog_tables& tables_;
  std::map<organization_id, std::shared_ptr<organization_catalog>>
    organizations_;
  std::shared_ptr<catalog> next_ = std::make_shared<catalog>();
};

} // namespace

result<std::shared_ptr<catalog>> load_catalog(const database& db,
                                              const catalog_tables& tables) {
  auto stored = db.get(column::meta, catalog_version_key());
  if (!stored)
    return stored.error();
  std::uint64_t version = 0;
  if (*stored) {
    auto n = key_codec::read_number(**stored);
    if (!n)
      return n.error();
    version = *n;
  }
  loader all{tables};
  if (auto read = all.read(); !read)
    return read.error().within("read the configuration");
  return all.finish(version);
}

} // namespace troupe
