// A sandbox that lives on this machine, over HTTP, as a user asks for it.
#include "tests/app/serving.hpp"

using namespace troupe;

BOOST_AUTO_TEST_SUITE(sandboxes_of_this_machine)

namespace {

json::object body_of(const std::string& answer) {
  const auto at = answer.find("\r\n\r\n");
  BOOST_REQUIRE_MESSAGE(at != answer.npos, answer);
  auto body = json::parse_object(answer.substr(at + 4));
  BOOST_REQUIRE_MESSAGE(body.has_value(), answer);
  return *body;
}

} // namespace

BOOST_AUTO_TEST_CASE(keep_files_between_two_programs_and_end_when_deleted) {
  temporary_folder folder;
  serving engine{folder};
  const auto address = engine.address();
  auto made = body_of(ask(address, "POST /v1/sandboxes", "{}"));
  BOOST_TEST(made.at("state") == "running", made);
  BOOST_TEST(made.at("place") == "local");
  BOOST_TEST(made.at("network") == "off");
  const auto path = "/v1/sandboxes/" + std::string{made.at("id").as_string()};
  auto wrote = body_of(
    ask(address, "POST " + path + "/exec",
        R"({"argv": ["/bin/sh", "-c", "echo kept > note; exit 3"]})"));
  BOOST_TEST(wrote.at("exit_code") == 3, wrote);
  auto read = body_of(ask(address, "POST " + path + "/exec",
                          R"({"argv": ["/bin/cat", "note"]})"));
  BOOST_TEST(read.at("stdout") == "kept\n", read);
  auto gone = ask(address, "DELETE " + path);
  BOOST_TEST(gone.find(" 204 ") != gone.npos, gone);
  auto late = ask(address, "GET " + path);
  BOOST_TEST(late.find(" 410 ") != late.npos, late);
}

BOOST_AUTO_TEST_CASE(keep_what_a_cell_defined_for_the_next_one) {
  temporary_folder folder;
  serving engine{folder};
  const auto address = engine.address();
  auto made = body_of(ask(address, "POST /v1/sandboxes", "{}"));
  const auto path = "/v1/sandboxes/" + std::string{made.at("id").as_string()};
  const auto run = [&](const std::string& code) {
    return body_of(ask(address, "POST " + path + "/execute",
                       R"({"language": "python", "code": ")" + code + "\"}"));
  };
  BOOST_TEST(run("x = 20").at("status") == "ok");
  auto value = run("print(x)\\nx + 1");
  BOOST_TEST(value.at("stdout") == "20\n", value);
  BOOST_TEST(value.at("results").at(0).at("data").at("text/plain") == "21",
             value);
  auto raised = run("1/0");
  BOOST_TEST(raised.at("status") == "error", raised);
  BOOST_TEST(raised.at("error").at("name") == "ZeroDivisionError", raised);
  auto gone = ask(address, "DELETE " + path);
  BOOST_TEST(gone.find(" 204 ") != gone.npos, gone);
}

BOOST_AUTO_TEST_CASE(have_the_network_that_they_ask_for_and_no_other) {
  temporary_folder folder;
  serving engine{folder};
  const auto create = [address = engine.address()](const char* body) {
    return ask(address, "POST /v1/sandboxes", body);
  };
  auto open = create(R"({"network": "public"})");
  BOOST_TEST(open.find(" 201 ") != open.npos, open);
  BOOST_TEST(open.find(R"("network":"public")") != open.npos, open);
  auto closed = create("{}");
  BOOST_TEST(closed.find(R"("network":"off")") != closed.npos, closed);
  auto refused = create(R"({"network": "everything"})");
  BOOST_TEST(refused.find(" 422 ") != refused.npos, refused);
  BOOST_TEST(refused.find("/network") != refused.npos, refused);
}

BOOST_AUTO_TEST_SUITE_END()
