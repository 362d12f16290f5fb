// file_search and file_glob: grep and find in the sandbox, whose words are
// arguments and never part of a shell's text.
#include "runtime/toolkit/captured_program.hpp"
#include "runtime/toolkit/glob.hpp"
#include "runtime/toolkit/missing_file.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>
#include <set>

namespace troupe::toolkit {

namespace {

constexpr std::chrono::seconds search_patience{30};

// -- file_search --------------------------------------------------------------

struct found_line {
  std::string_view file;
  std::string_view rest; // "12:text"; "12-text" beside a match
  bool match = false;
  bool gap = false; // between two groups
};

/// What `grep --null -n` prints.
std::vector<found_line> lines_of_grep(std::string_view text) {
  std::vector<found_line> all;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == text.npos)
      break; // cut off in the middle
    auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    found_line one;
    const auto null = line.find('\0');
    if (null == line.npos) {
      one.gap = true;
    } else {
      one.file = line.substr(0, null);
      one.rest = line.substr(null + 1);
      const auto mark = one.rest.find_first_not_of("0123456789");
      one.match = mark != one.rest.npos && one.rest[mark] == ':';
    }
    all.push_back(one);
  }
  return all;
}

std::string relative(const call_ptr& call, std::string_view path) {
  if (path.starts_with("./"))
    path.remove_prefix(2);
  return path.starts_with('/') ? call->shown(path) : plain_text(path);
}

