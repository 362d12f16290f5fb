// file_write, file_edit, file_move and file_delete.
#include "runtime/base/base64.hpp"
#include "runtime/toolkit/captured_program.hpp"
#include "runtime/toolkit/edit.hpp"
#include "runtime/toolkit/file_view.hpp"
#include "runtime/toolkit/missing_file.hpp"
#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::toolkit {

namespace {

constexpr std::size_t largest_write = 8u << 20;
constexpr std::chrono::seconds mode_patience{10};

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'))
    + (text.empty() || text.back() == '\n' ? 0 : 1);
}

// -- file_write ---------------------------------------------------------------

struct write_order {
  std::string path;
  std::string bytes;
  std::string answer;
};

void make_executable(const call_ptr& call, const write_order& order) {
  process_spec what;
  what.argv = {"chmod", "+x", "--", order.path};
  run_program(call, std::move(what), mode_patience,
              [call, order](const captured& done) {
                call->answer(done.fine() ? order.answer + " It can be executed."
                                         : order.answer
                                 + " It could not be made executable: "
                                 + plain_text(done.err));
              });
}

void write_bytes(const call_ptr& call, write_order order) {
  auto path = order.path;
  auto bytes = std::move(order.bytes);
  call->engine().write_file(call->who(), call->sandbox(), std::move(path),
                            std::move(bytes),
                            call->or_fail<void>([call, order] {
                              if (call->flag("executable"))
                                make_executable(call, order);
                              else
                                call->answer(order.answer);
                            }));
}

void append_bytes(const call_ptr& call, write_order order) {
  const auto path = order.path;
  call->engine().read_file(
    call->who(), call->sandbox(), path,
    call->or_fail<std::string>([call, order](std::string before) {
      auto all = order;
      all.bytes.insert(0, before);
      write_bytes(call, std::move(all));
    }));
}

/// What is to be written; nothing, and refused, when it cannot be.
std::optional<std::string> content_of(const call_ptr& call) {
  auto content = call->text("content");
  if (call->text("encoding") == "base64") {
    auto bytes = frame::from_base64(content);
    if (!bytes) {
      call->refuse("content is not valid Base64: use the standard alphabet "
                   "with padding, in one line.");
      return std::nullopt;
    }
    content = std::move(*bytes);
  }
  if (content.size() <= largest_write)
    return content;
  call->refuse("content has " + size_text(content.size())
               + ", more than 8 MiB. Write it in parts with mode=append.");
  return std::nullopt;
}

void file_write(const call_ptr& call) {
  const auto path = path_argument(call, "file");
  if (!path)
    return;
  auto content = content_of(call);
  if (!content)
    return;
  const auto mode = call->text("mode", "overwrite");
  write_order order{*path, std::move(*content), {}};
  order.answer = "Wrote " + counted(lines_in(order.bytes), "line") + " ("
    + with_commas(order.bytes.size()) + " bytes) to " + call->shown(*path);
  find_entry(call, *path,
             [call, mode, order](const std::optional<sandbox_entry>& found) {
               auto next = order;
               if (found && found->folder)
                 return call->refuse(call->shown(order.path)
                                     + " is a folder. Give the path of a "
                                       "file in it.");
               if (found && mode == "create")
                 return call->refuse(
                   call->shown(order.path)
                   + " is there already. Use mode=overwrite to replace it, or "
                     "file_edit to change part of it.");
               next.answer += !found ? " (new file)."
                 : mode == "append"
                 ? " (appended)."
                 : " (replaced " + with_commas(found->bytes) + " bytes).";
               if (!found || mode != "append")
                 return write_bytes(call, std::move(next));
               if (found->bytes > largest_write)
                 return call->refuse("More than 8 MiB are in "
                                     + call->shown(order.path)
                                     + ": append to it with shell_exec.");
               append_bytes(call, std::move(next));
             });
}

// -- file_edit ----------------------------------------------------------------

void edit_text(const call_ptr& call, const std::string& path,
               const std::string& before) {
  if (!binary_type(before).empty())
    return call->refuse(call->shown(path)
                        + " is a binary file. Use shell_exec or python_exec "
                          "to change it.");
  auto done = replace_piece(before, call->text("old"), call->text("new"),
                            call->flag("all"));
  if (!done)
    return call->refuse(call->shown(path) + ": " + done.error().text);
  std::string told = unified_diff(before, done->text, call->shown(path));
  if (done->places > 1)
    told += "[" + with_commas(done->places) + " places replaced]\n";
  if (!done->matched.empty())
    told.append("[matched apart from ").append(done->matched).append("]\n");
  call->engine().write_file(call->who(), call->sandbox(), path,
                            std::move(done->text),
                            call->or_fail<void>([call, told] {
                              call->answer(json::repair_utf8(told));
                            }));
}

