#include "runtime/toolkit/edit.hpp"

#include "runtime/base/text.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace troupe::toolkit {

namespace {

using lines = std::vector<std::string_view>;

constexpr std::size_t similar_places = 3;
constexpr std::size_t shown_lines = 20;
/// Comparing all lines with all lines ends somewhere.
constexpr std::size_t most_comparisons = 4'000'000;
constexpr std::size_t long_piece = 64;

/// Without their ends.
lines lines_of(std::string_view text) {
  lines all;
  while (!text.empty()) {
    const auto end = text.find('\n');
    all.push_back(text.substr(0, end));
    if (end == text.npos)
      break;
    text.remove_prefix(end + 1);
  }
  return all;
}

/// Where a piece begins at or behind `from`. Pieces that nearly match at every
/// byte of a text must not cost the product of both.
std::size_t find_piece(std::string_view text, std::string_view piece,
                       std::size_t from = 0) {
  if (piece.size() < long_piece)
    return text.find(piece, from);
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(from);
  const auto found = std::search(
    begin, text.end(), std::boyer_moore_searcher{piece.begin(), piece.end()});
  return found == text.end() ? text.npos
                             : static_cast<std::size_t>(found - text.begin());
}

std::string_view without_end_blanks(std::string_view line) {
  const auto last = line.find_last_not_of(" \t\r");
  return last == line.npos ? std::string_view{} : line.substr(0, last + 1);
}

std::string_view indentation(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  return line.substr(0, first == line.npos ? line.size() : first);
}

using same_line = bool (*)(std::string_view, std::string_view);

/// The lines at which all of `wanted` follow each other.
std::vector<std::size_t> places_of(const lines& wanted, const lines& in,
                                   same_line same) {
  std::vector<std::size_t> found;
  if (wanted.empty() || wanted.size() > in.size()
      || wanted.size() * in.size() > most_comparisons)
    return found;
  for (std::size_t at = 0; at + wanted.size() <= in.size(); ++at)
    if (std::equal(wanted.begin(), wanted.end(),
                   in.begin() + static_cast<std::ptrdiff_t>(at), same))
      found.push_back(at);
  return found;
}

std::size_t line_number(std::string_view text, std::size_t offset) {
  return 1
    + static_cast<std::size_t>(std::count(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

error no_edit(std::string text) {
  return fail(ec::invalid_request, std::move(text));
}

error many_places(const std::vector<std::size_t>& numbers) {
  std::string text
    = "`old` occurs " + std::to_string(numbers.size()) + " times, in lines ";
  for (std::size_t i = 0; i < numbers.size() && i < 20; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return no_edit(text
                 + ". Give more lines around the one that you mean, or set "
                   "all=true to replace all of them.");
}

/// Lines that begin with a number and a tab, as file_read shows them.
bool has_line_numbers(std::string_view piece) {
  const auto all = lines_of(piece);
  return !all.empty()
    && std::all_of(all.begin(), all.end(), [](std::string_view line) {
         const auto tab = line.find('\t');
         if (tab == line.npos || tab == 0)
           return false;
         const auto number = trim(line.substr(0, tab));
         return !number.empty()
           && number.find_first_not_of("0123456789") == number.npos;
       });
}

/// How alike two lines are, from 0 to 1: by what they begin and end with.
double likeness(std::string_view a, std::string_view b) {
  a = trim(a);
  b = trim(b);
  if (a == b)
    return 1;
  if (a.empty() || b.empty())
    return 0;
  const auto least = std::min(a.size(), b.size());
  std::size_t front = 0, back = 0;
  while (front < least && a[front] == b[front])
    ++front;
  while (back < least - front
         && a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  return static_cast<double>(2 * (front + back))
    / static_cast<double>(a.size() + b.size());
}

std::string difference(std::string_view wanted, std::string_view there) {
  const bool wants_tabs = indentation(wanted).find('\t') != wanted.npos;
  const bool has_tabs = indentation(there).find('\t') != there.npos;
  if (wants_tabs != has_tabs)
    return has_tabs ? " (tabs here, blanks in `old`)"
                    : " (blanks here, tabs in `old`)";
  if (trim(wanted) == trim(there) && wanted != there)
    return " (other blanks than in `old`)";
  return {};
}

std::string numbered(const lines& all, std::size_t from, std::size_t count) {
  std::string out;
  for (auto i = from; i < std::min(all.size(), from + count); ++i)
    out += std::to_string(i + 1) + "\t" + cut_line(all[i]) + "\n";
  return out;
}

/// The places that are most alike, with their exact text.
std::string similar_regions(const lines& wanted, const lines& in) {
  struct place {
    double score;
    std::size_t at;
  };
  std::vector<place> best;
  if (wanted.size() * in.size() > most_comparisons)
    return {};
  for (std::size_t at = 0; at < in.size(); ++at) {
    double score = 0;
    for (std::size_t i = 0; i < wanted.size() && at + i < in.size(); ++i)
      score += likeness(wanted[i], in[at + i]);
    score /= static_cast<double>(wanted.size());
    if (score > 0.5)
      best.push_back({score, at});
  }
  std::sort(best.begin(), best.end(), [](const place& a, const place& b) {
    return a.score != b.score ? a.score > b.score : a.at < b.at;
  });
  std::string out;
  std::vector<std::size_t> shown;
  for (const auto& each : best) {
    const bool overlaps
      = std::any_of(shown.begin(), shown.end(), [&](std::size_t at) {
          return std::max(at, each.at) - std::min(at, each.at) < wanted.size();
        });
    if (overlaps)
      continue;
    shown.push_back(each.at);
    out += "\nLines " + std::to_string(each.at + 1) + " ff."
      + difference(wanted.front(), in[each.at]) + ":\n"
      + numbered(in, each.at, std::min(wanted.size(), shown_lines));
    if (shown.size() == similar_places)
      break;
  }
  return out;
}

error nothing_found(std::string_view text, std::string_view old_piece,
                    std::string_view new_piece) {
  if (has_line_numbers(old_piece))
    return no_edit("`old` has line numbers in it, as file_read shows them. "
                   "Copy the text without the numbers and the tab.");
  if (!new_piece.empty() && find_piece(text, new_piece) != text.npos)
    return no_edit("`old` is not in the file, and `new` is: the change seems "
                   "to be made already. Read the file to be sure.");
  const auto regions = similar_regions(lines_of(old_piece), lines_of(text));
  return no_edit(
    "`old` is not in the file. "
    + (regions.empty()
         ? std::string{"Nothing like it is there: read the file again."}
         : "Copy it exactly from one of the places that are most alike:"
           + regions));
}

/// `new` with the indentation of the place in place of that of `old`.
std::string reindented(std::string_view new_piece, std::string_view wanted,
                       std::string_view there) {
  std::string out;
  for (auto line : lines_of(new_piece)) {
    if (!out.empty())
      out += '\n';
    if (trim(line).empty())
      continue;
    const auto own = indentation(line);
    if (own.starts_with(wanted))
      out.append(there).append(line.substr(wanted.size()));
    else
      out.append(line);
  }
  return out;
}

/// As the file has its line ends.
std::string with_returns(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n' && !out.ends_with('\r'))
      out += '\r';
    out += c;
  }
  return out.ends_with('\r') ? out : out + '\r';
}

struct line_span {
  std::size_t begin;
  std::size_t end; // of the last line, without its end
};

line_span span_of(std::string_view text, const lines& all, std::size_t first,
                  std::size_t count) {
  const auto offset = [&](std::string_view line) {
    return static_cast<std::size_t>(line.data() - text.data());
  };
  const auto& last = all[first + count - 1];
  return {offset(all[first]), offset(last) + last.size()};
}

/// By whole lines, where the piece is not there as it is.
std::optional<result<edited>> replace_lines(std::string_view text,
                                            std::string_view old_piece,
                                            std::string_view new_piece) {
  const auto wanted = lines_of(old_piece), all = lines_of(text);
  const auto blanks_aside = [](std::string_view a, std::string_view b) {
    return without_end_blanks(a) == without_end_blanks(b);
  };
  const auto indents_aside
    = [](std::string_view a, std::string_view b) { return trim(a) == trim(b); };
  for (const bool indents : {false, true}) {
    const auto found
      = places_of(wanted, all, indents ? +indents_aside : +blanks_aside);
    if (found.empty())
      continue;
    if (found.size() > 1) {
      auto numbers = found;
      for (auto& each : numbers)
        ++each;
      return many_places(numbers);
    }
    const auto span = span_of(text, all, found[0], wanted.size());
    edited done;
    done.places = 1;
    done.matched = indents ? "indentation" : "blanks at ends of lines";
    auto fresh = indents ? reindented(new_piece, indentation(wanted.front()),
                                      indentation(all[found[0]]))
                         : std::string{new_piece};
    while (fresh.ends_with('\n'))
      fresh.pop_back();
    if (!fresh.empty() && all[found[0]].ends_with('\r'))
      fresh = with_returns(fresh);
    auto end = span.end;
    if (fresh.empty() && new_piece.empty() && end < text.size())
      ++end; // the lines go with their ends
    done.text = std::string{text.substr(0, span.begin)} + fresh
      + std::string{text.substr(end)};
    return done;
  }
  return std::nullopt;
}

} // namespace

result<edited> replace_piece(std::string_view text, std::string_view old_piece,
                             std::string_view new_piece, bool all) {
  if (old_piece.empty())
    return no_edit("`old` is empty. Give the text to be replaced, or use "
                   "file_write.");
  if (old_piece == new_piece)
    return no_edit("`old` and `new` are the same: nothing would change.");
  std::vector<std::size_t> numbers;
  edited done;
  std::size_t from = 0;
  for (auto at = find_piece(text, old_piece); at != text.npos;
       at = find_piece(text, old_piece, from)) {
    if (++done.places <= 20)
      numbers.push_back(line_number(text, at));
    done.text.append(text.substr(from, at - from)).append(new_piece);
    from = at + old_piece.size();
  }
  if (done.places > 1 && !all) {
    numbers.resize(std::min<std::size_t>(done.places, 20));
    return many_places(numbers);
  }
  if (done.places == 0) {
    if (auto by_lines = replace_lines(text, old_piece, new_piece))
      return std::move(*by_lines);
    return nothing_found(text, old_piece, new_piece);
  }
  done.text.append(text.substr(from));
  return done;
}

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name, std::size_t most_lines) {
  if (before == after)
    return {};
  constexpr std::size_t context = 3;
  const auto a = lines_of(before), b = lines_of(after);
  // What an edit changes lies together: the equal lines around it are cut off.
  std::size_t front = 0, back = 0;
  while (front < std::min(a.size(), b.size()) && a[front] == b[front])
    ++front;
  while (back < std::min(a.size(), b.size()) - front
         && a[a.size() - 1 - back] == b[b.size() - 1 - back])
    ++back;
  const auto begin = front - std::min(front, context);
  const auto tail = std::min(back, context);
  const auto removed = a.size() - back, added = b.size() - back;
  std::string out = "--- " + std::string{name} + "\n+++ " + std::string{name}
    + "\n@@ -" + std::to_string(begin + 1) + ","
    + std::to_string(removed + tail - begin) + " +" + std::to_string(begin + 1)
    + "," + std::to_string(added + tail - begin) + " @@\n";
  std::size_t written = 0, left_out = 0;
  auto put = [&](char mark, std::string_view line) {
    if (written++ < most_lines)
      out += mark + cut_line(line) + "\n";
    else
      ++left_out;
  };
  for (auto i = begin; i < front; ++i)
    put(' ', a[i]);
  for (auto i = front; i < removed; ++i)
    put('-', a[i]);
  for (auto i = front; i < added; ++i)
    put('+', b[i]);
  for (std::size_t i = 0; i < tail; ++i)
    put(' ', a[removed + i]);
  if (left_out > 0)
    out += "[… " + counted(left_out, "line") + " more of the diff]\n";
  return out;
}

} // namespace troupe::toolkit
