// Daytona's official client against the stand-in that our provider is tested
// with (tests/compat/daytona_stand_in), and its requests beside ours.
#include "runtime/json/json.hpp"
#include "tests/net/providers/daytona/daytona_server.hpp"
#include "tests/support/hosts/npm_client.hpp"
#include "tests/support/providers/self_tested.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <string>

using namespace troupe;
using test::daytona_stand_in;
using test::stand_request;

BOOST_AUTO_TEST_SUITE(daytona_client)

namespace {

const std::string folder = TROUPE_BINARY_DIR "/daytona_client";

const test::npm_client client{"daytona_stand_in", folder};

void run_ours(daytona_stand_in& daytona) {
  net::daytona_options o;
  o.api_key = secret{daytona_stand_in::api_key};
  o.api_url = daytona.api_url();
  test::remote_side side;
  side.open([o](auto client) { return make_daytona(client, o); });
  auto run = test::shell_run(backend_kind::daytona, "cat");
  run.stdin_text = "given";
  run.network.mode = network_mode::off;
  BOOST_TEST(side.good(run).stdout_text == "given");
  sandbox_lease lost; // so that there is something to look for
  lost.tag = "tag";
  lost.provider = backend_kind::daytona;
  lost.organization = default_organization();
  lost.run = run_id::make();
  BOOST_REQUIRE(side.leases->write(lost).has_value());
  std::promise<void> looked;
  side.backend->reconcile(true, [&](auto) { looked.set_value(); });
  looked.get_future().wait();
  auto beside
    = test::self_tests_at([o](auto client) { return make_daytona(client, o); },
                          backend_kind::daytona);
  for (const auto& [name, why] : beside.failed)
    BOOST_ERROR(name << ": " << why);
  // What runs do that share a sandbox, and what needs a repository elsewhere,
  // which a trial of the real one lacks.
  test::daytona_house house{o};
  BOOST_TEST(house.reconnect());
  test::clone_and_push(house, {"me", secret{"word"}}, "/tmp/troupe-o");
}

constexpr const char* organization = "org-1";

/// With a token of an organization, from an image, to a few hosts.
void run_ours_there(daytona_stand_in& daytona) {
  net::daytona_options o;
  o.api_key = secret{daytona_stand_in::api_key};
  o.organization = organization;
  o.target = "eu";
  o.api_url = daytona.api_url();
  test::remote_side side;
  side.open([o](auto client) { return make_daytona(client, o); });
  auto run = test::shell_run(backend_kind::daytona, "true");
  sandbox_config config;
  config.type = backend_kind::daytona;
  config.config = {{"image", "python:3.12-slim"}};
  run.config = std::make_shared<sandbox_config>(std::move(config));
  run.network = {network_mode::listed, {"example.org", "10.0.0.0/8"}};
  run.env.emplace("NAME", secret{"x"});
  side.good(run);
}

/// Without what is made up at each run; with the names of its query.
std::string plain_path(const stand_request& r) {
  auto path = r.path;
  for (std::string name : {"box-", "cmd-"})
    if (auto at = path.find(name); at != path.npos)
      path.replace(at, path.find('/', at) - at, "*");
  for (const auto& [name, value] : r.query)
    path += (path.find('?') == path.npos ? "?" : "&") + name;
  return path;
}

/// "GET /api/sandbox/*" and the names of its headers.
std::map<std::string, std::set<std::string>>
headers_of(daytona_stand_in& daytona) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& r : daytona.server().requests()) {
    auto path = plain_path(r);
    for (const auto& [field, value] : r.headers)
      out[r.method + " " + path].insert(field);
  }
  return out;
}

std::set<std::string> members(const std::string& body) {
  std::set<std::string> out;
  auto parsed = json::parse_object(body);
  BOOST_REQUIRE(parsed.has_value());
  for (const auto& [name, value] : *parsed)
    out.insert(std::string{name});
  if (auto* build = parsed->if_contains("buildInfo"))
    for (const auto& [name, value] : build->as_object())
      out.insert("buildInfo." + std::string{name});
  return out;
}

