#include "actors/protocol/followed_output.hpp"

#include <charconv>

namespace troupe {

namespace {

// Words of `ext`.
constexpr const char* after_word = "after";
constexpr const char* next_word = "next";
constexpr const char* events_word = "events";

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t n = 0;
  const auto* end = text.data() + text.size();
  auto [stop, failed] = std::from_chars(text.data(), end, n);
  if (text.empty() || failed != std::errc{} || stop != end)
    return {};
  return n;
}

std::optional<std::uint64_t> number_of(const wire_ext& ext, const char* word) {
  const auto i = ext.find(word);
  return i == ext.end() ? std::nullopt : number_in(i->second);
}

char letter_of(run_event_kind kind) {
  switch (kind) {
  case run_event_kind::started:
    return 's';
  case run_event_kind::out:
    return 'o';
  case run_event_kind::err:
    return 'e';
  case run_event_kind::progress:
    return 'p';
  case run_event_kind::accepted:
  case run_event_kind::queued:
  case run_event_kind::end:
    return 0;
  }
  return 0;
}

std::optional<run_event_kind> kind_of(char letter) {
  for (auto kind : {run_event_kind::started, run_event_kind::out,
                    run_event_kind::err, run_event_kind::progress})
    if (letter == letter_of(kind))
      return kind;
  return {};
}

/// `o5:hello`: output need not be text, so it is counted and not escaped.
std::optional<run_event> take_event(std::string_view& text) {
  const auto colon = text.find(':');
  if (colon == text.npos || colon == 0)
    return {};
  const auto kind = kind_of(text.front());
  const auto size = number_in(text.substr(1, colon - 1));
  text.remove_prefix(colon + 1);
  if (!kind || !size || *size > text.size())
    return {};
  run_event event;
  event.kind = *kind;
  event.data = text.substr(0, *size);
  text.remove_prefix(*size);
  return event;
}

} // namespace

run_reference follow_run(const run_id& id, const organization_id& organization,
                         std::uint64_t after) {
  run_reference which;
  which.id = id.str();
  which.organization = organization.str();
  which.ext[after_word] = std::to_string(after);
  return which;
}

std::optional<std::uint64_t> follows_after(const run_reference& which) {
  return number_of(which.ext, after_word);
}

bool is_followed(run_event_kind kind) {
  return letter_of(kind) != 0;
}

void put_output(run_status_message& note, const followed_output& what) {
  note.ext[next_word] = std::to_string(what.next);
  auto& text = note.ext[events_word];
  for (const auto& event : what.events)
    if (const char letter = letter_of(event.kind))
      text.append(1, letter)
        .append(std::to_string(event.data.size()))
        .append(1, ':')
        .append(event.data);
}

std::optional<followed_output> output_of(const run_status_message& note) {
  const auto next = number_of(note.ext, next_word);
  const auto told = note.ext.find(events_word);
  if (!next || told == note.ext.end())
    return {};
  followed_output what;
  what.next = *next;
  for (std::string_view text = told->second; !text.empty();) {
    auto event = take_event(text);
    if (!event)
      return {};
    what.events.push_back(std::move(*event));
  }
  return what;
}

} // namespace troupe
