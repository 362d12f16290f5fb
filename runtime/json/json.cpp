#include "runtime/json/json.hpp"

#include "runtime/base/secret.hpp"
#include "runtime/json/big_integers.hpp"
#include "runtime/json/scanner.hpp"

#include <boost/json/memory_resource.hpp>
#include <boost/json/value_stack.hpp>

#include <charconv>
#include <limits>
#include <new>

namespace troupe::json {

namespace {

constexpr char large_mark = '\xff';

std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

/// Hears everything, keeps nothing.
struct checking_sink {
  static constexpr bool keeps = false;
  void name(std::string_view) {}
  void string(std::string_view) {}
  bool number(std::string_view, bool) { return true; }
  bool large(std::string_view) { return true; }
  void boolean(bool) {}
  void null() {}
  void end_array(std::size_t) {}
  void end_object(std::size_t) {}
};

/// Whether a number that left a double's range did so at the small end.
bool is_tiny(std::string_view text) {
  auto e = text.find_first_of("eE");
  auto mantissa = text.substr(0, e);
  // Only the order of magnitude matters: zeros right behind the point lower
  // it, digits before the point raise it, and no text is longer than 2^62.
  std::int64_t magnitude = 0;
  auto point = std::min(mantissa.find('.'), mantissa.size());
  auto digit = mantissa.find_first_of("123456789");
  if (digit == mantissa.npos)
    return true; // 0e999
  magnitude
    = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(digit);
  if (e == text.npos)
    return magnitude < 0;
  auto exponent = text.substr(e + 1);
  if (exponent.starts_with('+'))
    exponent.remove_prefix(1);
  std::int64_t value = 0;
  auto [end, bad] = std::from_chars(exponent.data(),
                                    exponent.data() + exponent.size(), value);
  if (bad != std::errc{})
    return exponent.starts_with('-');
  return value < -magnitude;
}

/// Hands the number on as what it is; false: nothing of ours can hold it.
template <class Use>
bool read_number(std::string_view text, bool is_integer, Use use) {
  const auto* end = text.data() + text.size();
  if (is_integer) {
    std::int64_t i = 0;
    if (std::from_chars(text.data(), end, i).ec == std::errc{}) {
      use(i);
      return true;
    }
    std::uint64_t u = 0;
    if (text.starts_with('-')
        || std::from_chars(text.data(), end, u).ec != std::errc{})
      return false;
    use(u);
    return true;
  }
  double d = 0;
  if (std::from_chars(text.data(), end, d).ec != std::errc{}) {
    if (!is_tiny(text))
      return false;
    d = text.starts_with('-') ? -0.0 : 0.0;
  }
  use(d);
  return true;
}

/// Keeps nothing either, but every number must fit.
struct discarding_sink : checking_sink {
  bool number(std::string_view text, bool is_integer) {
    return read_number(text, is_integer, [](auto) {});
  }
};

/// Wipes what it takes back.
class wiping_memory final : public boost::json::memory_resource {
public:
  static boost::json::storage_ptr get() {
    static wiping_memory all;
    return &all;
  }

private:
  /// Boost.JSON takes a name back with another alignment than it asked for:
  /// what is usual is one and the same.
  static bool is_usual(std::size_t align) {
    return align <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    return is_usual(align) ? ::operator new(bytes)
                           : ::operator new (bytes, std::align_val_t{align});
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t align) override {
    wipe(at, bytes);
    if (is_usual(align))
      return ::operator delete(at);
    ::operator delete (at, std::align_val_t{align});
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

boost::json::storage_ptr memory_for(const parse_limits& limits) {
  return limits.wiped ? wiping_memory::get() : boost::json::storage_ptr{};
}

/// Enough for most texts: no search for memory.
struct working_room {
  explicit working_room(bool is_wiped) : wiped{is_wiped} {}
  working_room(const working_room&) = delete;
  working_room& operator=(const working_room&) = delete;
  ~working_room() {
    if (wiped)
      wipe(bytes, sizeof bytes);
  }
  bool wiped;
  alignas(boost::json::value) unsigned char bytes[2'048]; // a stack of them
};

/// Builds the value, depth first, on Boost's stack.
struct building_sink {
  static constexpr bool keeps = true;
  working_room room; // outlives the stack
  boost::json::value_stack stack;

  explicit building_sink(const parse_limits& limits)
      : room{limits.wiped}, stack{memory_for(limits), room.bytes,
                                  sizeof room.bytes} {
    stack.reset(memory_for(limits));
  }

  void name(std::string_view s) { stack.push_key({s.data(), s.size()}); }
  void string(std::string_view s) { stack.push_string({s.data(), s.size()}); }
  void boolean(bool b) { stack.push_bool(b); }
  void null() { stack.push_null(); }
  void end_array(std::size_t n) { stack.push_array(n); }
  void end_object(std::size_t n) { stack.push_object(n); }

  bool number(std::string_view text, bool is_integer) {
    return read_number(text, is_integer, [this](auto n) { push(n); });
  }
  bool large(std::string_view digits) {
    std::string marked(1, large_mark);
    marked += digits;
    stack.push_string({marked.data(), marked.size()});
    return true;
  }

private:
  void push(std::int64_t i) { stack.push_int64(i); }
  void push(std::uint64_t u) { stack.push_uint64(u); }
  void push(double d) { stack.push_double(d); }
};

error no_object() {
  return bad_field("", "the JSON value is not an object", "send { ... }");
}

result<void> check_whole_object(std::string_view text, large_places places,
                                const parse_limits& limits) {
  discarding_sink sink;
  if (auto ok = scanner<discarding_sink>{text, limits, sink, places}.run(); !ok)
    return ok;
  if (text[text.find_first_not_of(" \n\t\r")] != '{')
    return no_object();
  return {};
}

} // namespace

result<value> parse_large(std::string_view text, large_places places,
                          const parse_limits& limits) {
  building_sink sink{limits};
  if (auto ok = scanner<building_sink>{text, limits, sink, places}.run(); !ok)
    return ok.error();
  return sink.stack.release();
}

result<object> parse_large_object(std::string_view text, large_places places,
                                  const parse_limits& limits) {
  auto v = parse_large(text, places, limits);
  if (!v)
    return v.error();
  if (!v->is_object())
    return no_object();
  return std::move(v->get_object());
}

result<value> parse(std::string_view text, const parse_limits& limits) {
  return parse_large(text, {}, limits);
}

result<object> parse_object(std::string_view text, const parse_limits& limits) {
  return parse_large_object(text, {}, limits);
}

result<void> check_object(std::string_view text, const parse_limits& limits) {
  return check_whole_object(text, {}, limits);
}

result<void> check_large_object(std::string_view text,
                                const parse_limits& limits) {
  return check_whole_object(text, anywhere, limits);
}

bool is_large(const value& v) noexcept {
  const auto* s = v.if_string();
  if (s == nullptr || s->size() < 2 || s->front() != large_mark)
    return false;
  auto digits = view(*s).substr((*s)[1] == '-' ? 2 : 1);
  return !digits.empty()
    && digits.find_first_not_of("0123456789") == digits.npos;
}

double to_double(const value& number) {
  if (!is_large(number))
    return number.to_number<double>();
  auto digits = view(number.get_string()).substr(1);
  double d = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), d).ec
      == std::errc{})
    return d;
  const auto all = std::numeric_limits<double>::infinity();
  return digits.starts_with('-') ? -all : all;
}

void wipe_texts(value& v) noexcept {
  if (auto* s = v.if_string())
    wipe(s->data(), s->size());
  else if (auto* o = v.if_object())
    for (auto& m : *o)
      wipe_texts(m.value());
  else if (auto* a = v.if_array())
    for (auto& item : *a)
      wipe_texts(item);
}

result<void> check(std::string_view text, const parse_limits& limits) {
  checking_sink sink;
  return scanner<checking_sink>{text, limits, sink}.run();
}

std::string child(std::string_view pointer, std::string_view name) {
  std::string out{pointer};
  out += '/';
  for (char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string child(std::string_view pointer, std::size_t index) {
  return std::string{pointer} + '/' + std::to_string(index);
}

} // namespace troupe::json
