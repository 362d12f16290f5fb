#pragma once

#include "runtime/base/secret.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/json.hpp"
#include "runtime/json/utf8.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

namespace troupe::json {

/// One pass over JSON text, without recursion. The sink hears of every value
/// as soon as it is complete: `name`, `string`, `number`, `boolean`, `null`,
/// `end_array(n)`, `end_object(n)`. A sink that keeps nothing sets
/// `keeps = false` and pays for no decoding.
template <class Sink>
class scanner {
public:
  scanner(std::string_view text, const parse_limits& limits, Sink& sink,
          large_places places = {})
      : text_{text}, limits_{limits}, sink_{sink}, places_{places} {
    // No string is longer than its text, so it never moves.
    if (Sink::keeps && limits.wiped && text.size() <= limits.bytes)
      scratch_.reserve(text.size());
  }
  ~scanner() { wipe(scratch_); }

  result<void> run() {
    if (text_.size() > limits_.bytes)
      return bad_field(
        "", "longer than " + std::to_string(limits_.bytes) + " bytes",
        "send less");
    while (step()) {
    }
    if (reason_.empty())
      return {};
    return bad_field(
      "", "not valid JSON at byte " + std::to_string(at_) + ": " + reason_,
      hint_);
  }

private:
  enum class expect : std::uint8_t {
    value,
    value_or_end, // behind '['
    name,
    name_or_end, // behind '{'
    comma_or_end,
    nothing, // behind the last value
  };

  struct frame {
    bool is_object = false;
    std::size_t count = 0;
    std::size_t first_name = 0; // into names_
    std::size_t decoded = 0;    // size of decoded_ when the object began
    std::size_t look_at = 32;   // names, until they are compared: then twice
  };

  bool fail(const char* reason, const char* hint = "") {
    reason_ = reason;
    hint_ = hint;
    return false;
  }

  /// False at the end, good or bad.
  bool step() {
    skip_blanks();
    if (at_ == text_.size()) {
      if (expect_ != expect::nothing)
        fail("unexpected end of input");
      return false;
    }
    char c = text_[at_];
    switch (expect_) {
    case expect::nothing:
      return fail("unexpected data after the value", "send one value");
    case expect::comma_or_end:
      if (c != ',')
        return close(c);
      ++at_;
      expect_ = frames_.back().is_object ? expect::name : expect::value;
      return true;
    case expect::name_or_end:
      return c == '}' ? close(c) : read_name(c);
    case expect::name:
      return read_name(c);
    case expect::value_or_end:
      return c == ']' ? close(c) : read_value(c);
    case expect::value:
      return read_value(c);
    }
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
        return;
      ++at_;
    }
  }

  bool open(bool is_object) {
    if (frames_.size() >= limits_.depth)
      return fail("nested too deeply");
    frames_.push_back({is_object, 0, names_.size(), decoded_.size()});
    expect_ = is_object ? expect::name_or_end : expect::value_or_end;
    ++at_;
    return true;
  }

  bool close(char c) {
    auto& f = frames_.back();
    if (c != (f.is_object ? '}' : ']'))
      return fail(f.is_object ? "expected ',' or '}'" : "expected ',' or ']'");
    if (f.is_object) {
      if (!names_differ(f.first_name))
        return false;
      names_.resize(f.first_name);
      decoded_.resize(f.decoded);
      sink_.end_object(f.count);
    } else {
      sink_.end_array(f.count);
    }
    frames_.pop_back();
    ++at_;
    after_value();
    return true;
  }

  /// Sorting needs no hash, so no text makes it slow. Moves the last name.
  bool names_differ(std::size_t first) {
    auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first);
    if (names_.end() - begin < 2)
      return true;
    std::sort(begin, names_.end(), [](auto a, auto b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return std::adjacent_find(begin, names_.end()) == names_.end()
      || fail("duplicate name in an object", "keep one of them");
  }

  void after_value() {
    if (frames_.empty()) {
      expect_ = expect::nothing;
    } else {
      ++frames_.back().count;
      expect_ = expect::comma_or_end;
    }
  }

  bool read_name(char c) {
    if (c != '"')
      return fail("expected a name in double quotes");
    if (auto& f = frames_.back(); f.count >= f.look_at) {
      if (!names_differ(f.first_name))
        return false;
      f.look_at *= 2;
    }
    std::string_view name;
    if (!read_string<true>(name))
      return false;
    if (name.data() == scratch_.data() && !name.empty())
      name = decoded_.emplace_back(name);
    names_.push_back(name);
    sink_.name(name);
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != ':')
      return fail("expected ':'");
    ++at_;
    expect_ = expect::value;
    return true;
  }

  bool read_value(char c) {
    switch (c) {
    case '{':
      return open(true);
    case '[':
      return open(false);
    case '"': {
      std::string_view s;
      if (!read_string<Sink::keeps>(s))
        return false;
      sink_.string(s);
      break;
    }
    case 't':
      if (!read_word("true"))
        return false;
      sink_.boolean(true);
      break;
    case 'f':
      if (!read_word("false"))
        return false;
      sink_.boolean(false);
      break;
    case 'n':
      if (!read_word("null"))
        return false;
      sink_.null();
      break;
    default:
      if (!read_number())
        return false;
    }
    after_value();
    return true;
  }

