// E2B's official client against the stand-in that our provider is tested with
// (tests/compat/e2b_stand_in), and its requests beside ours.
#include "net/http/multipart.hpp"
#include "net/providers/e2b/provider.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/hosts/npm_client.hpp"
#include "tests/support/providers/fake_e2b.hpp"
#include "tests/support/providers/remote_contract.hpp"
#include "tests/support/providers/self_tested.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <string>

using namespace troupe;
using test::e2b_stand_in;
using test::stand_request;

BOOST_AUTO_TEST_SUITE(e2b_client)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/e2b_client";

const test::npm_client client{"e2b_stand_in", folder};

/// An envd that is told its user, and not that an input ends.
constexpr const char* old_envd = "0.3.0";

void run_theirs(e2b_stand_in& e2b, bool old) {
  auto script = "cd " + folder + " && node client_test.mjs " + e2b.url() + " "
    + e2b_stand_in::api_key + (old ? " old" : "");
  BOOST_TEST(std::system(script.c_str()) == 0);
  BOOST_TEST(e2b.boxes().empty());
  BOOST_TEST(e2b.created() == 1);
}

/// The same operations: code of two languages, a command, its input, whether
/// the sandbox is there, a list, and all that is done beside runs.
void run_ours(e2b_stand_in& e2b) {
  net::e2b_options o;
  o.api_key = secret{e2b_stand_in::api_key};
  o.api_url = o.sandbox_url = e2b.url();
  test::remote_side side;
  side.open([o](auto client) { return make_e2b(client, o); });
  auto code = test::python_run(backend_kind::e2b, "def f():\n  return 1\n");
  code.function = "f";
  BOOST_TEST(side.good(code).value_json == "1");
  code.lang = language::javascript;
  code.source = "export function f() { return 2; }";
  BOOST_TEST(side.good(code).value_json == "2");
  auto command = test::shell_run(backend_kind::e2b, "cat");
  command.stdin_text = "given";
  command.env.emplace("NAME", secret{"it's \"here\""});
  BOOST_TEST(side.good(command).stdout_text == "given");
  test::fault cut; // so that there is something to ask for
  cut.what = test::fault::kind::raw;
  cut.path = "/process.Process/Start";
  cut.bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\n"
              "Transfer-Encoding: chunked\r\n\r\n";
  e2b.server().add_fault(cut);
  command.stdin_text.clear();
  BOOST_TEST(!side.run(command).answer.has_value());
  sandbox_lease lost; // so that there is something to look for
  lost.tag = "tag";
  lost.provider = backend_kind::e2b;
  lost.organization = default_organization();
  lost.run = run_id::make();
  BOOST_REQUIRE(side.leases->write(lost).has_value());
  std::promise<void> looked;
  side.backend->reconcile(true, [&](auto) { looked.set_value(); });
  looked.get_future().wait();
  auto beside = test::self_tests_at(
    [o](auto client) { return make_e2b(client, o); }, backend_kind::e2b);
  for (const auto& [name, why] : beside.failed)
    BOOST_ERROR(name << ": " << why);
}

/// The names in a body, nested ones as "process.cmd"; what a map holds is its
/// owner's. A stream's body is in an envelope.
std::set<std::string> members(const stand_request& r) {
  auto text = r.body;
  if (r.header("content-type") == "application/connect+json")
    text.erase(0, 5);
  auto parsed = json::parse_object(text);
  std::set<std::string> out;
  if (auto form = net::parse_form(r.header("content-type"), text))
    for (const auto& part : *form)
      out.insert(part.name + " " + part.type
                 + (part.filename.starts_with('/') ? " by its path" : ""));
  if (!parsed)
    return out;
  for (const auto& [name, value] : *parsed) {
    std::string key{name};
    out.insert(key);
    if (value.is_object() && key != "metadata")
      for (const auto& [inner, ignored] : value.as_object())
        out.insert(key + "." + std::string{inner});
  }
  return out;
}

struct request_shape {
  std::map<std::string, std::string> headers; // of the last one
  std::set<std::string> members;              // of all
};

/// By "DELETE /sandboxes/*".
std::map<std::string, request_shape> shapes_of(e2b_stand_in& e2b) {
  std::map<std::string, request_shape> out;
  for (const auto& r : e2b.server().requests()) {
    auto path = r.path;
    for (auto mark : {"/ibox", "/context-"})
      if (auto at = path.find(mark); at != path.npos)
        path.replace(at + 1, path.find('/', at + 1) - at - 1, "*");
    for (const auto& [name, value] : r.query)
      path += (path.find('?') == path.npos ? "?" : "&") + name;
    auto& shape = out[r.method + " " + path];
    shape.headers = r.headers;
    shape.members.merge(members(r));
  }
  return out;
}

/// What theirs tells about itself, and how they frame a body of any length.
const std::set<std::string> of_their_own{
  "accept-encoding",  "accept-language", "browser",
  "connection",       "integration",     "lang",
  "lang_version",     "package_version", "publisher",
  "sdk_runtime",      "sec-fetch-mode",  "system",
  "transfer-encoding"};
/// Those that mean something have to say the same.
const std::set<std::string> with_values{"authorization",
                                        "connect-protocol-version",
                                        "content-type",
                                        "e2b-sandbox-port",
                                        "e2b-traffic-access-token",
                                        "keepalive-ping-interval",
                                        "x-access-token",
                                        "x-api-key"};

void compare(const std::string& what, const request_shape& theirs,
             const request_shape& ours) {
  for (const auto& [name, value] : theirs.headers) {
    if (of_their_own.contains(name))
      continue;
    BOOST_TEST(ours.headers.contains(name), what << " lacks " << name);
    if (with_values.contains(name) && ours.headers.contains(name))
      BOOST_TEST(
        ours.headers.at(name).substr(0, ours.headers.at(name).find(';'))
          == value.substr(0, value.find(';')), // its boundary
        what << " " << name);
  }
  for (const auto& name : with_values)
    BOOST_TEST((theirs.headers.contains(name) || !ours.headers.contains(name)),
               what << ": " << name << " is ours only");
  for (const auto& member : ours.members)
    BOOST_TEST(theirs.members.contains(member),
               what << ": " << member << " is ours only");
  for (const auto& member : theirs.members)
    BOOST_TEST(ours.members.contains(member),
               what << ": " << member << " is theirs only");
}

} // namespace

namespace {

void compare_all(bool old) {
  e2b_stand_in theirs, ours;
  theirs.list_in_pages();
  ours.list_in_pages();
  if (old) {
    theirs.speak_as(old_envd);
    ours.speak_as(old_envd);
  }
  run_theirs(theirs, old);
  run_ours(ours);
  auto a = shapes_of(theirs);
  auto b = shapes_of(ours);
  for (const auto& [request, shape] : b) {
    BOOST_TEST_REQUIRE(a.contains(request), request << " is ours only");
    compare(request, a.at(request), shape);
  }
  for (const auto& [request, shape] : a)
    BOOST_TEST(b.contains(request), request << " is theirs only");
}

} // namespace

BOOST_AUTO_TEST_CASE(takes_our_stand_in_for_e2b_and_speaks_as_we_do,
                     *boost::unit_test::precondition(client)) {
  compare_all(false);
}

BOOST_AUTO_TEST_CASE(does_so_with_an_envd_of_long_ago_too,
                     *boost::unit_test::precondition(client)) {
  compare_all(true);
}

BOOST_AUTO_TEST_SUITE_END()
