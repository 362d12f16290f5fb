#include "runtime/local/launcher_set.hpp"

#include "runtime/local/bare_venv.hpp"
#include "runtime/local/warm/warden_provisioner.hpp"

namespace troupe {

namespace {

/// The part of them that is a warden's.
warden_options for_warden(const local_options& all) {
  return {all.state_dir,      all.first_uid,      all.uid_count, all.kill_grace,
          all.warden_answers, all.pretend_absent, all.network};
}

zygote::slot_counts counts_of(const zygote::warm_launcher* of) {
  return of ? of->counts() : zygote::slot_counts{};
}

} // namespace

launcher_set::launcher_set(boost::asio::any_io_executor strand,
                           const local_options& options,
                           const warden::instance& instance)
    : strand_{strand}, options_{options}, instance_{instance},
      cold_{std::make_shared<cold_launcher>(strand, for_warden(options),
                                            instance)} {}

zygote::warm_launcher* launcher_set::add_warm(zygote::interpreter_paths which,
                                              const std::string& runners) {
  auto made = make_warm_launcher(strand_, options_.zygote, std::move(which),
                                 instance_.directory(), runners, cold_);
  if (!made)
    return nullptr;
  auto* place = made.get();
  faster_.push_back(std::move(made));
  return place;
}

void launcher_set::warm_up(const interpreters& found,
                           const std::string& runners) {
  if (!options_.zygote.enabled || python_)
    return;
  zygote::interpreter_paths python;
  python.interpreter = found.python.path;
  python_ = add_warm(python, runners);
  if (auto bare
      = make_bare_venv(instance_.directory() + "/venv", python.interpreter)) {
    python.interpreter = std::move(*bare);
    python.for_venvs = true;
    venvs_ = add_warm(std::move(python), runners);
  }
  if (options_.zygote.node) {
    zygote::interpreter_paths node;
    node.family = zygote::family::node;
    node.interpreter = found.node.path;
    node_ = add_warm(std::move(node), runners);
  }
  if (options_.ready_node == 0)
    return;
  // Behind the warm Node, for when there is none, or none any more.
  auto made = std::make_unique<prestarted_launcher>(
    strand_,
    prestarted_launcher::options{.count = options_.ready_node,
                                 .idle = options_.ready_idle},
    cold_, [weak = weak_from_this()] {
      auto self = weak.lock();
      return self && (!self->node_ || self->node_->has_failed());
    });
  prestarted_node_ = made.get();
  faster_.push_back(std::move(made));
}

void launcher_set::add(std::unique_ptr<launcher> faster) {
  faster_.push_back(std::move(faster));
}

launcher& launcher_set::choose(const launch& what) {
  for (auto& one : faster_)
    if (one->accepts(what))
      return *one;
  return *cold_;
}

void launcher_set::stop() {
  for (auto& one : faster_)
    one->stop();
}

zygote::slot_counts launcher_set::slots(zygote::family of) const {
  return counts_of(of == zygote::family::node ? node_ : python_);
}

zygote::slot_counts launcher_set::slots_of_venvs() const {
  return counts_of(venvs_);
}

ready_counts launcher_set::prestarted_nodes() const {
  return prestarted_node_ ? prestarted_node_->counts() : ready_counts{};
}

} // namespace troupe
