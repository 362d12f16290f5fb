#include "runtime/base/digest.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(digests)

BOOST_AUTO_TEST_CASE(agrees_with_the_vectors_of_the_standard) {
  BOOST_TEST(
    troupe::hex(troupe::sha256("abc"))
    == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(
    troupe::hex(troupe::sha256(""))
    == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

BOOST_AUTO_TEST_CASE(covers_parts_as_if_they_were_one_text) {
  BOOST_TEST((troupe::sha256_joined({"a", "", "bc"}) == troupe::sha256("abc")));
  BOOST_TEST((troupe::sha256_joined({}) == troupe::sha256("")));
}

BOOST_AUTO_TEST_CASE(begins_again_after_each_digest_of_pieces) {
  troupe::sha256_hasher pieces;
  BOOST_TEST((pieces.end() == troupe::sha256("")));
  pieces.add("a");
  pieces.add("bc");
  BOOST_TEST((pieces.end() == troupe::sha256("abc")));
  pieces.add("x");
  BOOST_TEST((pieces.end() == troupe::sha256("x")));
}

BOOST_AUTO_TEST_SUITE_END()
