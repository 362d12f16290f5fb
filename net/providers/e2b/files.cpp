#include "net/providers/e2b/files.hpp"

#include "net/providers/e2b/calls.hpp"
#include "net/providers/e2b/messages.hpp"

namespace troupe::net {

namespace {

namespace asio = boost::asio;

class e2b_files final : public sandbox_files {
public:
  explicit e2b_files(e2b_client client) : client_{std::move(client)} {}

private:
  later<void> do_write(sandbox_handle in, std::vector<sandbox_file> files,
                       call_scope scope) override {
    auto what = e2b::write_files(files, e2b::user_of(in));
    return plain(std::move(in), std::move(what), std::move(scope));
  }
  later<std::string> do_read(sandbox_handle in, std::string path,
                             call_scope scope) override {
    auto what = e2b::read_file(path, e2b::user_of(in));
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return std::move(reply->body);
  }
  later<std::vector<sandbox_entry>> do_list(sandbox_handle in, std::string path,
                                            call_scope scope) override {
    auto what = e2b::list_folder(path);
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return e2b::parse_entries(reply->body);
  }
  later<sandbox_entry> do_stat(sandbox_handle in, std::string path,
                               call_scope scope) override {
    auto what = e2b::stat(path);
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return e2b::parse_entry(reply->body);
  }
  later<void> do_make_folder(sandbox_handle in, std::string path,
                             call_scope scope) override {
    auto what = e2b::make_folder(path);
    auto made
      = co_await plain(std::move(in), std::move(what), std::move(scope));
    if (!made && made.error().code == ec::conflict)
      co_return result<void>{}; // it is there
    co_return made;
  }
  later<void> do_move(sandbox_handle in, std::string from, std::string to,
                      call_scope scope) override {
    return plain(std::move(in), e2b::move(from, to), std::move(scope));
  }
  later<void> do_remove(sandbox_handle in, std::string path,
                        call_scope scope) override {
    return plain(std::move(in), e2b::remove(path), std::move(scope));
  }

  later<void> plain(sandbox_handle in, e2b::call what, call_scope scope) {
    auto reply = co_await client_.perform(in, std::move(what), scope);
    if (!reply)
      co_return reply.error();
    co_return result<void>{};
  }

  e2b_client client_;
};

} // namespace

std::unique_ptr<sandbox_files> make_e2b_files(e2b_client client) {
  return std::make_unique<e2b_files>(std::move(client));
}

} // namespace troupe::net
