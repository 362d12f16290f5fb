// file_read and file_list.
#include "runtime/base/base64.hpp"
#include "runtime/toolkit/file_view.hpp"
#include "runtime/toolkit/missing_file.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::toolkit {

namespace {

/// A file comes whole into the engine: a larger one is looked at inside.
constexpr std::uint64_t largest_read = 8u << 20;
constexpr std::uint64_t largest_picture = 5u << 20;
/// Shown as one line: what is in them is rarely meant.
constexpr std::string_view closed_folders[]
  = {".git", "node_modules", "__pycache__", ".venv"};

// -- file_list ----------------------------------------------------------------

/// A walk through folders, one after the other.
struct folder_walk : std::enable_shared_from_this<folder_walk> {
  call_ptr call;
  std::size_t depth = 1;
  std::size_t limit = 200;
  bool hidden = false;
  std::string prefix; // in front of the text
  struct place {
    std::string path;
    std::size_t level;
  };
  struct shown_line {
    std::string text;
    std::string path; // of a folder that is gone into
    std::size_t level;
  };
  std::vector<shown_line> waiting; // the next one last
  std::string text;
  std::size_t shown = 0;
  std::size_t more = 0;

  void list(const std::string& path, std::size_t level) {
    auto self = shared_from_this();
    call->engine().list_files(call->who(), call->sandbox(), path,
                              call->or_fail<std::vector<sandbox_entry>>(
                                [self, level](std::vector<sandbox_entry> all) {
                                  self->take(std::move(all), level);
                                  self->go_on();
                                }));
  }
  void take(std::vector<sandbox_entry> all, std::size_t level) {
    sort_entries(all);
    std::vector<shown_line> here;
    for (auto& each : all) {
      if (!hidden && each.name.starts_with('.'))
        continue;
      const bool closed = std::find(std::begin(closed_folders),
                                    std::end(closed_folders), each.name)
        != std::end(closed_folders);
      const bool enter = each.folder && !closed && level < depth;
      here.push_back({std::string(2 * (level - 1), ' ') + entry_line(each),
                      enter ? each.path : std::string{}, level + 1});
    }
    waiting.insert(waiting.end(), std::make_move_iterator(here.rbegin()),
                   std::make_move_iterator(here.rend()));
  }
  void go_on() {
    while (!waiting.empty()) {
      auto next = std::move(waiting.back());
      waiting.pop_back();
      if (shown >= limit) {
        ++more;
        continue;
      }
      text += next.text + "\n";
      ++shown;
      if (!next.path.empty())
        return list(next.path, next.level);
    }
    if (shown == 0)
      text = "[empty folder]\n";
    if (more > 0)
      text += "[… at least " + with_commas(more)
        + " more: narrow the path, or give a larger limit]\n";
    call->answer(prefix + cut_middle(text, call->rules().characters));
  }
};

void list_folder(const call_ptr& call, const std::string& path,
                 std::string prefix) {
  auto walk = std::make_shared<folder_walk>();
  walk->call = call;
  walk->depth = static_cast<std::size_t>(call->integer("depth", 1));
  walk->limit = static_cast<std::size_t>(call->integer("limit", 200));
  walk->hidden = call->flag("hidden");
  walk->prefix = std::move(prefix);
  walk->list(path, 1);
}

void file_list(const call_ptr& call) {
  const auto path = path_argument(call, "path", ".");
  if (!path)
    return;
  // The workspace is there; asking for it first would only take time.
  if (*path == call->workspace())
    return list_folder(call, *path, {});
  with_entry(call, *path, [call, path = *path](const sandbox_entry& found) {
    if (found.folder)
      list_folder(call, path, {});
    else
      call->answer(entry_line(found));
  });
}

// -- file_read ----------------------------------------------------------------

void show_file(const call_ptr& call, const std::string& path,
               const std::string& bytes) {
  const auto name = call->shown(path);
  const auto size = with_commas(bytes.size()) + " bytes";
  if (const auto type = picture_type(bytes);
      !type.empty() && bytes.size() <= largest_picture) {
    outcome what;
    what.text = name + " (" + std::string{type} + ", " + size + ")";
    what.pictures.push_back({std::string{type}, frame::to_base64(bytes)});
    return call->answer(std::move(what));
  }
  if (const auto type = binary_type(bytes); !type.empty())
    return call->refuse(name + " is a binary file (" + std::string{type} + ", "
                        + size + "). Use shell_exec to look inside.");
  std::size_t lines = 0;
  auto text = numbered_lines(bytes,
                             {call->integer("start_line", 1),
                              call->integer("line_count", 1'000),
                              call->most_characters()},
                             lines);
  if (!text)
    return call->refuse(name + " has only " + counted(lines, "line")
                        + ". Give a start_line up to that, or a negative one "
                          "to count from the end.");
  call->answer(std::move(*text));
}

void file_read(const call_ptr& call) {
  const auto path = path_argument(call, "file");
  if (!path)
    return;
  with_entry(call, *path, [call, path = *path](const sandbox_entry& found) {
    if (found.folder)
      return list_folder(call, path,
                         "[" + call->shown(path)
                           + " is a folder; what is in it:]\n");
    if (found.bytes > largest_read)
      return call->refuse(
        call->shown(path) + " has " + size_text(found.bytes)
        + ", which is too much to read at once. Use shell_exec with sed -n "
          "'START,ENDp', head, tail or grep.");
    call->engine().read_file(
      call->who(), call->sandbox(), path,
      call->or_fail<std::string>([call, path](const std::string& bytes) {
        show_file(call, path, bytes);
      }));
  });
}

} // namespace

std::vector<tool_entry> reading_tools() {
  return {
    {"file_read", "Read a file", "files",
     "Reads a text file with line numbers, or shows an image. Reads up to 1000 "
     "lines from start_line; says how many lines there are and where to go on. "
     "A negative start_line counts from the end.",
     "RI",
     R"({"file":{"type":"string","minLength":1,"maxLength":4096,"description":"Path, relative to the workspace or absolute."},
"start_line":{"type":"integer","default":1},
"line_count":{"type":"integer","minimum":1,"maximum":5000,"default":1000},
"max_chars":{"type":"integer","minimum":1000,"maximum":100000,"default":30000,"description":"Cut the result to about this many characters."}})",
     R"(["file"])", file_read},
    {"file_list", "List a folder", "files",
     "Lists a folder: folders first, with sizes. depth 2 or more shows what is "
     "below.",
     "RI",
     R"({"path":{"type":"string","default":"."},
"depth":{"type":"integer","minimum":1,"maximum":5,"default":1},
"hidden":{"type":"boolean","default":false},
"limit":{"type":"integer","minimum":1,"maximum":2000,"default":200}})",
     "[]", file_list},
  };
}

} // namespace troupe::toolkit
