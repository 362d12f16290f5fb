#pragma once

#include <memory>
#include <string>
#include <unordered_map>

namespace troupe::net {

/// The text of immutable records, made once per thread and record: reading is
/// what happens most, and rendering costs more than all of HTTP around it. A
/// changed record is another object; a dead one never matches.
template <class Record>
class json_cache {
public:
  template <class Render>
  const std::string& of(const std::shared_ptr<const Record>& record,
                        Render render) {
    if (auto i = texts_.find(record.get());
        i != texts_.end() && i->second.made_of.lock() == record)
      return i->second.text;
    if (texts_.size() >= most)
      texts_.clear();
    auto& entry = texts_[record.get()];
    entry.made_of = record;
    entry.text = render(*record);
    return entry.text;
  }

private:
  // Records of a thread's working set; a tool's source may be large.
  static constexpr std::size_t most = 128;

  struct entry {
    std::weak_ptr<const Record> made_of;
    std::string text;
  };
  std::unordered_map<const Record*, entry> texts_;
};

} // namespace troupe::net
