#include "runtime/local/code_cache.hpp"

#include "runtime/base/digest.hpp"

namespace troupe {

std::string code_cache::key_of(const prepared_run& run) {
  const auto organization = run.organization.str();
  std::string text;
  // Length-prefixed, so that no part can imitate two.
  for (std::string_view part :
       {std::string_view{organization}, std::string_view{run.name},
        std::string_view{run.function}, std::string_view{run.interpreter},
        std::string_view{run.source}}) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
  }
  text += std::to_string(static_cast<int>(run.kind));
  text += ' ';
  text += std::to_string(static_cast<int>(run.lang));
  text += run.may_be_script ? " script" : run.as_letta ? " as_letta" : "";
  const auto digest = sha256(text);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string_view code_cache::find(const std::string& key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    entries_.push_front({key, {}, 0, options::none});
    found = by_key_.emplace(key, entries_.begin()).first;
    trim();
  } else {
    entries_.splice(entries_.begin(), entries_, found->second);
  }
  ++entries_.front().seen;
  return entries_.front().code;
}

code_cache::options code_cache::options_of(const prepared_run& run,
                                           const launcher& by) {
  return run.lang != language::python && by.is_forked() ? options::of_a_fork
                                                        : options::of_a_start;
}

bool code_cache::wants(const std::string& key, options by) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->asked >= by
      || found->second->seen < limit_.sightings)
    return false;
  found->second->asked = by;
  return true;
}

void code_cache::put(const std::string& key, std::string code) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || code.size() > limit_.bytes / 4)
    return;
  bytes_ += code.size();
  bytes_ -= found->second->code.size();
  found->second->code = std::move(code);
  trim();
}

prepared_run_ptr compile_request(const prepared_run& like) {
  auto work = std::make_shared<prepared_run>();
  work->id = run_id::make();
  work->organization = like.organization;
  work->kind = like.kind;
  work->lang = like.lang;
  work->name = like.name;
  work->function = like.function;
  work->source = like.source;
  work->may_be_script = like.may_be_script;
  work->as_letta = like.as_letta;
  work->interpreter = like.interpreter;
  work->venv = like.venv;
  // Equal where slots must be equal: it needs no slot of its own then.
  work->mounts = like.mounts;
  work->working_dir = like.working_dir;
  work->limits = like.limits;
  work->network = like.network;
  work->isolation = like.isolation;
  return work;
}

run_observer_ptr silent_observer() {
  struct nobody final : run_observer {
    void finished(run_outcome) override {}
  };
  return std::make_shared<nobody>();
}

void code_cache::trim() {
  while (entries_.size() > 1
         && (entries_.size() > limit_.entries || bytes_ > limit_.bytes)) {
    bytes_ -= entries_.back().code.size();
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

} // namespace troupe
