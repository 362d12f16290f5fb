#include "runtime/engine/kept_files.hpp"

#include <algorithm>

namespace troupe {

void kept_files::take(const organization_id& organization, run_result& result,
                      clock::time_point now) {
  constexpr std::uint64_t whole_answer = 4; // times one file
  std::uint64_t left = options_.inline_bytes * whole_answer;
  for (auto& file : result.files) {
    if (file.is_kept)
      continue;
    if (file.content.size() <= std::min(options_.inline_bytes, left)) {
      left -= file.content.size();
      continue;
    }
    const std::lock_guard lock{mutex_};
    while (!order_.empty() && bytes_ + file.content.size() > options_.bytes)
      forget_oldest();
    if (file.content.size() > options_.bytes) {
      result.notes.push_back("'" + file.name + "' is larger than files.kept");
    } else {
      key where{organization, result.id, file.name};
      bytes_ += file.content.size();
      order_.emplace_back(now + options_.keep_for, where);
      files_[std::move(where)]
        = std::make_shared<const std::string>(std::move(file.content));
    }
    file.content.clear();
    file.is_kept = true;
  }
}

kept_files::content kept_files::find(const organization_id& organization,
                                     const run_id& run, const std::string& name,
                                     clock::time_point now) {
  const std::lock_guard lock{mutex_};
  while (!order_.empty() && order_.front().first <= now)
    forget_oldest();
  const auto found = files_.find({organization, run, name});
  return found == files_.end() ? nullptr : found->second;
}

std::uint64_t kept_files::bytes() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

void kept_files::forget_oldest() {
  if (const auto i = files_.find(order_.front().second); i != files_.end()) {
    bytes_ -= i->second->size();
    files_.erase(i);
  }
  order_.pop_front();
}

} // namespace troupe
