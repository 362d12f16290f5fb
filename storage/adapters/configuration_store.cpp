#include "storage/adapters/configuration_store.hpp"

#include "runtime/base/log.hpp"
#include "runtime/model/codec/codec.hpp"

namespace troupe {

namespace {

class stored_configuration final : public configuration_store {
public:
  explicit stored_configuration(std::shared_ptr<store> all)
      : all_{std::move(all)} {}

  const snapshot<catalog>& current() const override {
    return all_->catalog->newest();
  }

  result<applied> apply(const caller& who, const catalog_change& what,
                        std::string_view audit) override {
    bool audited = false;
    auto commit = [&](const batch& changes) {
      audited = true;
      return all_->audit->append_texts(who.organization, {&audit, 1}, now(),
                                       durability::synced, changes);
    };
    auto reply
      = all_->catalog->apply({who.organization, who.user}, what, now(), commit);
    if (!reply)
      return reply.error();
    if (const auto* gone = std::get_if<delete_organization>(&what))
      forget_runs(gone->id);
    return applied{std::move(*reply), audited};
  }

  result<secret> unseal(const sealed_variable& v) const override {
    return all_->seals->open(v);
  }
  result<secret> unseal(const sealed_agent_variable& v) const override {
    return all_->seals->open(v);
  }

private:
  /// Erased with the organization already, but for what was written meanwhile
  /// and sealed with a key that is gone; and nobody has counted.
  void forget_runs(const organization_id& gone) {
    for (const auto& done : {all_->runs->erase_organization(gone),
                             all_->idempotency->erase_organization(gone)})
      if (!done)
        log::warning(
          "could not delete the runs of an organization",
          {{"organization", gone.str()}, {"reason", done.error().text}});
  }

  const std::shared_ptr<store> all_;
};

} // namespace

std::shared_ptr<configuration_store>
make_stored_configuration(std::shared_ptr<store> all) {
  return std::make_shared<stored_configuration>(std::move(all));
}

} // namespace troupe
