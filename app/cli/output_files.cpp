#include "app/cli/output_files.hpp"

#include "app/cli/argument_values.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/json/json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace troupe {

namespace {

error cannot_write(const std::string& name) {
  return bad_request("write " + name + ": " + std::strerror(errno));
}

/// The directory that a name is in, made where it is not there. No link is
/// followed: an earlier file cannot lead a later one elsewhere.
result<unique_fd> enter(const unique_fd& root, std::string_view& name) {
  unique_fd at{::fcntl(root.get(), F_DUPFD_CLOEXEC, 0)};
  for (auto slash = name.find('/'); slash != name.npos;
       slash = name.find('/')) {
    const std::string part{name.substr(0, slash)};
    if (::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST)
      return cannot_write(part);
    unique_fd next{::openat(at.get(), part.c_str(),
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!next)
      return cannot_write(part);
    at = std::move(next);
    name.remove_prefix(slash + 1);
  }
  return at;
}

result<void> write_one(const unique_fd& root, const output_file& file) {
  if (auto fine = check_file_name(file.name, "the file"); !fine)
    return fine;
  std::string_view last{file.name};
  auto folder = enter(root, last);
  if (!folder)
    return folder.error();
  unique_fd to{::openat(folder->get(), std::string{last}.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                        0666)};
  if (!to)
    return cannot_write(file.name);
  std::string_view left{file.content};
  while (!left.empty()) {
    const auto n = ::write(to.get(), left.data(), left.size());
    if (n < 0)
      return cannot_write(file.name);
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

} // namespace

void add_file_options(CLI::App& command, file_options& said) {
  command
    .add_option("--file", said.in,
                "PATH, or NAME=PATH: put this file into its directory "
                "(repeatable)")
    ->allow_extra_args(false);
  command
    .add_option("--outputs", said.out,
                "Fetch the files that match, such as '*.png' or 'out/**' "
                "(repeatable)")
    ->allow_extra_args(false);
  command.add_option("--output", said.directory,
                     "Directory to write them to (default: the current one); "
                     "without --outputs, all files");
}

result<std::vector<run_file>>
said_files(const std::vector<std::string>& words) {
  std::vector<run_file> files;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto path = equals == word.npos ? word : word.substr(equals + 1);
    auto name = equals == word.npos
      ? std::filesystem::path{word}.filename().string()
      : word.substr(0, equals);
    if (auto fine = check_file_name(name, "--file"); !fine)
      return fine.error();
    auto content = read_said_file(path, "--file");
    if (!content)
      return content.error();
    files.push_back({std::move(name), std::move(*content)});
  }
  return files;
}

std::vector<std::string> outputs_of(std::vector<std::string> patterns,
                                    const std::string& directory) {
  if (patterns.empty() && !directory.empty())
    patterns.emplace_back("**");
  return patterns;
}

std::optional<std::string> bytes_to_print(std::string_view value_json,
                                          std::string_view encoding) {
  if (encoding != "base64" || ::isatty(STDOUT_FILENO) == 1)
    return std::nullopt;
  auto text = json::parse(value_json, {.depth = 1, .bytes = value_json.size()});
  if (!text || !text->is_string())
    return std::nullopt;
  const auto& s = text->get_string();
  if (auto bytes = frame::from_base64({s.data(), s.size()}))
    return std::move(*bytes);
  return std::nullopt;
}

std::string nothing_matched(const file_options& said) {
  std::string patterns;
  for (const auto& each : said.out)
    patterns += (patterns.empty() ? "" : ", ") + each;
  return patterns.empty()
    ? ""
    : "troupe: no file of the run matches --outputs " + patterns + "\n";
}

std::string size_note(std::uint64_t characters) {
  return "troupe: the value is left out, its " + std::to_string(characters)
    + " characters are too many; write a file and add --output DIR\n";
}

result<void> write_outputs(const std::vector<output_file>& files,
                           const std::string& directory) {
  if (files.empty())
    return {};
  std::error_code code;
  if (!directory.empty())
    std::filesystem::create_directories(directory, code);
  const auto path = directory.empty() ? std::string{"."} : directory;
  unique_fd root{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!root)
    return cannot_write(path);
  for (const auto& file : files)
    if (auto written = write_one(root, file); !written)
      return written;
  return {};
}

} // namespace troupe
