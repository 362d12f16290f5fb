#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Text of programs and files on its way to a model.
namespace troupe::toolkit {

/// What a result has at most, in characters, where the call does not say.
inline constexpr std::size_t usual_characters = 30'000;
/// A longer line of a file or of output is cut.
inline constexpr std::size_t longest_line = 2'000;

/// How many characters (code points) of UTF-8.
std::size_t characters(std::string_view text);

/// Output of a program as text: escape sequences of terminals and control
/// characters are left out, invalid UTF-8 is replaced.
std::string plain_text(std::string_view output);

/// Without control characters but tab and line feed.
std::string without_controls(std::string_view text);

/// At most about so many characters, cut in the middle at ends of lines: 40 %
/// of its head and 60 % of its tail, and between them what was left out.
/// `whole` says where the whole is, "" for nowhere.
std::string cut_middle(std::string_view text, std::size_t most,
                       std::string_view whole = {});

/// The first characters of a line, and how many there are more.
std::string cut_line(std::string_view line);

/// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number);
/// "1.2 KiB"
std::string size_text(std::uint64_t bytes);
/// "0.12 s"
std::string seconds_text(std::uint64_t milliseconds);

/// "line" or "lines".
std::string counted(std::uint64_t number, std::string_view one);

} // namespace troupe::toolkit
