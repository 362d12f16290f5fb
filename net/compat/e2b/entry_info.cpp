#include "net/compat/e2b/entry_info.hpp"

#include "net/compat/e2b/inside_program.hpp"
#include "net/compat/e2b/paths.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>
#include <charconv>

namespace troupe::net::e2b_facade {

namespace {

/// Fields of one entry, each ended by a zero byte: no name has one.
constexpr const char* format = "%y\\0%Y\\0%m\\0%u\\0%g\\0%s\\0%T@\\0%p\\0";
constexpr std::size_t fields_of_entry = 8;
/// What links lead to: the modes of all, then their paths.
constexpr const char* follow
  = "stat -L --printf '%a\\0' -- \"$@\" && realpath -z -- \"$@\"";
/// Kinds of what a link leads to, where that is there.
constexpr std::string_view found_kinds = "fdpsbc";

/// The end of the year 9999, as far as texts go.
constexpr std::int64_t latest_second = 253'402'300'799;

std::vector<std::string_view> split_fields(std::string_view said) {
  std::vector<std::string_view> out;
  while (!said.empty()) {
    const auto end = said.find('\0');
    if (end == said.npos)
      break;
    out.push_back(said.substr(0, end));
    said.remove_prefix(end + 1);
  }
  return out;
}

template <class Number>
Number number_of(std::string_view text, int base = 10) {
  Number out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out, base);
  return out;
}

entry_info entry_of(const std::string_view* field) {
  entry_info e;
  e.kind = field[0].empty() ? '?' : field[0].front();
  e.target = field[1].empty() ? '?' : field[1].front();
  e.mode = number_of<std::uint32_t>(field[2], 8);
  e.target_mode = e.kind == 'l' ? 0 : e.mode;
  e.owner = field[3];
  e.group = field[4];
  e.bytes = number_of<std::uint64_t>(field[5]);
  e.modified = field[6];
  e.path = field[7];
  return e;
}

/// A folder directly before what is in it, names in the order of their bytes: a
/// slash comes before everything.
bool comes_before(const entry_info& a, const entry_info& b) {
  const auto rank = [](char c) {
    return c == '/' ? 0 : static_cast<int>(static_cast<unsigned char>(c)) + 1;
  };
  return std::ranges::lexicographical_compare(a.path, b.path, {}, rank, rank);
}

/// "2026-01-02T03:04:05.678901Z" of "1767323045.6789012340".
std::string time_text(std::string_view seconds) {
  const auto dot = seconds.find('.');
  const auto whole = std::clamp<std::int64_t>(
    number_of<std::int64_t>(seconds.substr(0, dot)), 0, latest_second);
  std::int64_t micros = 0;
  if (dot != seconds.npos) {
    std::string digits{seconds.substr(dot + 1, 6)};
    digits.resize(6, '0');
    micros = number_of<std::int64_t>(digits);
  }
  return to_text(
    timestamp{std::chrono::seconds{whole} + std::chrono::microseconds{micros}});
}

std::string_view type_of(const entry_info& e) {
  if (e.target == 'f')
    return "FILE_TYPE_FILE";
  if (e.target == 'd')
    return "FILE_TYPE_DIRECTORY";
  return "FILE_TYPE_UNSPECIFIED";
}

/// What stands before the nine letters.
std::string_view kind_letters(const entry_info& e) {
  switch (e.kind) {
  case 'd':
    return "d";
  case 'l':
    return "L";
  case 'p':
    return "p";
  case 's':
    return "S";
  case 'b':
    return "D";
  case 'c':
    return "Dc";
  default:
    return "";
  }
}

using entries_handler = sandbox_handler<std::vector<entry_info>>;

/// Links are told with what they lead to, which the first program does not say.
void follow_links(facade& shared, const visit& in,
                  std::vector<entry_info> found, entries_handler then) {
  process_spec what;
  what.argv = {"/bin/sh", "-c", follow, "sh"};
  for (auto& each : found)
    if (each.kind == 'l' && found_kinds.find(each.target) != each.path.npos)
      what.argv.push_back(each.path);
    else if (each.kind == 'l')
      each.link = each.path;
  constexpr std::size_t words_before = 4;
  if (what.argv.size() == words_before)
    return then(std::move(found));
  run_inside(*shared.sandboxes(), in.who, in.id, std::move(what),
             [found = std::move(found), then = std::move(then)](
               const sandbox_result<program_answer>& came) mutable {
               if (!came)
                 return then(came.error());
               const auto fields = split_fields(came->out);
               const auto half = fields.size() / 2;
               std::size_t at = 0;
               for (auto& each : found)
                 if (each.kind == 'l' && each.link.empty() && at < half) {
                   each.target_mode = number_of<std::uint32_t>(fields[at], 8);
                   each.link = fields[half + at++];
                 }
               then(std::move(found));
             });
}

} // namespace

