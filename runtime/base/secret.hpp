#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace troupe {

/// Overwrites memory in a way that the optimiser must keep.
void wipe(void* data, std::size_t size) noexcept;

/// Wipes all that a text has room for, and leaves it empty.
void wipe(std::string& text) noexcept;

/// Makes room for `more` bytes. Where the text has to move for it, nothing is
/// left at its old place.
void reserve_wiping(std::string& text, std::size_t more);

/// Compares without telling by its duration where the first difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

/// A value that must not be seen: printed as `***`, wiped when it goes away.
/// The only way to the text is `reveal()`, so that a search for that word
/// shows every place where a secret leaves its wrapper.
class secret {
public:
  secret() = default;
  explicit secret(std::string text);
  secret(const secret&) = default;
  secret(secret&& other) noexcept;
  secret& operator=(const secret& other);
  secret& operator=(secret&& other) noexcept;
  ~secret();

  const std::string& reveal() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  std::size_t size() const noexcept { return text_.size(); }

  friend bool operator==(const secret& a, const secret& b) noexcept {
    return equal_in_constant_time(a.text_, b.text_);
  }

private:
  std::string text_;
};

/// Puts *** where a text of another service repeats a secret of ours. Secrets
/// of less than four bytes are words: a text without them would lose its sense.
void mask_secret(std::string& text, const secret& value);

inline std::string to_string(const secret&) {
  return "***";
}
inline std::ostream& operator<<(std::ostream& out, const secret&) {
  return out << "***";
}

} // namespace troupe
