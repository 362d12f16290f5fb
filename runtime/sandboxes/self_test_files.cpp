#include "runtime/sandboxes/self_test_files.hpp"

#include "runtime/base/error.hpp"
#include "runtime/model/ids.hpp"

#include <algorithm>

namespace troupe {

namespace {

namespace asio = boost::asio;
using outcome = result<void>;

constexpr std::string_view text = "it's \"here\"\n";

/// Every byte there is: what goes through text on its way does not survive.
std::string all_bytes() {
  std::string out;
  for (int i = 0; i < 256; ++i)
    out += static_cast<char>(i);
  return out;
}

error odd(std::string_view doing, std::string_view what) {
  return fail(ec::unavailable, std::string{doing} + ": " + std::string{what});
}

struct stage {
  sandbox_files& files;
  sandbox_handle in;
  call_scope scope;
  std::string folder = "/tmp/troupe-trial-" + make_uuid();
  std::string plain = folder + "/a file.txt";
  std::string deep = folder + "/deeper/all.bin";
  std::string moved = folder + "/deeper/moved.txt";
};

asio::awaitable<outcome> compare(stage& on, std::string path,
                                 std::string expected) {
  auto read = co_await on.files.read(on.in, std::move(path), on.scope);
  if (!read)
    co_return read.error().within("read a file back");
  if (*read != expected)
    co_return odd("read a file back", "its content is different");
  co_return outcome{};
}

asio::awaitable<outcome> write_some(stage& on) {
  auto made = co_await on.files.make_folder(on.in, on.folder, on.scope);
  if (!made)
    co_return made.error().within("create a directory");
  std::vector<sandbox_file> files;
  files.push_back({on.plain, std::string{text}});
  files.push_back({on.deep, all_bytes()});
  auto written = co_await on.files.write(on.in, std::move(files), on.scope);
  if (!written)
    co_return written.error().within("write two files");
  // Once more, alone: some providers spell one file otherwise than several.
  files.clear();
  files.push_back({on.plain, std::string{text}});
  written = co_await on.files.write(on.in, std::move(files), on.scope);
  if (!written)
    co_return written.error().within("overwrite a file");
  co_return outcome{};
}

asio::awaitable<outcome> look(stage& on) {
  auto found = co_await on.files.list(on.in, on.folder, on.scope);
  if (!found)
    co_return found.error().within("list the directory");
  auto has = [&](std::string_view name, bool folder) {
    return std::ranges::any_of(*found, [&](const sandbox_entry& each) {
      return each.name == name && each.folder == folder;
    });
  };
  if (found->size() != 2 || !has("a file.txt", false) || !has("deeper", true))
    co_return odd("list the directory", "it lists other entries than expected");
  auto entry = co_await on.files.stat(on.in, on.plain, on.scope);
  if (!entry)
    co_return entry.error().within("inspect a file");
  if (entry->folder || entry->bytes != text.size())
    co_return odd("inspect a file", "its description is wrong");
  auto same = co_await compare(on, on.plain, std::string{text});
  if (same)
    same = co_await compare(on, on.deep, all_bytes());
  co_return same;
}

/// Nothing is there any more.
asio::awaitable<outcome> miss(stage& on, std::string path,
                              std::string_view after) {
  auto entry = co_await on.files.stat(on.in, std::move(path), on.scope);
  if (entry)
    co_return odd(after, "it still exists");
  if (entry.error().code != ec::not_found)
    co_return entry.error().within(std::string{after});
  co_return outcome{};
}

asio::awaitable<outcome> move_and_remove(stage& on) {
  auto done = co_await on.files.move(on.in, on.plain, on.moved, on.scope);
  if (!done)
    co_return done.error().within("move a file");
  done = co_await compare(on, on.moved, std::string{text});
  if (done)
    done = co_await miss(on, on.plain, "move a file");
  if (!done)
    co_return done;
  done = co_await on.files.remove(on.in, on.folder, on.scope);
  if (!done)
    co_return done.error().within("delete a directory");
  done = co_await miss(on, on.folder, "delete a directory");
  co_return done;
}

asio::awaitable<result<std::string>> play(sandbox_files& files,
                                          sandbox_handle in, call_scope scope) {
  stage on{files, std::move(in), std::move(scope)};
  auto done = co_await write_some(on);
  if (done)
    done = co_await look(on);
  if (done)
    done = co_await move_and_remove(on);
  if (!done)
    co_return done.error();
  co_return std::string{"written, listed, read back, moved and removed"};
}

} // namespace

sandbox_self_test files_self_test(sandbox_files& files) {
  return {"files", [&files](sandbox_handle in, call_scope scope) {
            return play(files, std::move(in), std::move(scope));
          }};
}

} // namespace troupe
