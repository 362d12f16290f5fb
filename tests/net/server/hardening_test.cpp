// The table of hostile requests (P14, H1 on): bytes in; status, and whether the
// connection goes on, out. None may end in a 5xx of ours, none may smuggle.
#include "tests/support/http/http_server.hpp"

#include <boost/test/data/test_case.hpp>

#include <vector>

using namespace troupe;
using test::http_house;
using test::raw_client;

BOOST_AUTO_TEST_SUITE(http_hardening)

namespace {

struct hostile {
  const char* name;
  std::string bytes;
  std::vector<int> allowed; // 0: closed without an answer
};

std::ostream& operator<<(std::ostream& out, const hostile& h) {
  return out << h.name;
}

// Were it taken for a request of its own, it would be answered with 404.
const std::string smuggled
  = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string post(const std::string& fields, const std::string& body = {}) {
  return "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
         "Content-Type: application/json\r\n"
    + fields + "\r\n" + body;
}

std::string get(const std::string& target, const std::string& fields = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

std::string chunked(const std::string& body) {
  return post("Transfer-Encoding: chunked\r\n", body);
}

std::string many_fields(int n, const std::string& name) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += name + ": x\r\n";
  return out;
}

const std::vector<hostile> table{
  {"H1 length then encoding",
   post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n" + smuggled),
   {400}},
  {"H1 encoding then length",
   post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "0\r\n\r\n" + smuggled),
   {400}},
  {"H2 gzip", post("Transfer-Encoding: gzip\r\n", smuggled), {400, 501}},
  {"H2 identity",
   post("Transfer-Encoding: identity\r\n", smuggled),
   {400, 501}},
  {"H2 xchunked",
   post("Transfer-Encoding: xchunked\r\n", smuggled),
   {400, 501}},
  {"H2 chunked, identity",
   post("Transfer-Encoding: chunked, identity\r\n", smuggled),
   {400, 501}},
  {"H2 gzip, chunked",
   post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n" + smuggled),
   {400, 501}},
  {"H2 quoted",
   post("Transfer-Encoding: \"chunked\"\r\n", smuggled),
   {400, 501}},
  {"H2 trailing comma",
   post("Transfer-Encoding: chunked,\r\n", "0\r\n\r\n" + smuggled),
   {400, 501}},
  {"H2 twice",
   post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\n" + smuggled),
   {400, 501}},
  {"H3 chunked in 1.0",
   "POST /v1/runs HTTP/1.0\r\nHost: localhost\r\nContent-Type: "
   "application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
     + smuggled,
   {400}},
  {"H4 two lengths",
   post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}" + smuggled),
   {400}},
  {"H4 two equal lengths",
   post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}" + smuggled),
   {400}},
  {"H5 negative", post("Content-Length: -1\r\n", smuggled), {400}},
  {"H5 plus", post("Content-Length: +3\r\n", "abc" + smuggled), {400}},
  {"H5 hex", post("Content-Length: 0x3\r\n", "abc" + smuggled), {400}},
  {"H5 two words", post("Content-Length: 3 3\r\n", "abc" + smuggled), {400}},
  {"H5 empty", post("Content-Length: \r\n", smuggled), {400}},
  {"H5 2^64",
   post("Content-Length: 18446744073709551616\r\n", smuggled),
   {400}},
  {"H5 list", post("Content-Length: 2, 2\r\n", "{}" + smuggled), {400}},
  {"H6 2^63", post("Content-Length: 9223372036854775808\r\n"), {413}},
  {"H6 10 GiB", post("Content-Length: 10737418240\r\n"), {413}},
  {"H7 negative chunk", chunked("-1\r\n\r\n" + smuggled), {400}},
  {"H7 hex prefix", chunked("0x2\r\n{}\r\n0\r\n\r\n" + smuggled), {400}},
  {"H7 17 digits", chunked("10000000000000000\r\n" + smuggled), {400}},
  {"H7 no size", chunked("\r\n" + smuggled), {400}},
  {"H7 underscore", chunked("2_0\r\n" + smuggled), {400}},
  {"H8 no line end after data", chunked("2\r\n{}0\r\n\r\n" + smuggled), {400}},
  {"H8 extra line end", chunked("2\r\n{}\r\n\r\n0\r\n\r\n" + smuggled), {400}},
  {"H8 bare line feeds", chunked("2\n{}\n0\n\n" + smuggled), {400, 408}},
  {"H9 huge extension",
   chunked("2;a=" + std::string(1 << 20, 'x') + "\r\n{}\r\n0\r\n\r\n"),
   {0, 400}},
  {"H10 many trailers",
   chunked("2\r\n{}\r\n0\r\n" + many_fields(60'000, "X-Trailer") + "\r\n"),
   {0, 400}},
  {"H11 trailer names an organization",
   chunked("2\r\n{}\r\n0\r\nX-Organization-Id: org-evil\r\n\r\n" + smuggled),
   {400}},
  {"H11 trailer Authorization",
   chunked("2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n" + smuggled),
   {400}},
  {"H12 no Host", "GET /livez HTTP/1.1\r\n\r\n" + smuggled, {400}},
  {"H12 two Hosts",
   "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
     + smuggled,
   {400}},
  {"H12 odd Host",
   "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n" + smuggled,
   {400}},
  {"H12 Host with a user",
   "GET /livez HTTP/1.1\r\nHost: x@localhost\r\n\r\n" + smuggled,
   {400}},
  {"H13 folded", get("/livez", "X-A: b\r\n c\r\n") + smuggled, {400}},
  {"H13 folded encoding",
   post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + smuggled),
   {400}},
  {"H14 NUL in a field",
   get("/livez", std::string("X-A: b\0c\r\n", 10)) + smuggled,
   {400}},
  {"H14 bare CR", get("/livez", "X-A: b\rc\r\n") + smuggled, {400}},
  {"H14 bare LF",
   "GET /livez HTTP/1.1\nHost: localhost\n\n" + smuggled,
   {400, 505}},
  {"H14 blank before colon", get("/livez", "X-A : b\r\n") + smuggled, {400}},
  {"H14 bad name", get("/livez", "X(A): b\r\n") + smuggled, {400}},
  {"H14 no name", get("/livez", ": b\r\n") + smuggled, {400}},
  {"H15 blank in target", get("/li vez") + smuggled, {400, 505}},
  {"H15 control", get("/li\x01vez") + smuggled, {400}},
  {"H15 8 bit", get("/li\xe4vez") + smuggled, {400}},
  {"H15 bad percent", get("/li%zzvez") + smuggled, {400}},
  {"H15 short percent", get("/livez%2") + smuggled, {400}},
  {"H15 NUL", get("/livez%00") + smuggled, {400}},
  {"H15 backslash", get("/v1\\runs") + smuggled, {400}},
  {"H15 another host", get("http://example.org/livez") + smuggled, {400}},
  {"H15 no slash", get("livez") + smuggled, {400}},
  {"H16 lower case",
   "get /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
   {400, 501}},
  {"H16 unknown", "BREW /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", {501}},
  {"H16 TRACE", "TRACE /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", {405, 501}},
  {"H16 CONNECT",
   "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
   {405, 501}},
  {"H16 PRI", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 501, 505}},
  {"H17 0.9", "GET /livez\r\n", {400}},
  {"H17 2.0", "GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n", {505}},
  {"H17 1.2", "GET /livez HTTP/1.2\r\nHost: localhost\r\n\r\n", {505}},
  {"H18 20000 fields", get("/livez", many_fields(20'000, "X-A")), {0, 431}},
  {"H18 one name 5000 times",
   get("/livez", many_fields(5'000, "Cookie")),
   {431}},
  {"H18 101 fields", get("/livez", many_fields(101, "X-A")), {431}},
  {"H18 one field of 1 MiB",
   get("/livez", "X-A: " + std::string(1 << 20, 'a') + "\r\n"),
   {0, 431}},
  {"H19 long target", get("/" + std::string(1 << 20, 'a')), {0, 414, 431}},
  {"H19 longer than its bound", get("/" + std::string(9'000, 'a')), {414}},
  {"H20 too long by its length", post("Content-Length: 99999999\r\n"), {413}},
  {"H20 too long by its chunks", chunked("5f5e0ff\r\n"), {413}},
  {"H21 expectation with 10 GiB",
   post("Expect: 100-continue\r\nContent-Length: 10737418240\r\n"),
   {413}},
  {"H21 unknown expectation",
   post("Expect: coffee\r\nContent-Length: 2\r\n", "{}"),
   {417}},
  {"H22 gzip body",
   post("Content-Encoding: gzip\r\nContent-Length: 2\r\n", "{}"),
   {415}},
  {"H28 text from a page",
   "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
   "Content-Length: 2\r\n\r\n{}",
   {415}},
  {"H28 no type",
   "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
   {415}},
  {"H28 two types",
   post("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"),
   {415}},
  {"H30 dot segments", get("/v1/../livez") + smuggled, {400, 404}},
  {"H30 encoded dots", get("/v1/%2e%2e/livez") + smuggled, {400, 404}},
  {"H30 encoded slash", get("/v1%2fruns") + smuggled, {400, 404}},
  {"TLS on a plain port", std::string("\x16\x03\x01\x02\x00\x01", 6), {400}},
};

} // namespace

BOOST_DATA_TEST_CASE(refuses_and_closes, boost::unit_test::data::make(table)) {
  static http_house house{[] {
    net::server_options o;
    o.head_timeout = o.body_timeout = std::chrono::milliseconds{1'500};
    o.linger_timeout = std::chrono::milliseconds{100};
    return o;
  }()};
  raw_client client{house.port};
  client.send(sample.bytes);
  auto first = client.read();
  bool listed
    = std::find(sample.allowed.begin(), sample.allowed.end(), first.status)
    != sample.allowed.end();
  BOOST_TEST(listed, "status " << first.status);
  auto second = client.read();
  BOOST_TEST(second.status == 0, "a second answer: " << second.status);
  BOOST_TEST(client.ends());
  if (first.status != 0) {
    BOOST_TEST(first.fields["content-type"] == "application/problem+json");
    BOOST_TEST(first.body.find("smuggled") == std::string::npos);
  }
  // One bad client is nobody else's business.
  BOOST_TEST(house.get("/livez").status == 200);
}

BOOST_AUTO_TEST_SUITE_END()