void file_edit(const call_ptr& call) {
  const auto path = path_argument(call, "file");
  if (!path)
    return;
  with_entry(call, *path, [call, path = *path](const sandbox_entry& found) {
    if (found.folder)
      return call->refuse(call->shown(path) + " is a folder. Give a file.");
    if (found.bytes > largest_write)
      return call->refuse(call->shown(path) + " has " + size_text(found.bytes)
                          + ", which is too much to edit here. Use shell_exec "
                            "with sed.");
    call->engine().read_file(
      call->who(), call->sandbox(), path,
      call->or_fail<std::string>([call, path](const std::string& before) {
        edit_text(call, path, before);
      }));
  });
}

// -- file_move ----------------------------------------------------------------

void move_to(const call_ptr& call, const std::string& from,
             const std::string& to) {
  if (to == from || to.starts_with(from + "/"))
    return call->refuse("A folder cannot go into itself, nor a file onto "
                        "itself. Give another `to`.");
  call->engine().move_file(call->who(), call->sandbox(), from, to,
                           call->or_fail<void>([call, from, to] {
                             call->answer("Moved " + call->shown(from) + " to "
                                          + call->shown(to) + ".");
                           }));
}

void file_move(const call_ptr& call) {
  const auto from = path_argument(call, "from"), to = path_argument(call, "to");
  if (!from || !to)
    return;
  with_entry(call, *from, [call, from = *from, to = *to](const sandbox_entry&) {
    find_entry(
      call, to, [call, from, to](const std::optional<sandbox_entry>& there) {
        if (!there)
          return move_to(call, from, to);
        if (there->folder)
          return move_to(call, from, to + from.substr(from.rfind('/')));
        if (!call->flag("overwrite"))
          return call->refuse(call->shown(to)
                              + " is there already. Set "
                                "overwrite=true to replace it.");
        move_to(call, from, to);
      });
  });
}

// -- file_delete --------------------------------------------------------------

void remove_path(const call_ptr& call, const std::string& path) {
  call->engine().remove_file(
    call->who(), call->sandbox(), path, call->or_fail<void>([call, path] {
      call->answer("Deleted " + call->shown(path) + ".");
    }));
}

void remove_folder(const call_ptr& call, const std::string& path) {
  if (call->flag("recursive"))
    return remove_path(call, path);
  call->engine().list_files(
    call->who(), call->sandbox(), path,
    call->or_fail<std::vector<sandbox_entry>>(
      [call, path](const std::vector<sandbox_entry>& all) {
        if (all.empty())
          return remove_path(call, path);
        call->refuse(call->shown(path) + " is a folder with "
                     + with_commas(all.size())
                     + (all.size() == 1 ? " entry" : " entries")
                     + " in it. Set recursive=true to delete all of it.");
      }));
}

void file_delete(const call_ptr& call) {
  const auto path = path_argument(call, "file");
  if (!path)
    return;
  if (*path == "/" || (call->workspace() + "/").starts_with(*path + "/"))
    return call->refuse("The workspace itself cannot be deleted. "
                        "sandbox_delete makes a fresh start.");
  with_entry(call, *path, [call, path = *path](const sandbox_entry& found) {
    if (found.folder)
      remove_folder(call, path);
    else
      remove_path(call, path);
  });
}

} // namespace

std::vector<tool_entry> writing_tools() {
  return {
    {"file_write", "Write a file", "files",
     "Creates or replaces a file with this content, making folders as needed. "
     "To change part of a file use file_edit.",
     "I",
     R"({"file":{"type":"string","minLength":1,"maxLength":4096,"description":"Path, relative to the workspace or absolute."},
"content":{"type":"string"},
"mode":{"type":"string","enum":["overwrite","create","append"],"default":"overwrite"},
"encoding":{"type":"string","enum":["utf-8","base64"],"default":"utf-8"},
"executable":{"type":"boolean","default":false}})",
     R"(["file","content"])", file_write},
    {"file_edit", "Replace text in a file", "files",
     "Replaces an exact piece of text in a file. Give enough surrounding lines "
     "that `old` occurs once, or set all=true. Copy it from file_read without "
     "the line numbers.",
     "",
     R"({"file":{"type":"string","minLength":1,"maxLength":4096,"description":"Path, relative to the workspace or absolute."},
"old":{"type":"string","minLength":1},
"new":{"type":"string"},
"all":{"type":"boolean","default":false}})",
     R"(["file","old","new"])", file_edit},
    {"file_move", "Move or rename", "files",
     "Moves or renames a file or folder. Into an existing folder it keeps its "
     "name.",
     "",
     R"({"from":{"type":"string","minLength":1,"maxLength":4096},
"to":{"type":"string","minLength":1,"maxLength":4096},
"overwrite":{"type":"boolean","default":false}})",
     R"(["from","to"])", file_move},
    {"file_delete", "Delete", "files",
     "Deletes a file, or with recursive=true a folder and everything in it.",
     "D",
     R"({"file":{"type":"string","minLength":1,"maxLength":4096,"description":"Path, relative to the workspace or absolute."},
"recursive":{"type":"boolean","default":false}})",
     R"(["file"])", file_delete},
  };
}

} // namespace troupe::toolkit
