#include "net/providers/daytona/files.hpp"

#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/replies.hpp"

#include <boost/beast/http/field.hpp>

namespace troupe::net {

namespace {

constexpr std::string_view folder_mode = "755";

class daytona_files final : public sandbox_files {
public:
  explicit daytona_files(daytona_client client) : client_{std::move(client)} {}

private:
  later<void> do_write(sandbox_handle in, std::vector<sandbox_file> files,
                       call_scope scope) override {
    return plain(std::move(in), daytona::upload(files), std::move(scope));
  }
  /// As their own client reads even one file.
  later<std::string> do_read(sandbox_handle in, std::string path,
                             call_scope scope) override {
    std::vector<std::string> paths{std::move(path)};
    auto what = daytona::download_all(paths);
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    std::string type{reply->headers[boost::beast::http::field::content_type]};
    co_return daytona::parse_download(type, reply->body);
  }
  later<std::vector<sandbox_entry>> do_list(sandbox_handle in, std::string path,
                                            call_scope scope) override {
    auto what = daytona::list_folder(path);
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return daytona::parse_entries(reply->body);
  }
  later<sandbox_entry> do_stat(sandbox_handle in, std::string path,
                               call_scope scope) override {
    auto what = daytona::file_info(path);
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return daytona::parse_entry(reply->body);
  }
  later<void> do_make_folder(sandbox_handle in, std::string path,
                             call_scope scope) override {
    return plain(std::move(in), daytona::make_folder(path, folder_mode),
                 std::move(scope));
  }
  later<void> do_move(sandbox_handle in, std::string from, std::string to,
                      call_scope scope) override {
    return plain(std::move(in), daytona::move(from, to), std::move(scope));
  }
  later<void> do_remove(sandbox_handle in, std::string path,
                        call_scope scope) override {
    return plain(std::move(in), daytona::remove(path, true), std::move(scope));
  }

  later<void> plain(sandbox_handle in, daytona::call what, call_scope scope) {
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return result<void>{};
  }

  daytona_client client_;
};

} // namespace

std::unique_ptr<sandbox_files> make_daytona_files(daytona_client client) {
  return std::make_unique<daytona_files>(std::move(client));
}

} // namespace troupe::net
