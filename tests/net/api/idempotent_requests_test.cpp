// What an Idempotency-Key promises, over every POST.
#include "runtime/engine/api_key.hpp"
#include "runtime/engine/response_store.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/http/api_words.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::http_house;
using test::object_of;
using test::tool_body;

BOOST_AUTO_TEST_SUITE(idempotency_over_http)

namespace {

/// An archive that knows what the test says.
struct known_answers : response_store {
  archived_answer next;
  void enter(organization_id, std::string, secret,
             handler<archived_answer> done) override {
    done(next);
  }
  void keep(organization_id, std::string, std::string, std::string) override {}
  void release(organization_id, std::string, std::string) override {}
  void stop() override {}
};

} // namespace

BOOST_AUTO_TEST_CASE(answers_the_same_key_with_the_same_answer) {
  http_house house;
  const std::string key = "Idempotency-Key: k1\r\n";
  auto first = house.post("/v1/tools", tool_body("f"), key);
  auto again = house.post("/v1/tools", tool_body("f"), key);
  BOOST_TEST(first.status == 201);
  BOOST_TEST(again.status == 201);
  BOOST_TEST(again.body == first.body);
  BOOST_TEST(again.fields["idempotency-replayed"] == "true");
  BOOST_TEST(house.post("/v1/tools", tool_body("g"), key).status == 422);
  BOOST_TEST(house.post("/v1/tools", tool_body("f")).status == 409);
  auto other = make_api_key(organization_id::make(), "o", 7);
  house.engine.add_key(other.record);
  auto elsewhere
    = house.post("/v1/tools", tool_body("f"),
                 key + "Authorization: Bearer " + other.text.reveal() + "\r\n");
  BOOST_TEST(elsewhere.status == 201);
  BOOST_TEST(!elsewhere.fields.contains("idempotency-replayed"));
}

BOOST_AUTO_TEST_CASE(takes_no_refusal_for_the_answer_to_another_request) {
  http_house house;
  const std::string key = "Idempotency-Key: k1\r\n";
  // The first answer is a 422 itself: another request is still another one.
  auto first = house.post("/v1/tools", R"({"sorce_code":"x"})", key);
  BOOST_TEST(first.status == 422);
  auto other = house.post("/v1/tools", tool_body("f"), key);
  BOOST_TEST(other.status == 422);
  BOOST_TEST(other.body.find("idempotency_key_reused") != other.body.npos);
  BOOST_TEST(!other.fields.contains("idempotency-replayed"));
  auto again = house.post("/v1/tools", R"({"sorce_code":"x"})", key);
  BOOST_TEST(again.body == first.body);
  BOOST_TEST(again.fields["idempotency-replayed"] == "true");
}

BOOST_AUTO_TEST_CASE(believes_the_archive_about_keys_of_an_earlier_process) {
  auto archive = std::make_shared<known_answers>();
  net::api_options api;
  api.archive = archive;
  http_house house{{}, api};
  const std::string key = "Idempotency-Key: k1\r\n";
  archive->next.what = archived_answer::kind::other;
  for (int i = 0; i < 2; ++i) {
    auto other = house.post("/v1/tools", tool_body("f"), key);
    BOOST_TEST(other.status == 422);
    BOOST_TEST(!other.fields.contains("idempotency-replayed"));
  }
  archive->next.what = archived_answer::kind::answered;
  archive->next.answer = R"({"status":201,"type":"application/json",)"
                         R"("body":"{}","fields":{"location":"/x"}})";
  for (int i = 0; i < 2; ++i) {
    auto again = house.post("/v1/tools", tool_body("g"), key);
    BOOST_TEST(again.status == 201);
    BOOST_TEST(again.fields["location"] == "/x");
    auto at = again.head.find("idempotency-replayed");
    BOOST_TEST(
      (at != again.head.npos
       && again.head.find("idempotency-replayed", at + 1) == again.head.npos));
  }
}

BOOST_AUTO_TEST_CASE(tells_a_key_once_and_where_it_is_ever_after) {
  http_house house;
  const std::string once = "Idempotency-Key: k1\r\n";
  const std::string wish = R"({"name":"ci","scopes":["run"]})";
  auto made = house.post("/v1/keys", wish, once);
  BOOST_TEST(made.status == 201);
  std::string text{object_of(made).at("key").as_string()};
  auto again = house.post("/v1/keys", wish, once);
  BOOST_TEST(again.status == 409);
  BOOST_TEST(again.fields["location"] == made.fields["location"]);
  BOOST_TEST(again.body.find(made.fields["location"]) != again.body.npos);
  BOOST_TEST(again.body.find(text) == again.body.npos);
  auto all = object_of(house.get("/v1/keys"));
  BOOST_TEST(all.at("items").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(minds_the_idempotency_key_of_every_post) {
  http_house house;
  const auto long_one = "Idempotency-Key: " + std::string(256, 'k') + "\r\n";
  for (const auto& r : house.server.routes().routes()) {
    if (r.verb != net::method::post || !r.path.starts_with("/v1/"))
      continue;
    if (r.path.find("/proxy") != r.path.npos)
      continue; // the key is for the server inside
    auto body = r.rules.body == net::body_rule::none ? "" : "{}";
    auto a = house.post(r.path, body, long_one);
    BOOST_TEST(a.body.find("bad_idempotency_key") != a.body.npos,
               r.path << ": " << a.body);
  }
}

BOOST_AUTO_TEST_CASE(says_which_run_a_key_was_first_used_for) {
  http_house house;
  auto first = run_id::make();
  house.engine.play = [&](const run_request&) -> result<run_result> {
    run_result done;
    done.id = first;
    done.replayed = true;
    return done;
  };
  for (std::string accept : {"*/*", "text/event-stream"}) {
    auto a = house.post("/v1/runs", R"({"command":"true"})",
                        "Idempotency-Key: k1\r\nAccept: " + accept + "\r\n");
    BOOST_TEST(a.fields["idempotency-replayed"] == "true", accept);
    BOOST_TEST(a.fields["location"] == "/v1/runs/" + first.str(), accept);
  }
}

BOOST_AUTO_TEST_SUITE_END()
