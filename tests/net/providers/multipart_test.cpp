#include "net/providers/multipart.hpp"

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

BOOST_AUTO_TEST_SUITE_END()
