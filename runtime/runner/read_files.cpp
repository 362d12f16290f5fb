#include "runtime/runner/read_files.hpp"

#include "runtime/json/members.hpp"
#include "runtime/runner/request.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace troupe::script {

namespace {

constexpr std::size_t most_displays = 20;
constexpr std::size_t most_forms = 16; // of one display
constexpr std::size_t most_notes = 16;
constexpr std::size_t longest_note = 2'000;
constexpr std::size_t longest_type = 127;

error broken(const char* what) {
  return bad_request(std::string{"the answer's "} + what + " are not sound");
}

/// Takes [text, size] apart, and that many bytes off the blob.
std::optional<std::pair<std::string, std::string_view>>
take_entry(const json::value& entry, std::string_view& blob) {
  const auto* pair = entry.if_array();
  if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string()
      || !(*pair)[1].is_int64())
    return std::nullopt;
  const auto size = (*pair)[1].get_int64();
  if (size < 0 || static_cast<std::uint64_t>(size) > blob.size())
    return std::nullopt;
  const auto& text = (*pair)[0].get_string();
  std::pair<std::string, std::string_view> taken{
    std::string{text.data(), text.size()},
    blob.substr(0, static_cast<std::size_t>(size))};
  blob.remove_prefix(static_cast<std::size_t>(size));
  return taken;
}

bool is_media_type(std::string_view text) {
  return text.size() <= longest_type && text.find('/') != text.npos
    && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

const json::array* list_in(const json::object& head, std::string_view name) {
  const auto* v = head.if_contains(name);
  return v == nullptr ? nullptr : v->if_array();
}

result<void> take_output(const prepared_run& run, const json::object& head,
                         std::string_view& blob, run_result& seen) {
  const auto* list = list_in(head, "files");
  if (list == nullptr)
    return {};
  if (run.outputs.empty() || list->size() > run.file_bounds.count)
    return broken("files");
  std::set<std::string> names;
  std::uint64_t total = 0;
  for (const auto& entry : *list) {
    auto taken = take_entry(entry, blob);
    if (!taken || !check_file_name(taken->first, "/files")
        || !names.insert(taken->first).second)
      return broken("files");
    total += taken->second.size();
    if (total > run.file_bounds.bytes_out)
      return broken("files");
    output_file f;
    f.media_type = media_type_of(taken->first);
    f.name = std::move(taken->first);
    f.size = taken->second.size();
    f.content = taken->second;
    seen.files.push_back(std::move(f));
  }
  return {};
}

result<void> take_displays(const json::object& head, std::string_view& blob,
                           run_result& seen) {
  const auto* list = list_in(head, "displays");
  if (list == nullptr)
    return {};
  if (list->size() > most_displays)
    return broken("displays");
  for (const auto& each : *list) {
    const auto* forms = each.if_array();
    if (forms == nullptr || forms->size() > most_forms)
      return broken("displays");
    display_bundle bundle;
    for (const auto& form : *forms) {
      auto taken = take_entry(form, blob);
      if (!taken || !is_media_type(taken->first))
        return broken("displays");
      bundle.emplace_back(std::move(taken->first), taken->second);
    }
    seen.displays.push_back(std::move(bundle));
  }
  return {};
}

void take_notes(const json::object& head, run_result& seen) {
  const auto* list = list_in(head, "notes");
  if (list == nullptr)
    return;
  for (std::size_t i = 0; i < list->size() && i < most_notes; ++i)
    if (const auto* text = (*list)[i].if_string())
      seen.notes.push_back(json::repair_utf8(
        std::string_view{text->data(), std::min(text->size(), longest_note)}));
}

} // namespace

result<void> take_files(const prepared_run& run, const json::object& head,
                        std::string_view blob, run_result& seen) {
  if (blob.size() > max_blob_bytes(run))
    return broken("files");
  auto taken = take_output(run, head, blob, seen);
  if (taken)
    taken = take_displays(head, blob, seen);
  if (taken && !blob.empty())
    taken = broken("files");
  if (!taken) {
    seen.files.clear();
    seen.displays.clear();
    return taken;
  }
  take_notes(head, seen);
  return {};
}

} // namespace troupe::script
