#include "net/http/multipart.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe::net;

BOOST_AUTO_TEST_SUITE(forms)

BOOST_AUTO_TEST_CASE(hold_fields_and_files_in_their_order) {
  form_part parts[]{
    form_field("files[0].path", "/tmp/a"),
    form_file("files[0].file", "a", std::string_view{"\0\r", 2})};
  BOOST_TEST(form_body(parts, "b")
             == (std::string{"--b\r\nContent-Disposition: form-data; "
                             "name=\"files[0].path\"\r\n\r\n/tmp/a\r\n"
                             "--b\r\nContent-Disposition: form-data; "
                             "name=\"files[0].file\"; filename=\"a\"\r\n"
                             "Content-Type: application/octet-stream\r\n\r\n"}
                 + std::string{"\0\r", 2} + "\r\n--b--\r\n"));
  BOOST_TEST(form_type("b") == "multipart/form-data; boundary=b");
  BOOST_TEST(make_boundary() != make_boundary());
}

BOOST_AUTO_TEST_CASE(are_read_back_byte_by_byte) {
  std::string bytes{"\r\n--bx\0 is none", 16};
  form_part parts[]{form_field("files[0].path", "/tmp/a b"),
                    form_file("files[0].file", "a b", bytes),
                    form_file("error", "empty", "")};
  const auto body = form_body(parts, "by"); // what is read points into it
  auto read = parse_form(form_type("by"), body);
  BOOST_REQUIRE(read.has_value());
  BOOST_REQUIRE(read->size() == 3u);
  BOOST_TEST(read->at(0).name == "files[0].path");
  BOOST_TEST(read->at(0).content == "/tmp/a b");
  BOOST_TEST(read->at(1).name == "files[0].file");
  BOOST_TEST(read->at(1).filename == "a b");
  BOOST_TEST(read->at(1).type == "application/octet-stream");
  BOOST_TEST(read->at(1).content == bytes);
  BOOST_TEST(read->at(2).content.empty());
}

BOOST_AUTO_TEST_CASE(that_are_cut_off_or_no_forms_are_refused) {
  form_part parts[]{form_file("file", "a", "bytes")};
  auto whole = form_body(parts, "b");
  for (std::size_t n = 0; n + 4 < whole.size(); ++n) // "--\r\n" may be missing
    BOOST_TEST(!parse_form(form_type("b"), whole.substr(0, n)), n);
  for (auto type : {"", "application/json; boundary=b", "multipart/form-data",
                    "multipart/form-data; boundary=",
                    "multipart/form-data; "
                    "boundary=c"})
    BOOST_TEST(!parse_form(type, whole), type);
  // Quoted, as some write it, and in other letters.
  BOOST_TEST(
    parse_form("Multipart/Form-Data; boundary=\"b\"", whole).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
