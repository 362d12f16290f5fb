#include "net/server/operator_socket.hpp"
#include "runtime/engine/api_key.hpp"
#include "tests/support/http/http_server.hpp"
#include "tests/support/temporary_directory.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(operator_socket)

namespace {

constexpr std::string_view one_key
  = R"({"name":"x","scopes":["operator"],"organization_id":)"
    R"("org-11111111-1111-4111-8111-111111111111"})";

} // namespace

struct fixture {
  net::server_options with_socket() {
    net::server_options o;
    o.auth = net::auth_mode::required;
    o.operator_socket = socket;
    return o;
  }

  int make_key(raw_client c, const std::string& fields = {}) {
    c.send("POST /v1/keys HTTP/1.1\r\nHost: localhost\r\n" + fields
           + "Content-Type: application/json\r\nContent-Length: "
           + std::to_string(one_key.size()) + "\r\n\r\n"
           + std::string{one_key});
    return c.read().status;
  }

  tests::temporary_directory folder;
  std::filesystem::path socket = folder / "operator.sock";
};

BOOST_FIXTURE_TEST_CASE(lets_our_own_user_in_without_a_key, fixture) {
  http_house house{with_socket()};
  BOOST_TEST(house.server.serves_operators());
  BOOST_TEST(house.post("/v1/keys", one_key).status == 401);
  BOOST_TEST(make_key(raw_client{socket}) == 201);
  // With a key the caller is its owner, as anywhere.
  auto small = make_api_key(default_organization(), "small", 1);
  house.engine.add_key(small.record);
  BOOST_TEST(make_key(raw_client{socket},
                      "Authorization: Bearer " + small.text.reveal() + "\r\n")
             == 403);
  struct stat about {};
  BOOST_TEST_REQUIRE(::stat(socket.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 07777) == 0600);
  house.server.stop();
  BOOST_TEST(!std::filesystem::exists(socket));
}

BOOST_FIXTURE_TEST_CASE(turns_other_users_away_whatever_the_mode, fixture) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("not root: cannot be another user");
    return;
  }
  http_house house{with_socket()};
  ::chmod(folder.path().c_str(), 0777);
  ::chmod(socket.c_str(), 0777);
  auto at = unix_address::of(socket);
  BOOST_TEST_REQUIRE(!!at);
  const auto child = ::fork();
  if (child == 0) { // only calls of the kernel from here on
    constexpr uid_t somebody = 65'534;
    constexpr std::string_view question
      = "GET /v1/keys HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[128] = {};
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setresuid(somebody, somebody, somebody) != 0
        || ::connect(fd, at->data(), at->size()) != 0)
      ::_exit(1);
    ::send(fd, question.data(), question.size(), MSG_NOSIGNAL);
    const auto n = ::recv(fd, answer, sizeof answer - 1, MSG_WAITALL);
    ::_exit(n > 12 && std::string_view{answer}.starts_with("HTTP/1.1 403") ? 0
                                                                           : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_FIXTURE_TEST_CASE(takes_the_place_of_what_a_dead_process_left, fixture) {
  { auto left = net::open_operator_socket(socket); }
  BOOST_TEST_REQUIRE(std::filesystem::exists(socket));
  http_house house{with_socket()};
  BOOST_TEST(make_key(raw_client{socket}) == 201);
}

BOOST_FIXTURE_TEST_CASE(leaves_a_file_alone_that_is_no_socket, fixture) {
  std::ofstream{socket} << "of another program";
  {
    http_house house{with_socket()}; // there is an address beside it
    BOOST_TEST(!house.server.serves_operators());
    BOOST_TEST(house.get("/livez").status == 200);
  }
  BOOST_TEST(std::filesystem::file_size(socket) > 0u);
  auto alone = with_socket();
  alone.listen.clear();
  test::fake_engine engine;
  net::http_server server{engine, alone};
  auto started = server.start();
  BOOST_TEST_REQUIRE(!started);
  BOOST_TEST((started.error().code == ec::conflict));
}

BOOST_FIXTURE_TEST_CASE(is_found_at_the_end_of_a_long_path, fixture) {
  auto far = folder.path();
  for (int i = 0; i < 4; ++i)
    far /= std::string(60, 'x');
  std::filesystem::create_directories(far);
  socket = far / "operator.sock";
  http_house house{with_socket()};
  BOOST_TEST(make_key(raw_client{socket}) == 201);
}

BOOST_AUTO_TEST_SUITE_END()