  bool read_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word)
      return fail("expected a value");
    at_ += word.size();
    return true;
  }

  // -- numbers ---------------------------------------------------------------

  bool digit_here() const {
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  void skip_digits() {
    while (digit_here())
      ++at_;
  }

  bool read_number() {
    auto start = at_;
    bool is_integer = true;
    take('-');
    if (!digit_here())
      return fail("expected a value");
    if (take('0')) {
      if (digit_here())
        return fail("a number starts with 0");
    } else {
      skip_digits();
    }
    if (take('.')) {
      is_integer = false;
      if (!digit_here())
        return fail("a number ends with '.'");
      skip_digits();
    }
    if (take('e') || take('E')) {
      is_integer = false;
      if (!take('+'))
        take('-');
      if (!digit_here())
        return fail("a number has an empty exponent");
      skip_digits();
    }
    auto number = text_.substr(start, at_ - start);
    if (sink_.number(number, is_integer)
        || (is_integer && may_be_large() && sink_.large(number)))
      return true;
    at_ = start;
    return fail("a number is out of range",
                "send a 64 bit integer, a double, or a string");
  }

  bool may_be_large() const {
    return std::any_of(places_.begin(), places_.end(),
                       [this](auto place) { return is_inside(place); });
  }

  /// Step by step, so that long names are not copied for each number.
  bool is_inside(std::string_view place) const {
    for (std::size_t depth = 0; !place.empty(); ++depth) {
      place.remove_prefix(1); // '/'
      auto step = place.substr(0, place.find('/'));
      place.remove_prefix(step.size());
      if (depth == frames_.size()
          || step != (frames_[depth].is_object ? open_name(depth) : "*"))
        return false;
    }
    return true;
  }

  /// The member of an open object that is being read.
  std::string_view open_name(std::size_t depth) const {
    auto behind = depth + 1 < frames_.size() ? frames_[depth + 1].first_name
                                             : names_.size();
    return names_[behind - 1];
  }

  // -- strings ---------------------------------------------------------------

  /// Leaves `at_` behind the closing quote. `out` views the text itself or,
  /// when there were escapes, `scratch_`.
  template <bool Keep>
  bool read_string(std::string_view& out) {
    auto start = ++at_;
    bool escaped = false;
    for (;;) {
      auto rest = text_.substr(at_);
      auto size = plain_prefix(rest);
      if (size == rest.size()) {
        at_ = text_.size();
        return fail("a string does not end");
      }
      if (Keep && escaped)
        scratch_ += rest.substr(0, size);
      at_ += size;
      auto c = static_cast<unsigned char>(text_[at_]);
      if (c >= 0x80) {
        auto step = next_code_point(text_.substr(at_));
        if (!step.valid)
          return fail("a string is not UTF-8");
        if (Keep && escaped)
          scratch_ += text_.substr(at_, step.size);
        at_ += step.size;
        continue;
      }
      if (c == '"')
        break;
      if (c != '\\')
        return fail("a control character in a string", "escape it");
      if (Keep && !escaped)
        scratch_.assign(text_.substr(start, at_ - start));
      escaped = true;
      if (!read_escape<Keep>())
        return false;
    }
    if constexpr (Keep)
      out = escaped ? std::string_view{scratch_}
                    : text_.substr(start, at_ - start);
    ++at_;
    return true;
  }

  template <bool Keep>
  bool read_escape() {
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (take('u')) {
      std::uint32_t code = 0;
      if (!read_hex(code))
        return false;
      if (code >= 0xd800 && code <= 0xdfff) {
        std::uint32_t low = 0;
        if (code >= 0xdc00 || !take('\\') || !take('u') || !read_hex(low)
            || low < 0xdc00 || low > 0xdfff)
          return fail("half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      if constexpr (Keep)
        append_code_point(scratch_, code);
      return true;
    }
    auto i = at_ < text_.size() ? letters.find(text_[at_]) : letters.npos;
    if (i == letters.npos)
      return fail("an unknown escape in a string");
    if constexpr (Keep)
      scratch_ += meanings[i];
    ++at_;
    return true;
  }

  bool read_hex(std::uint32_t& code) {
    for (int i = 0; i < 4; ++i, ++at_) {
      char c = at_ < text_.size() ? text_[at_] : '\0';
      if (c >= '0' && c <= '9')
        code = code << 4 | static_cast<std::uint32_t>(c - '0');
      else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        code = code << 4 | static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
      else
        return fail("\\u requires four hex digits");
    }
    return true;
  }

  std::string_view text_;
  const parse_limits& limits_;
  Sink& sink_;
  const large_places places_;
  std::size_t at_ = 0;
  expect expect_ = expect::value;
  // On the stack as long as there are no more than most texts have.
  boost::container::small_vector<frame, 8> frames_;
  boost::container::small_vector<std::string_view, 32>
    names_;                        // of open objects
  std::list<std::string> decoded_; // names that had escapes; few have
  std::string scratch_;
  std::string reason_;
  std::string hint_;
};

} // namespace troupe::json
