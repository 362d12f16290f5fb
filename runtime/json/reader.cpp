#include "runtime/json/reader.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::json {

namespace {

constexpr std::size_t usual_names = 40; // a run has some thirty

/// Longer names are no misspelling of ours, and comparing them costs.
constexpr std::size_t longest_known_name = 64;

std::string folded(std::string_view name) {
  std::string out{name};
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c | 0x20);
    else if (c == '-')
      c = '_';
  }
  return out;
}

/// Insertions, deletions, replacements and swaps of neighbours.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

std::string_view type_name(const value& v) {
  switch (v.kind()) {
  case boost::json::kind::null:
    return "null";
  case boost::json::kind::bool_:
    return "a boolean";
  case boost::json::kind::int64:
  case boost::json::kind::uint64:
    return "an integer";
  case boost::json::kind::double_:
    return "a number";
  case boost::json::kind::string:
    return "a string";
  case boost::json::kind::array:
    return "an array";
  case boost::json::kind::object:
    return "an object";
  }
  return "something else";
}

std::string wanted(std::string_view what, const value& v) {
  return "expected " + std::string{what} + ", not " + std::string{type_name(v)};
}

} // namespace

std::string nearest(std::string_view name,
                    const std::vector<std::string_view>& known) {
  if (name.empty() || name.size() > longest_known_name)
    return {};
  auto wanted = folded(name);
  auto best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::string_view found;
  for (auto k : known) {
    if (k.size() > longest_known_name)
      continue;
    // A word of which nothing is left is another word.
    if (auto d = distance(wanted, folded(k)); d < best && d < wanted.size()) {
      best = d;
      found = k;
    }
  }
  return std::string{found};
}

reader::reader(const object& source, std::string pointer)
    : source_{source}, pointer_{std::move(pointer)} {
  known_.reserve(usual_names);
}

const value* reader::find(std::string_view name) {
  known_.push_back(name);
  auto* v = source_.if_contains({name.data(), name.size()});
  return v == nullptr || v->is_null() ? nullptr : v;
}

std::optional<std::string> reader::text(std::string_view name, text_rule rule) {
  auto* v = find(name);
  if (v == nullptr)
    return std::nullopt;
  auto* s = v->if_string();
  if (s == nullptr) {
    complain(name, wanted("a string", *v));
  } else if (s->size() < rule.min) {
    complain(name,
             s->empty()
               ? "must not be empty"
               : "shorter than " + std::to_string(rule.min) + " bytes");
  } else if (s->size() > rule.max) {
    complain(name, "longer than " + std::to_string(rule.max) + " bytes");
  } else {
    return std::string{s->data(), s->size()};
  }
  return std::nullopt;
}

std::string reader::required_text(std::string_view name, text_rule rule) {
  if (!has(name)) {
    known_.push_back(name);
    complain(name, "is missing", "it must be a string");
    return {};
  }
  return text(name, rule).value_or("");
}

std::optional<bool> reader::boolean(std::string_view name) {
  auto* v = find(name);
  if (v == nullptr)
    return std::nullopt;
  if (auto* b = v->if_bool())
    return *b;
  complain(name, wanted("true or false", *v));
  return std::nullopt;
}

std::optional<std::int64_t>
reader::integer(std::string_view name, std::int64_t min, std::int64_t max) {
  auto* v = find(name);
  if (v == nullptr)
    return std::nullopt;
  if (!v->is_number()
      || (v->is_double() && std::trunc(v->get_double()) != v->get_double())) {
    complain(name, wanted("an integer", *v));
    return std::nullopt;
  }
  // 5.0 is an integer, as in JSON Schema; 2^63 and beyond is out of range.
  boost::system::error_code bad;
  auto i = v->to_number<std::int64_t>(bad);
  if (!bad && i >= min && i <= max)
    return i;
  complain(
    name, "must be from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

std::optional<double> reader::number(std::string_view name, double min,
                                     double max) {
  auto* v = find(name);
  if (v == nullptr)
    return std::nullopt;
  if (!v->is_number()) {
    complain(name, wanted("a number", *v));
    return std::nullopt;
  }
  boost::system::error_code bad;
  auto d = v->to_number<double>(bad);
  if (!bad && d >= min && d <= max)
    return d;
  complain(
    name, "must be from " + to_text(value(min)) + " to " + to_text(value(max)));
  return std::nullopt;
}

const object* reader::member_object(std::string_view name) {
  auto* v = find(name);
  if (v == nullptr)
    return nullptr;
  if (!v->is_object())
    complain(name, wanted("an object", *v));
  return v->if_object();
}

const array* reader::member_array(std::string_view name) {
  auto* v = find(name);
  if (v == nullptr)
    return nullptr;
  if (!v->is_array())
    complain(name, wanted("an array", *v));
  return v->if_array();
}

const value* reader::member(std::string_view name) {
  known_.push_back(name);
  return source_.if_contains({name.data(), name.size()});
}

std::optional<std::string>
reader::one_of(std::string_view name,
               std::initializer_list<std::string_view> choices) {
  auto s = text(name);
  if (!s || std::find(choices.begin(), choices.end(), *s) != choices.end())
    return s;
  std::string list;
  for (auto c : choices)
    list += (list.empty() ? "" : ", ") + std::string{c};
  complain(name, "'" + s->substr(0, longest_known_name) + "' is not known",
           "one of " + list);
  return std::nullopt;
}

bool reader::has(std::string_view name) const {
  auto* v = source_.if_contains({name.data(), name.size()});
  return v != nullptr && !v->is_null();
}

void reader::complain(std::string_view name, std::string reason,
                      std::string hint) {
  complaints_.push_back({pointer_to(name), std::move(reason), std::move(hint)});
}

void reader::absorb(error nested) {
  if (nested.fields.empty())
    nested.fields.push_back({pointer_, std::move(nested.text), ""});
  for (auto& f : nested.fields)
    complaints_.push_back(std::move(f));
}

/// Instead of a member that is not known.
std::string reader::way_out(std::string_view name) const {
  const auto folded_name = folded(name.substr(0, longest_known_name));
  for (const auto& [elsewhere, ours] : elsewhere_)
    if (elsewhere == folded_name)
      return "send " + std::string{ours};
  auto near = nearest(name, known_);
  return near.empty() ? "remove it" : "did you mean '" + near + "'?";
}

std::optional<error> reader::finish() {
  for (auto& m : source_) {
    std::string_view name{m.key().data(), m.key().size()};
    if (std::find(known_.begin(), known_.end(), name) != known_.end())
      continue;
    complain(name.substr(0, longest_known_name), "unknown member",
             way_out(name));
    // One request with a hundred thousand unknown names gets a short answer.
    if (complaints_.size() >= 32)
      break;
  }
  // What is wrong with one member usually explains what is with the whole.
  std::stable_partition(
    complaints_.begin(), complaints_.end(),
    [&](const auto& each) { return each.pointer != pointer_; });
  return finish_lenient();
}

std::optional<error> reader::finish_lenient() {
  if (complaints_.empty())
    return std::nullopt;
  auto& first = complaints_.front();
  auto e = bad_field(first.pointer, first.reason, first.hint);
  if (complaints_.size() > 1)
    e.text += " (and " + std::to_string(complaints_.size() - 1) + " more)";
  e.fields = std::move(complaints_);
  return e;
}

std::string reader::pointer_to(std::string_view name) const {
  return child(pointer_, name);
}

} // namespace troupe::json
