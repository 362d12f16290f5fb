#include "runtime/packages/spec.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/base/open_no_symlinks.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/json/json.hpp"
#include "runtime/model/package_requirement_merge.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace troupe {

namespace {

// Enough for any hand-written list; a guard against reading /dev/zero.
constexpr std::size_t max_requirements_file_bytes = 1u << 20;

std::string comparable(const pip_requirement& r) {
  return normalized_name(r.name);
}
std::string comparable(const npm_requirement& r) {
  return r.name;
}

template <class Requirement>
json::array sorted_texts(const std::vector<Requirement>& list) {
  std::vector<std::string> texts;
  for (const auto& r : list)
    texts.push_back(comparable(r) + " " + to_string(r));
  std::sort(texts.begin(), texts.end());
  json::array out;
  for (auto& t : texts)
    out.emplace_back(t);
  return out;
}

std::string_view without_comment(std::string_view line) {
  auto hash = line.find('#');
  return hash == 0 || (hash != line.npos && line[hash - 1] == ' ')
    ? line.substr(0, hash)
    : line;
}

error bad_file(std::string why) {
  return {ec::invalid_request, "requirements.txt: " + std::move(why), {}, {}};
}

/// "" when there is no such file.
result<std::string> read_below(const std::filesystem::path& directory,
                               const char* name) {
  unique_fd place{isolation::open_exactly(directory.c_str())};
  // A pipe must not keep us waiting, and a link may lead anywhere.
  unique_fd file{::openat(place.get(), name,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file && errno == ENOENT)
    return std::string{};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return bad_file("it is not a readable file; links are not followed");
  std::string text(max_requirements_file_bytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < text.size();) {
    got = ::read(file.get(), text.data() + size, text.size() - size);
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  if (size > max_requirements_file_bytes)
    return bad_file("it is over 1 MiB");
  text.resize(size);
  return text;
}

} // namespace

std::string environment_fingerprint(const environment_spec& spec) {
  json::object content;
  content["format"] = 2; // grows when we begin to build differently
  content["organization"] = spec.organization.str();
  content["python"] = spec.python;
  content["python_version"] = spec.python_version;
  content["node_version"] = spec.node_version;
  content["source"] = spec.source;
  content["pip"] = sorted_texts(spec.pip);
  content["npm"] = sorted_texts(spec.npm);
  return hex(sha256(json::to_canonical(content)));
}

result<std::vector<pip_requirement>>
read_requirements_file(const std::filesystem::path& directory) {
  std::vector<pip_requirement> out;
  auto text = read_below(directory, "requirements.txt");
  if (!text)
    return text.error();
  std::istringstream in{*text};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    auto said = trim(without_comment(line));
    if (said.empty())
      continue;
    auto parsed = parse_marked_pip(said);
    if (!parsed)
      return bad_file("line " + std::to_string(number)
                      + " is not a package requirement; use a name, versions "
                        "and a marker, without options, URLs and paths");
    out.push_back(std::move(*parsed));
  }
  return out;
}

} // namespace troupe
