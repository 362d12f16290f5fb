// Streams of any size, to readers of any speed.
#include "runtime/json/json.hpp"
#include "tests/support/http/api_words.hpp"
#include "tests/support/http/http_server.hpp"

using namespace troupe;
using test::count;
using test::http_house;
using test::posting;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(streams_over_http)

namespace {

constexpr std::size_t large = 8u << 20;

const std::string as_sse = "Accept: text/event-stream\r\n";
const std::string nothing = R"({"command":"true"})";

/// A result of 8 MiB, behind some output.
void answer_largely(test::fake_engine& engine) {
  engine.chatter = {std::string(10'000, 'o')};
  engine.play = [](const run_request& r) -> result<run_result> {
    run_result done;
    done.id = r.id;
    done.status = run_status::success;
    done.reason = exit_reason::exited;
    done.value_json = '"' + std::string(large, 'v') + '"';
    return done;
  };
}

std::size_t value_of(http_house& house, const std::string& name) {
  auto text = house.get("/metrics").body;
  auto at = text.find("\n" + name + " ");
  BOOST_REQUIRE(at != text.npos);
  return std::stoul(text.substr(at + name.size() + 2));
}

std::string batch_of(int items) {
  std::string out;
  for (int i = 0; i < items; ++i)
    out += (i == 0 ? "" : ",") + nothing;
  return R"({"items":[)" + out + "]}";
}

} // namespace

BOOST_AUTO_TEST_CASE(sends_a_result_that_is_larger_than_the_buffer) {
  http_house house;
  answer_largely(house.engine);
  auto sse = house.post("/v1/runs", nothing, as_sse);
  BOOST_TEST(sse.body.size() > large);
  BOOST_TEST(count(sse.body, "event: end\n") == 1u);
  auto lines
    = house.post("/v1/runs", nothing, "Accept: application/x-ndjson\r\n");
  BOOST_TEST(lines.body.size() > large);
  BOOST_TEST(lines.body.ends_with("\n"));
}

BOOST_AUTO_TEST_CASE(sends_a_batch_of_large_results_one_by_one) {
  http_house house;
  answer_largely(house.engine);
  auto a = house.post("/v1/batches", batch_of(4));
  BOOST_TEST(count(a.body, "\"type\":\"item\"") == 4u);
  BOOST_TEST(a.body.ends_with(
    "{\"type\":\"end\",\"items\":4,\"succeeded\":4,\"failed\":0}\n"));
}

BOOST_AUTO_TEST_CASE(starts_no_more_of_a_batch_than_its_reader_reads) {
  http_house house;
  answer_largely(house.engine);
  std::atomic<int> started{0};
  house.engine.play = [&, play = house.engine.play](const run_request& r) {
    ++started;
    return play(r);
  };
  raw_client client{house.port};
  auto body = R"({"max_concurrency":1,)" + batch_of(20).substr(1);
  client.send(posting("/v1/batches", body, as_sse));
  BOOST_TEST(client.sees("event: item\n"));
  // What is not read fills the kernel's buffers, which hold less than this.
  BOOST_TEST(house.get("/livez").status == 200);
  BOOST_TEST(started < 15);
  auto rest = client.read();
  BOOST_TEST(started == 20);
  BOOST_TEST(count(rest.body, "event: item\n") == 20u);
  BOOST_TEST(count(rest.body, "event: end\n") == 1u);
}

BOOST_AUTO_TEST_CASE(replays_more_than_the_buffer_holds) {
  http_house house;
  house.engine.chatter.assign(64, std::string(64u << 10, 'x'));
  auto begun = house.post("/v1/runs", nothing, "Prefer: respond-async\r\n");
  auto all = house.get(begun.fields["location"] + "/events");
  BOOST_TEST(count(all.body, "\nid: ") == 66u);
  BOOST_TEST(count(all.body, "event: end\n") == 1u);
}

// H34
BOOST_AUTO_TEST_CASE(waits_for_a_slow_reader_without_keeping_it_all) {
  net::server_options o;
  o.stream_buffer = 256u << 10;
  http_house house{o};
  constexpr std::size_t events = 40'000;
  house.engine.chatter.assign(events, std::string(1'000, 'x'));
  raw_client client{house.port};
  client.send(posting("/v1/runs", nothing, as_sse));
  BOOST_TEST(client.sees("event: started\n"));
  // Until it is read, only the kernel's buffers take more.
  BOOST_TEST(house.get("/livez").status == 200);
  BOOST_TEST(house.engine.told < events / 2);
  auto all = client.read();
  BOOST_TEST(count(all.body, "event: stdout\n") == events);
  BOOST_TEST(count(all.body, "event: end\n") == 1u);
  BOOST_TEST(all.body.find("id: " + std::to_string(events + 3) + "\n")
             != all.body.npos);
}

// H34
BOOST_AUTO_TEST_CASE(drops_a_reader_that_never_reads) {
  net::server_options o;
  o.stream_buffer = 64u << 10;
  o.write_timeout = std::chrono::milliseconds{100};
  o.body_rate = 1u << 30;
  http_house house{o};
  house.engine.chatter.assign(40'000, std::string(1'000, 'x'));
  raw_client client{house.port};
  client.send(posting("/v1/runs", nothing, as_sse));
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (house.engine.cancelled == 0
         && std::chrono::steady_clock::now() < deadline)
    house.get("/livez");
  BOOST_TEST(house.engine.cancelled == 1);
  BOOST_TEST(client.ends());
  BOOST_TEST(client.rest().size() < (20u << 20));
}

// Each of them within its own bound.
BOOST_AUTO_TEST_CASE(bounds_what_all_streams_hold_together) {
  for (bool large_pieces : {true, false}) {
    net::server_options o;
    o.streams_limit = large_pieces ? 20u << 20 : 1u << 20;
    o.stream_buffer = 256u << 10;
    http_house house{o};
    if (large_pieces)
      answer_largely(house.engine); // 8 MiB
    else
      house.engine.chatter.assign(40'000, std::string(1'000, 'x'));
    std::vector<std::unique_ptr<raw_client>> sleepers;
    for (int i = 0; i < 12; ++i) {
      sleepers.push_back(std::make_unique<raw_client>(house.port));
      sleepers.back()->send(posting("/v1/runs", nothing, as_sse));
      BOOST_TEST(sleepers.back()->sees("event: started\n"));
    }
    // Who reads is served, whatever the others hold.
    raw_client reader{house.port};
    reader.send(posting("/v1/runs", nothing, as_sse));
    auto text = reader.read().body;
    BOOST_TEST(count(text, "event: end\n") == 1u);
    BOOST_TEST(value_of(house, "troupe_http_stream_bytes") <= o.streams_limit);
    if (large_pieces)
      BOOST_TEST(value_of(house, "troupe_http_streams_dropped_total") >= 8u);
  }
}

BOOST_AUTO_TEST_CASE(goes_on_behind_a_stream_that_was_cut) {
  http_house house;
  house.engine.hold = true;
  house.engine.chatter = {"a", "b"};
  std::string place;
  {
    raw_client client{house.port};
    client.send(
      posting("/v1/runs", nothing, as_sse + "Prefer: respond-async\r\n"));
    BOOST_TEST(client.sees("\r\n\r\n"));
    auto at = client.rest().find("location: ") + 10;
    place = client.rest().substr(at, client.rest().find('\r', at) - at);
    BOOST_TEST(client.rest().find("preference-applied: respond-async\r\n")
               != std::string::npos);
  }
  house.engine.release();
  BOOST_TEST(house.engine.cancelled == 0);
  auto rest = house.get(place + "/events", "Last-Event-ID: 3\r\n");
  BOOST_TEST(rest.body.starts_with("id: 4\nevent: stdout\n"), rest.body);
  BOOST_TEST(count(rest.body, "event: end\n") == 1u);
}

BOOST_AUTO_TEST_CASE(names_the_preference_that_was_met) {
  http_house house;
  house.engine.hold = true;
  auto async = house.post("/v1/runs", nothing, "Prefer: respond-async\r\n");
  BOOST_TEST(async.fields["preference-applied"] == "respond-async");
  auto waited = house.post("/v1/runs", nothing, "Prefer: wait=1\r\n");
  BOOST_TEST(waited.status == 202);
  BOOST_TEST(waited.fields["preference-applied"] == "wait=1");
  house.engine.release();
}

BOOST_AUTO_TEST_CASE(hands_the_trace_on_to_every_item_of_a_batch) {
  http_house house;
  const std::string parent
    = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  house.post("/v1/batches", batch_of(1), "traceparent: " + parent + "\r\n");
  BOOST_TEST(house.engine.last_request().traceparent == parent);
}

BOOST_AUTO_TEST_SUITE_END()