/// Headers that mean something, and with which request: one that we send, they
/// do as well.
void check_none_is_ours_only(const std::string& request,
                             const std::set<std::string>& theirs,
                             const std::set<std::string>& ours) {
  for (const auto& field : ours)
    BOOST_TEST((theirs.contains(field) || field == "traceparent"
                || field == "content-length"), // theirs is chunked now and then
               request << ": " << field << " is ours only");
}

/// Of a form: each part with the last name of its file, our own made up ones
/// aside. Of JSON: its members.
std::set<std::string> parts_of(const stand_request& r) {
  if (!r.header("content-type").starts_with("multipart/form-data"))
    return r.body.empty() ? std::set<std::string>{} : members(r.body);
  std::set<std::string> out;
  constexpr std::string_view mark = "Content-Disposition: form-data; ";
  for (auto at = r.body.find(mark); at != r.body.npos;
       at = r.body.find(mark, at + 1)) {
    auto line = r.body.substr(at + mark.size());
    line.resize(std::min(line.size(), line.find("\r\n")));
    auto file = line.find("filename=");
    out.insert(file == line.npos ? line : line.substr(0, file) + "filename");
    if (file != line.npos)
      BOOST_TEST(line.find('/') == line.npos, line); // no path, its last name
  }
  return out;
}

/// What is done with a sandbox and in it, and the members of its bodies.
std::map<std::string, std::set<std::string>>
bodies_of(daytona_stand_in& daytona) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& r : daytona.server().requests())
    if (r.method != "GET" && r.path != "/api/sandbox")
      out[r.method + " " + plain_path(r)].merge(parts_of(r));
  return out;
}

} // namespace

namespace {

void run_theirs(daytona_stand_in& daytona, const std::string& more = {}) {
  auto script = "cd " + folder + " && node client_test.mjs " + daytona.api_url()
    + " " + daytona_stand_in::api_key + " " + more;
  BOOST_TEST(std::system(script.c_str()) == 0);
  BOOST_TEST(daytona.alive() == 0);
  BOOST_TEST(daytona.created() == 1);
}

void compare(daytona_stand_in& theirs, daytona_stand_in& ours) {
  auto a = headers_of(theirs);
  auto b = headers_of(ours);
  // Theirs reads one file as it reads many; every daemon has this way, too.
  b.erase("GET /toolbox/*/files/download?path");
  for (const auto& [request, fields] : b) {
    BOOST_TEST_REQUIRE(a.contains(request), request << " is ours only");
    for (auto needed : {"authorization", "accept", "user-agent",
                        "x-daytona-source", "x-daytona-sdk-version"})
      BOOST_TEST(fields.contains(needed), request << " lacks " << needed);
    check_none_is_ours_only(request, a.at(request), fields);
  }
  for (const auto& [request, fields] : a)
    BOOST_TEST(b.contains(request), request << " is theirs only");
  auto inside = bodies_of(theirs);
  for (const auto& [call, parts] : bodies_of(ours))
    BOOST_TEST((inside[call] == parts), call);
  // Whatever we say at a creation, they can say; `name` makes ours repeatable.
  auto said = members(theirs.creation());
  for (const auto& member : members(ours.creation()))
    BOOST_TEST((said.contains(member) || member == "name"), member);
}

} // namespace

BOOST_AUTO_TEST_CASE(takes_our_stand_in_for_daytona_and_speaks_as_we_do,
                     *boost::unit_test::precondition(client)) {
  daytona_stand_in theirs, ours;
  theirs.list_in_pages();
  ours.list_in_pages();
  run_theirs(theirs);
  run_ours(ours);
  compare(theirs, ours);
}

BOOST_AUTO_TEST_CASE(does_so_for_an_organization_and_from_an_image,
                     *boost::unit_test::precondition(client)) {
  daytona_stand_in theirs, ours;
  theirs.serve_tokens_of(organization);
  ours.serve_tokens_of(organization);
  run_theirs(theirs, organization);
  run_ours_there(ours);
  compare(theirs, ours);
}

BOOST_AUTO_TEST_SUITE_END()
