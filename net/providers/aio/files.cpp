#include "net/providers/aio/files.hpp"

#include "net/providers/shell_quote.hpp"
#include "runtime/base/error.hpp"

#include <algorithm>
#include <set>

namespace troupe::net {

namespace {

class aio_files final : public sandbox_files {
public:
  explicit aio_files(aio_client client) : client_{std::move(client)} {}

private:
  later<void> do_write(sandbox_handle, std::vector<sandbox_file> files,
                       call_scope scope) override {
    auto made = co_await command(folders_of(files), scope);
    if (!made)
      co_return made.error();
    for (const auto& file : files) {
      auto what = json::is_utf8(file.content)
        ? aio::write_text(file.path, file.content)
        : aio::upload(file);
      auto put = co_await client_.call(std::move(what), scope);
      if (!put)
        co_return put.error();
    }
    co_return result<void>{};
  }
  later<std::string> do_read(sandbox_handle, std::string path,
                             call_scope scope) override {
    auto what = aio::download(path);
    auto reply = co_await client_.send(std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return std::move(reply->body);
  }
  later<std::vector<sandbox_entry>> do_list(sandbox_handle, std::string path,
                                            call_scope scope) override {
    auto what = aio::list_folder(path);
    auto data = co_await client_.call(std::move(what), scope);
    if (!data)
      co_return data.error();
    co_return aio::parse_entries(*data);
  }
  /// There is no call for one name: its folder is asked.
  later<sandbox_entry> do_stat(sandbox_handle in, std::string path,
                               call_scope scope) override {
    auto cut = path.rfind('/');
    auto folder = cut == 0 ? std::string{"/"} : path.substr(0, cut);
    auto all = co_await do_list(std::move(in), folder, std::move(scope));
    if (!all)
      co_return all.error();
    auto name = std::string_view{path}.substr(cut + 1);
    auto found = std::ranges::find(*all, name, &sandbox_entry::name);
    if (found == all->end())
      co_return fail(ec::not_found, "the AIO sandbox has no such file");
    co_return std::move(*found);
  }
  later<void> do_make_folder(sandbox_handle, std::string path,
                             call_scope scope) override {
    return command("mkdir -p -- " + shell_quote(path), std::move(scope));
  }
  later<void> do_move(sandbox_handle, std::string from, std::string to,
                      call_scope scope) override {
    return command("mv -- " + shell_quote(from) + " " + shell_quote(to),
                   std::move(scope));
  }
  later<void> do_remove(sandbox_handle, std::string path,
                        call_scope scope) override {
    return command("rm -rf -- " + shell_quote(path), std::move(scope));
  }

  static std::string folders_of(const std::vector<sandbox_file>& files) {
    std::set<std::string> all;
    for (const auto& file : files)
      all.insert(file.path.substr(0, file.path.rfind('/') + 1));
    std::string line = "mkdir -p --";
    for (const auto& folder : all)
      line += " " + shell_quote(folder);
    return line;
  }

  later<void> command(std::string line, call_scope scope) {
    auto done
      = co_await client_.plain_command(std::move(line), std::move(scope));
    if (!done)
      co_return done.error();
    co_return result<void>{};
  }

  aio_client client_;
};

} // namespace

std::unique_ptr<sandbox_files> make_aio_files(aio_client client) {
  return std::make_unique<aio_files>(std::move(client));
}

} // namespace troupe::net
