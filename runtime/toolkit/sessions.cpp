#include "runtime/toolkit/sessions.hpp"

#include "runtime/base/random.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace troupe::toolkit {

namespace {

constexpr std::string_view id_prefix = "ses-";
constexpr std::size_t id_letters = 26; // of 32: 130 random bits
constexpr std::string_view base32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t most_processes = 256; // whose readers are remembered
constexpr std::size_t most_cells = 32;
constexpr std::size_t longest_name = 128;
constexpr std::string_view cell_prefix = "cell-";

/// 0 for what is no id of a cell.
std::uint64_t cell_number(std::string_view id) {
  std::uint64_t number = 0;
  if (!id.starts_with(cell_prefix))
    return 0;
  id.remove_prefix(cell_prefix.size());
  const auto end = std::from_chars(id.data(), id.data() + id.size(), number);
  return end.ec == std::errc{} && end.ptr == id.data() + id.size() ? number : 0;
}

} // namespace

sandbox_id session::sandbox() const {
  std::lock_guard lock{mutex_};
  return sandbox_;
}

bool session::moved_to(const sandbox_id& id) {
  std::lock_guard lock{mutex_};
  const bool another = !sandbox_.empty() && sandbox_ != id;
  if (another)
    clear();
  sandbox_ = id;
  return another;
}

void session::clear() {
  shown_.clear();
  cells_.clear();
}

std::string session::keep(kept_cell running) {
  std::lock_guard lock{mutex_};
  if (cells_.size() >= most_cells)
    cells_.erase(cells_.begin());
  cells_[++last_cell_] = std::move(running);
  return std::string{cell_prefix} + std::to_string(last_cell_);
}

std::optional<session::kept_cell> session::kept(const std::string& id) const {
  std::lock_guard lock{mutex_};
  const auto found = cells_.find(cell_number(id));
  return found == cells_.end() ? std::nullopt : std::optional{found->second};
}

void session::kept(const std::string& id, output_offsets shown) {
  std::lock_guard lock{mutex_};
  if (const auto found = cells_.find(cell_number(id)); found != cells_.end())
    found->second.shown = shown;
}

std::string session::running_in(const std::string& context) const {
  std::lock_guard lock{mutex_};
  for (const auto& [number, each] : cells_)
    if (each.context == context && !each.cell->record().ended())
      return std::string{cell_prefix} + std::to_string(number);
  return {};
}

void session::forget() {
  std::lock_guard lock{mutex_};
  sandbox_ = {};
  clear();
}

output_offsets session::shown(const std::string& process) const {
  std::lock_guard lock{mutex_};
  const auto found = shown_.find(process);
  return found == shown_.end() ? output_offsets{} : found->second;
}

void session::shown(const std::string& process, output_offsets now) {
  std::lock_guard lock{mutex_};
  if (shown_.size() >= most_processes && !shown_.contains(process))
    shown_.erase(shown_.begin());
  shown_[process] = now;
}

session_ptr sessions::of(const organization_id& organization,
                         const std::string& name) {
  std::lock_guard lock{mutex_};
  key which{organization, name};
  auto& found = all_[which];
  if (found.kept)
    by_use_.erase(found.used);
  else
    found.kept = std::make_shared<session>();
  found.used = ++turn_;
  by_use_.emplace(found.used, which);
  auto kept = found.kept;
  if (all_.size() > most_) {
    all_.erase(by_use_.begin()->second);
    by_use_.erase(by_use_.begin());
  }
  return kept;
}

std::size_t sessions::size() const {
  std::lock_guard lock{mutex_};
  return all_.size();
}

bool is_session_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name
    && std::all_of(name.begin(), name.end(), [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9')
           || std::string_view{"._:@/-"}.find(c) != std::string_view::npos;
       });
}

std::string make_session_id() {
  std::array<std::uint8_t, id_letters> bytes;
  random_bytes(bytes);
  std::string id{id_prefix};
  for (auto byte : bytes)
    id += base32[byte % base32.size()];
  return id;
}

bool is_session_id(std::string_view text) {
  return text.size() == id_prefix.size() + id_letters
    && text.starts_with(id_prefix)
    && text.find_first_not_of(base32, id_prefix.size()) == text.npos;
}

} // namespace troupe::toolkit