void show_matches(const call_ptr& call, const captured& done,
                  const std::optional<glob>& only) {
  const auto limit = static_cast<std::size_t>(call->integer("limit", 100));
  std::string text;
  std::set<std::string_view> files;
  std::size_t matches = 0, more = 0;
  for (const auto& each : lines_of_grep(done.out)) {
    if (each.gap) {
      if (!text.empty() && !text.ends_with("--\n") && more == 0)
        text += "--\n";
      continue;
    }
    if (only && !only->matches(relative(call, each.file)))
      continue;
    if (each.match && matches == limit) {
      ++more;
      continue;
    }
    if (more > 0)
      continue;
    if (each.match) {
      ++matches;
      files.insert(each.file);
    }
    const auto mark
      = std::min(each.rest.find_first_not_of("0123456789"), each.rest.size());
    const auto said = each.rest.substr(std::min(mark + 1, each.rest.size()));
    text += relative(call, each.file) + (each.match ? ":" : "-")
      + std::string{each.rest.substr(0, mark)} + (each.match ? ": " : "- ")
      + plain_text(cut_line(said)) + "\n";
  }
  if (matches == 0 && !done.err.empty())
    return call->refuse(plain_text(cut_middle(done.err, 1'000))
                        + "Correct the expression or the path; regex=false "
                          "looks for the text as it is.");
  if (text.ends_with("--\n"))
    text.resize(text.size() - 3);
  const bool stopped = done.how.reason == process_reason::timeout;
  if (matches == 0)
    return call->answer(stopped ? "[nothing found; stopped after 30 s: narrow "
                                  "the path]"
                                : "No matches.");
  text = cut_middle(text, call->rules().characters);
  text += "[" + with_commas(matches) + (matches == 1 ? " match" : " matches")
    + " in " + counted(files.size(), "file");
  if (more > 0)
    text += "; at least " + with_commas(more)
      + " more: narrow the path or the query";
  if (stopped)
    text += "; stopped after 30 s";
  call->answer(text + "]");
}

void file_search(const call_ptr& call) {
  const auto path = path_argument(call, "path", ".");
  if (!path)
    return;
  const auto pattern = call->text("glob");
  std::optional<glob> only;
  if (!pattern.empty()) {
    auto parsed = glob::parse(pattern);
    if (!parsed)
      return call->refuse("glob: " + parsed.error().text + ".");
    only = std::move(*parsed);
  }
  process_spec what;
  what.argv = {"sh",
               "-c",
               "grep \"$@\" | head -c 900000",
               "sh",
               "-rnIH",
               "--null",
               "--exclude-dir=.git",
               "--exclude-dir=node_modules",
               call->flag("regex") ? "-E" : "-F"};
  if (call->flag("ignore_case"))
    what.argv.push_back("-i");
  if (const auto lines = call->integer("context", 0); lines > 0)
    what.argv.push_back("-C" + std::to_string(lines));
  if (only && pattern.find_first_of("/{") == pattern.npos)
    what.argv.push_back("--include=" + pattern);
  what.argv.insert(what.argv.end(), {"-e", call->text("query"), "--"});
  what.cwd = call->workspace();
  const auto shown = call->shown(*path);
  what.argv.push_back(
    shown.starts_with('/') || shown.starts_with('-') ? *path : "./" + shown);
  if (shown == ".")
    what.argv.back() = ".";
  what.env.emplace("LC_ALL", secret{"C.UTF-8"});
  run_program(
    call, std::move(what), search_patience,
    [call, only](const captured& done) { show_matches(call, done, only); });
}

// -- file_glob ----------------------------------------------------------------

struct found_file {
  double changed;
  std::string_view path;
};

void show_files(const call_ptr& call, const captured& done, const glob& wanted,
                const std::string& folder) {
  if (done.out.empty() && !done.err.empty())
    return call->refuse(plain_text(cut_middle(done.err, 1'000))
                        + "file_list shows what is there.");
  std::vector<found_file> all;
  std::string_view text{done.out};
  for (auto end = text.find('\0'); end != text.npos; end = text.find('\0')) {
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto blank = line.find(' ');
    if (blank == line.npos)
      continue;
    const auto path = line.substr(blank + 1);
    if (wanted.matches(path))
      all.push_back(
        {std::atof(std::string{line.substr(0, blank)}.c_str()), path});
  }
  std::sort(
    all.begin(), all.end(), [](const found_file& a, const found_file& b) {
      return a.changed != b.changed ? a.changed > b.changed : a.path < b.path;
    });
  const auto limit = static_cast<std::size_t>(call->integer("limit", 200));
  std::string out;
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i)
    out += call->shown(folder + "/" + std::string{all[i].path}) + "\n";
  if (all.empty())
    out = "No files match.\n";
  if (all.size() > limit)
    out += "[… " + with_commas(all.size() - limit)
      + " more: narrow the path or the pattern]\n";
  if (!text.empty() || done.missed > 0)
    out += "[there are more files than could be looked at: narrow the path]\n";
  out.pop_back();
  call->answer(cut_middle(out, call->rules().characters));
}

void file_glob(const call_ptr& call) {
  const auto path = path_argument(call, "path", ".");
  if (!path)
    return;
  auto wanted = glob::parse(call->text("pattern"));
  if (!wanted)
    return call->refuse("pattern: " + wanted.error().text + ".");
  process_spec what;
  what.argv = {"sh", "-c",
               "find \"$1\" \\( -name .git -o -name node_modules \\) -prune "
               "-o \\( -type f -o -type l \\) -printf '%T@ %P\\0' "
               "| head -c 900000",
               "sh", *path};
  run_program(call, std::move(what), search_patience,
              [call, path = *path, wanted = *wanted](const captured& done) {
                show_files(call, done, wanted, path);
              });
}

} // namespace

std::vector<tool_entry> searching_tools() {
  return {
    {"file_search", "Search in files", "files",
     "Finds lines that contain a text (or match a regular expression) in the "
     "files below a folder. Skips binary files, .git and node_modules.",
     "RI",
     R"({"query":{"type":"string","minLength":1,"maxLength":10000},
"path":{"type":"string","default":"."},
"regex":{"type":"boolean","default":false,"description":"The query is an extended regular expression (POSIX)."},
"glob":{"type":"string","description":"Only files whose path matches, such as *.py or src/**/*.ts"},
"ignore_case":{"type":"boolean","default":false},
"context":{"type":"integer","minimum":0,"maximum":10,"default":0},
"limit":{"type":"integer","minimum":1,"maximum":1000,"default":100}})",
     R"(["query"])", file_search},
    {"file_glob", "Find files by name", "files",
     "Finds files whose path matches a pattern, newest first. A pattern "
     "without / matches names at any depth.",
     "RI",
     R"({"pattern":{"type":"string","minLength":1,"maxLength":1000},
"path":{"type":"string","default":"."},
"limit":{"type":"integer","minimum":1,"maximum":2000,"default":200}})",
     R"(["pattern"])", file_glob},
  };
}

} // namespace troupe::toolkit
