#include "net/grpc/grpc_message.hpp"
#include "net/grpc/protobuf.hpp"
#include "net/providers/modal/messages.hpp"
#include "runtime/base/digest.hpp"

#include <boost/test/unit_test.hpp>

#include <span>

using namespace troupe;
using namespace troupe::net;

namespace {

std::string hex_of(std::string_view bytes) {
  return hex(std::span{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                       bytes.size()});
}

} // namespace

BOOST_AUTO_TEST_SUITE(protobufs)

BOOST_AUTO_TEST_CASE(writes_what_modals_own_clients_write) {
  using namespace modal;
  BOOST_TEST(hex_of(app_request("tools", "")) == "0a05746f6f6c731801");
  BOOST_TEST(hex_of(grpc_frame(app_request("tools", "")))
             == "00000000090a05746f6f6c731801");
  image_layer first{"", {"FROM python:3.12-slim-bookworm"}};
  BOOST_TEST(hex_of(image_request(first, "ap-1", "2025.06"))
             == "1220321e46524f4d20707974686f6e3a332e31322d736c696d2d626f6f6b"
                "776f726d220461702d314a07323032352e3036");
  image_layer second{"im-1",
                     {"FROM base", "RUN python -m pip install requests"}};
  BOOST_TEST(hex_of(image_request(second, "ap-1", "2025.06"))
             == "123d2a0c0a04696d2d31120462617365320946524f4d206261736532225255"
                "4e20707974686f6e202d6d2070697020696e7374616c6c207265717565"
                "737473220461702d314a07323032352e3036");
  BOOST_TEST(hex_of(image_join_request("im-1", ""))
             == "0a04696d2d311500005c42");
  sandbox_create_request box;
  box.app = "ap-1";
  box.image = "im-2";
  box.memory_mb = 512;
  box.milli_cpu = 1000;
  box.timeout_seconds = 300;
  box.tags = {{"fp", "123"}};
  box.env.emplace("A", secret{"1"});
  auto body = sandbox_body(box);
  BOOST_REQUIRE(body.has_value());
  BOOST_TEST(hex_of(*body)
             == "0a0461702d3112161a04696d2d322a0610800418e80738ac02b201020801"
                "22090a0266701203313233320a12080a060a0141120131");
  exec_request exec{"ta-1", "e-1", {"echo", "hi"}, 10, "", {}};
  BOOST_TEST(hex_of(exec_start_request(exec))
             == "0a0474612d311203652d311a046563686f1a02686920012801300a");
  BOOST_TEST(hex_of(stdio_read_request("ta-1", "e-1", 0, true))
             == "0a0474612d311203652d312001");
}

BOOST_AUTO_TEST_CASE(reads_code_zero_as_an_end) {
  auto end = modal::read_exec_wait(std::string_view{"\x08\x00", 2});
  BOOST_REQUIRE(end.has_value());
  BOOST_REQUIRE(end->has_value());
  BOOST_TEST((*end)->exit_code == 0);
  BOOST_TEST(!modal::read_exec_wait("")->has_value());
  auto killed = modal::read_exec_wait(std::string_view{"\x10\x09", 2});
  BOOST_TEST((*killed)->exit_code == 137);
}

BOOST_AUTO_TEST_CASE(refuses_broken_bytes_wherever_they_break) {
  std::string whole = "\x0a\x05tools\x18\x01";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    protobuf::reader reader{std::string_view{whole}.substr(0, size)};
    for (protobuf::field f; reader.next(f);) {
    }
    auto at_border = size == 0 || size == 7;
    BOOST_TEST(reader.status().has_value() == at_border, size);
  }
  for (std::string_view bad :
       {std::string_view{"\x0b", 1}, std::string_view{"\x00\x01", 2},
        std::string_view{"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},
        std::string_view{"\x0a\xff\xff\xff\xff\x0f", 6}}) {
    protobuf::reader reader{bad};
    for (protobuf::field f; reader.next(f);) {
    }
    BOOST_TEST(!reader.status().has_value());
  }
}

