#include "storage/records/lease_store.hpp"
#include "tests/storage/catalog_fixture.hpp"

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture : store_fixture {
  sandbox_lease lease(const std::string& tag,
                      backend_kind where = backend_kind::e2b) {
    sandbox_lease l;
    l.tag = tag;
    l.provider = where;
    l.organization = alice.organization;
    l.run = run_id::make();
    l.written_at = at(1);
    return l;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sandbox_store_suite, fixture)

BOOST_AUTO_TEST_CASE(remembers_leases_across_a_restart) {
  auto first = lease("one");
  first.key = "shared";
  must(kept.sandboxes->write(first));
  must(kept.sandboxes->write(lease("two", backend_kind::modal)));
  must(kept.sandboxes->confirm("one", "sb-1"));
  reopen();
  auto found = kept.sandboxes->list(backend_kind::e2b);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].tag == "one");
  BOOST_TEST(found[0].sandbox == "sb-1");
  BOOST_TEST(found[0].key == "shared");
  BOOST_TEST(found[0].run.str() == first.run.str());
  BOOST_TEST(found[0].organization.str() == alice.organization.str());
  BOOST_TEST((found[0].written_at == at(1)));
  BOOST_TEST(kept.sandboxes->list(backend_kind::modal).at(0).sandbox == "");
  BOOST_TEST(kept.sandboxes->list(backend_kind::daytona).empty());
}

BOOST_AUTO_TEST_CASE(forgets_what_is_released) {
  must(kept.sandboxes->write(lease("one")));
  must(kept.sandboxes->release("one"));
  must(kept.sandboxes->release("one")); // gone is gone
  BOOST_TEST(kept.sandboxes->list(backend_kind::e2b).empty());
  BOOST_TEST(content(*kept.db, column::sandboxes).empty());
  reopen();
  BOOST_TEST(kept.sandboxes->list(backend_kind::e2b).empty());
}

BOOST_AUTO_TEST_CASE(confirms_nothing_that_was_released) {
  must(kept.sandboxes->write(lease("one")));
  must(kept.sandboxes->release("one"));
  must(kept.sandboxes->confirm("one", "sb-1"));
  BOOST_TEST(content(*kept.db, column::sandboxes).empty());
}

BOOST_AUTO_TEST_CASE(refuses_a_damaged_lease_by_name) {
  must(kept.sandboxes->write(lease("one")));
  auto all = content(*kept.db, column::sandboxes);
  batch changes;
  changes.put(column::sandboxes, all.begin()->first, "\x01garbage");
  must(kept.db->write(changes));
  auto opened = lease_store::open(kept.db);
  BOOST_TEST(contains(text_of(opened), "sandbox lease"));
}

BOOST_AUTO_TEST_SUITE_END()