std::string permissions_of(const entry_info& e) {
  constexpr std::uint32_t setuid = 04000, setgid = 02000, sticky = 01000;
  std::string out{kind_letters(e)};
  if (e.mode & setuid)
    out += 'u';
  if (e.mode & setgid)
    out += 'g';
  if (e.mode & sticky)
    out += 't';
  if (out.empty())
    out = "-";
  constexpr std::string_view letters = "rwxrwxrwx";
  for (std::size_t i = 0; i < letters.size(); ++i)
    out += e.mode & (0400u >> i) ? letters[i] : '-';
  return out;
}

std::string to_json(const entry_info& e) {
  constexpr std::uint32_t permission_bits = 0777;
  json::object_writer out;
  out.text("name", json::repair_utf8(name_of(e.path)))
    .text("type", type_of(e))
    .text("path", json::repair_utf8(e.path))
    .text("size", std::to_string(e.bytes))
    .number("mode", e.target_mode & permission_bits)
    .text("permissions", permissions_of(e))
    .text("owner", e.owner)
    .text("group", e.group)
    .text("modifiedTime", time_text(e.modified));
  if (!e.link.empty())
    out.text("symlinkTarget", json::repair_utf8(e.link));
  return out.finish();
}

std::vector<std::string> entry_command(const std::string& path,
                                       unsigned depth) {
  std::vector<std::string> argv{"find", depth == 0 ? "-P" : "-H", path};
  if (depth == 0)
    argv.insert(argv.end(), {"-maxdepth", "0"});
  else
    argv.insert(argv.end(),
                {"-mindepth", "1", "-maxdepth", std::to_string(depth)});
  argv.insert(argv.end(), {"-printf", format});
  return argv;
}

result<std::vector<entry_info>> parse_entries(std::string_view said) {
  const auto fields = split_fields(said);
  if (fields.size() % fields_of_entry != 0)
    return fail(ec::internal, "the list of files was cut off");
  std::vector<entry_info> out;
  for (std::size_t i = 0; i < fields.size(); i += fields_of_entry)
    out.push_back(entry_of(&fields[i]));
  std::ranges::sort(out, comes_before);
  return out;
}

void find_entries(facade& shared, const visit& in, const std::string& path,
                  unsigned depth, entries_handler then) {
  process_spec what;
  what.argv = entry_command(path, depth);
  run_inside(*shared.sandboxes(), in.who, in.id, std::move(what),
             [&shared, in, path, depth, then = std::move(then)](
               const sandbox_result<program_answer>& came) {
               if (!came)
                 return then(came.error());
               if (!came->complete)
                 return then(sandbox_error{
                   fail(ec::exhausted,
                        "there is more in '" + path
                          + "' than can be listed at once; ask for less")});
               if (came->out.empty() && came->how.exit_code != 0)
                 return then(sandbox_error{
                   fail(ec::not_found, "file not found: " + path)});
               auto found = parse_entries(came->out);
               if (!found)
                 return then(sandbox_error{found.error()});
               // The program is the tenant's own: it may say nothing at all.
               if (depth == 0 && found->empty())
                 return then(sandbox_error{
                   fail(ec::not_found, "file not found: " + path)});
               follow_links(shared, in, std::move(*found), then);
             });
}

} // namespace troupe::net::e2b_facade