BOOST_AUTO_TEST_CASE(allows_hosts_and_networks_but_no_ports) {
  modal::sandbox_create_request box;
  box.network = {network_mode::listed, {"example.org", "10.0.0.1"}};
  auto body = modal::sandbox_body(box);
  BOOST_REQUIRE(body.has_value());
  BOOST_TEST(body->find("10.0.0.1/32") != std::string::npos);
  box.network.allow.push_back("example.org:443");
  BOOST_TEST(!modal::sandbox_body(box).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(grpc_messages)

BOOST_AUTO_TEST_CASE(takes_frames_cut_anywhere) {
  auto bytes = grpc_frame("one") + grpc_frame("") + grpc_frame("three");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    std::vector<std::string> got;
    grpc_reader reader{100};
    auto take = [&](std::string_view m) { got.emplace_back(m); };
    auto text = std::string_view{bytes};
    BOOST_TEST(reader.feed(text.substr(0, cut), take).has_value());
    BOOST_TEST(reader.feed(text.substr(cut), take).has_value());
    BOOST_TEST(reader.at_border());
    BOOST_TEST(got.size() == 3u);
    BOOST_TEST(got.back() == "three");
  }
}

BOOST_AUTO_TEST_CASE(refuses_frames_that_are_too_large_or_compressed) {
  auto ignore = [](std::string_view) {};
  BOOST_TEST(!grpc_reader{10}.feed(grpc_frame("eleven bytes"), ignore));
  BOOST_TEST(!grpc_reader{10}.feed(std::string("\1\0\0\0\0", 5), ignore));
}

BOOST_AUTO_TEST_CASE(finds_the_status_in_trailers_or_makes_one_up) {
  auto ok = read_grpc_status({{":status", "200"}, {"grpc-status", "0"}}, 0);
  BOOST_TEST(ok.ok());
  auto said = read_grpc_status(
    {{"grpc-status", "16"}, {"grpc-message", "bad%20token%21"}}, 0);
  BOOST_TEST((said.code == grpc_code::unauthenticated));
  BOOST_TEST(said.message == "bad token!");
  BOOST_TEST(
    (read_grpc_status({{":status", "503"}}, 0).code == grpc_code::unavailable));
  BOOST_TEST(
    (read_grpc_status({{":status", "200"}}, 0).code == grpc_code::unknown));
  BOOST_TEST((read_grpc_status({}, 7).code == grpc_code::unavailable));
  BOOST_TEST(
    (read_grpc_status({{"grpc-status", "99"}}, 0).code == grpc_code::unknown));
}

BOOST_AUTO_TEST_CASE(obeys_a_retry_policy_with_and_without_padding) {
  // {3: Any{1: "tt/modal.client.RPCRetryPolicy", 2: {1: 1.5}}}
  std::string padded
    = "CAgaJwoedHQvbW9kYWwuY2xpZW50LlJQQ1JldHJ5UG9saWN5EgUNAADAPw==";
  auto bare = padded.substr(0, padded.find('='));
  for (const auto& text : {padded, bare}) {
    auto read = read_grpc_status(
      {{"grpc-status", "8"}, {"grpc-status-details-bin", text}}, 0);
    BOOST_REQUIRE(read.retry_after.has_value());
    BOOST_TEST(*read.retry_after == 1.5F);
  }
}

BOOST_AUTO_TEST_CASE(reads_when_a_token_ends) {
  // {"exp":1900000000}
  BOOST_TEST(*modal::jwt_expiry("h.eyJleHAiOjE5MDAwMDAwMDB9.s")
             == 1'900'000'000);
  for (auto bad : {"", "x", "a.b", "a.!!.c", "a.e30.c"})
    BOOST_TEST(!modal::jwt_expiry(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()
