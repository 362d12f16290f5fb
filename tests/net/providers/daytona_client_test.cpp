// Daytona's official client against the stand-in that our provider is tested
// with (tests/compat/daytona_stand_in), and its requests beside ours.
#include "net/providers/daytona.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/daytona_stand_in.hpp"
#include "tests/support/npm_client.hpp"
#include "tests/support/remote_contract.hpp"

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
}

/// "GET /api/sandbox/*": without what is made up at each run.
std::map<std::string, std::set<std::string>>
headers_of(daytona_stand_in& daytona) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& r : daytona.server().requests()) {
    auto path = r.path;
    for (auto name : {"box-1", "cmd-1"})
      if (auto at = path.find(name); at != path.npos)
        path.replace(at, 5, "*");
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
  return out;
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

/// What is done in a sandbox, as "exec" or "bulk-upload".
std::map<std::string, std::set<std::string>>
bodies_of(daytona_stand_in& daytona) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& r : daytona.server().requests())
    if (r.method == "POST" && r.path.starts_with("/toolbox/"))
      out[r.path.substr(r.path.rfind('/') + 1)].merge(parts_of(r));
  return out;
}

} // namespace

BOOST_AUTO_TEST_CASE(takes_our_stand_in_for_daytona_and_speaks_as_we_do,
                     *boost::unit_test::precondition(client)) {
  daytona_stand_in theirs, ours;
  auto script = "cd " + folder + " && node client_test.mjs " + theirs.api_url()
    + " " + daytona_stand_in::api_key;
  BOOST_TEST(std::system(script.c_str()) == 0);
  BOOST_TEST(theirs.alive() == 0);
  BOOST_TEST(theirs.created() == 1);
  run_ours(ours);
  auto a = headers_of(theirs);
  auto b = headers_of(ours);
  for (const auto& [request, fields] : b) {
    BOOST_TEST_REQUIRE(a.contains(request), request);
    for (auto needed : {"authorization", "accept", "user-agent",
                        "x-daytona-source", "x-daytona-sdk-version"})
      BOOST_TEST(fields.contains(needed), request << " lacks " << needed);
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

BOOST_AUTO_TEST_SUITE_END()
