#include "storage/adapters/sandbox_leases.hpp"

namespace troupe {

namespace {

class stored_leases final : public lease_book {
public:
  explicit stored_leases(std::shared_ptr<store> all) : all_{std::move(all)} {}

  result<void> write(const sandbox_lease& lease) override {
    return all_->sandboxes->write(lease);
  }
  result<void> confirm(const std::string& tag,
                       const std::string& sandbox) override {
    return all_->sandboxes->confirm(tag, sandbox);
  }
  result<void> release(const std::string& tag) override {
    return all_->sandboxes->release(tag);
  }
  std::vector<sandbox_lease> list(backend_name provider) const override {
    return all_->sandboxes->list(provider);
  }

private:
  const std::shared_ptr<store> all_;
};

} // namespace

std::shared_ptr<lease_book> make_stored_leases(std::shared_ptr<store> all) {
  return std::make_shared<stored_leases>(std::move(all));
}

} // namespace troupe
