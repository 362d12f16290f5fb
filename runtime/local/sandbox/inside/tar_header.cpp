#include "runtime/local/sandbox/inside/tar_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace troupe::inside::tar {

namespace {

struct field {
  std::size_t at;
  std::size_t size;
};
constexpr field path_field{0, 100};
constexpr field mode_field{100, 8};
constexpr field user_field{108, 8};
constexpr field group_field{116, 8};
constexpr field size_field{124, 12};
constexpr field time_field{136, 12};
constexpr field sum_field{148, 8};
constexpr std::size_t type_at = 156;
constexpr field target_field{157, 100};
constexpr field magic_field{257, 8};
constexpr field prefix_field{345, 155};

constexpr std::uint32_t usual_owner = 1'000;
constexpr std::uint64_t largest_octal = 077'777'777'777; // 8 GiB less a byte
constexpr std::string_view ustar{"ustar\00000", 8};

std::string_view text_of(std::string_view one_block, field f) {
  const auto all = one_block.substr(f.at, f.size);
  return all.substr(0, all.find('\0'));
}

void put(std::string& into, field f, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), f.size),
              into.begin() + static_cast<std::ptrdiff_t>(f.at));
}

void put_octal(std::string& into, field f, std::uint64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%0*llo", static_cast<int>(f.size - 1),
                static_cast<unsigned long long>(number));
  put(into, f, {digits, f.size - 1});
}

/// Octal digits, or, where the first bit says so, a binary number.
bool read_number(std::string_view one_block, field f, std::uint64_t& number) {
  auto text = one_block.substr(f.at, f.size);
  number = 0;
  if ((static_cast<unsigned char>(text.front()) & 0x80) != 0) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (number >> 55 != 0)
        return false;
      number = number << 8 | (i == 0 ? byte & 0x7F : byte);
    }
    return true;
  }
  text = text.substr(0, text.find('\0'));
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  if (text.empty())
    return true;
  const auto* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, number, 8);
  return code == std::errc{} && at == end;
}

std::uint64_t sum_of(std::string_view one_block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < one_block.size(); ++i)
    sum += i >= sum_field.at && i < sum_field.at + sum_field.size
      ? static_cast<unsigned char>(' ')
      : static_cast<unsigned char>(one_block[i]);
  return sum;
}

std::string one_header(const header& h) {
  std::string out(block, '\0');
  put(out, path_field, h.path);
  put_octal(out, mode_field, h.mode);
  put_octal(out, user_field, usual_owner);
  put_octal(out, group_field, usual_owner);
  put_octal(out, size_field, std::min(h.size, largest_octal));
  put_octal(out, time_field,
            std::min<std::uint64_t>(static_cast<std::uint64_t>(h.modified),
                                    largest_octal));
  out[type_at] = h.type;
  put(out, target_field, h.target);
  put(out, magic_field, ustar);
  put_octal(out, {sum_field.at, 7}, sum_of(out));
  out[sum_field.at + 7] = ' ';
  return out;
}

/// "17 path=a/b/c\n", where 17 is the size of all of it.
std::string attribute(std::string_view name, std::string_view value) {
  const auto rest = 3 + name.size() + value.size(); // blank, =, line end
  auto size = rest + 1;
  while (size != rest + std::to_string(size).size())
    size = rest + std::to_string(size).size();
  return std::to_string(size) + " " + std::string{name} + "="
    + std::string{value} + "\n";
}

} // namespace

std::string encode(const header& h) {
  std::string more;
  if (h.path.size() > path_field.size)
    more += attribute("path", h.path);
  if (h.target.size() > target_field.size)
    more += attribute("linkpath", h.target);
  if (h.size > largest_octal)
    more += attribute("size", std::to_string(h.size));
  if (more.empty())
    return one_header(h);
  header before;
  before.type = attributes;
  before.path = "attributes";
  before.mode = 0644;
  before.size = more.size();
  auto out = one_header(before) + more;
  out.append(padding(more.size()), '\0');
  return out + one_header(h);
}

decoded decode(std::string_view one_block, header& out) {
  if (one_block.size() != block)
    return decoded::bad;
  if (std::ranges::all_of(one_block, [](char c) { return c == '\0'; }))
    return decoded::end;
  std::uint64_t sum = 0;
  std::uint64_t mode = 0;
  std::uint64_t time = 0;
  out = {};
  if (!read_number(one_block, sum_field, sum) || sum != sum_of(one_block)
      || !read_number(one_block, size_field, out.size)
      || !read_number(one_block, mode_field, mode)
      || !read_number(one_block, time_field, time))
    return decoded::bad;
  out.mode = static_cast<std::uint32_t>(mode & 0777);
  out.modified = static_cast<std::int64_t>(std::min(time, largest_octal));
  out.type = one_block[type_at] == '\0' ? file : one_block[type_at];
  out.path = text_of(one_block, path_field);
  out.target = text_of(one_block, target_field);
  if (text_of(one_block, magic_field) == "ustar")
    if (const auto prefix = text_of(one_block, prefix_field); !prefix.empty())
      out.path = std::string{prefix} + "/" + out.path;
  if (out.type == file && out.path.ends_with('/'))
    out.type = folder; // as it was in 1979
  return decoded::good;
}

bool apply_attributes(std::string_view text, header& to) {
  while (!text.empty()) {
    std::size_t size = 0;
    const auto [at, code]
      = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto digits = static_cast<std::size_t>(at - text.data());
    if (code != std::errc{} || size > text.size() || size < digits + 3
        || text[digits] != ' ' || text[size - 1] != '\n')
      return false;
    const auto pair = text.substr(digits + 1, size - digits - 2);
    text.remove_prefix(size);
    const auto equals = pair.find('=');
    if (equals == pair.npos)
      return false;
    const auto name = pair.substr(0, equals);
    const auto value = pair.substr(equals + 1);
    if (name == "path")
      to.path = value;
    else if (name == "linkpath")
      to.target = value;
    else if (name == "size"
             && std::from_chars(value.data(), value.data() + value.size(),
                                to.size)
                  .ec
               != std::errc{})
      return false;
  }
  return true;
}

} // namespace troupe::inside::tar
