#include "storage/database/key_codec.hpp"
#include "storage/maintenance/audit_verifier.hpp"
#include "tests/storage/catalog_fixture.hpp"

#include <atomic>
#include <thread>

using namespace troupe;
using namespace troupe::tests;

namespace {

struct fixture : store_fixture {
  void append(int n) {
    must(kept.audit->append(alice.organization, {{"number", n}}, at(n)));
  }
};

std::uint64_t last_of(const audit_findings& found) {
  BOOST_REQUIRE(found.chains.size() == 1u);
  BOOST_REQUIRE(found.chains[0].second.has_value());
  return found.chains[0].second->last;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(audit_reader_suite, fixture)

BOOST_AUTO_TEST_CASE(reads_beside_an_engine_what_was_written_before) {
  for (int n = 1; n <= 3; ++n)
    append(n);
  auto found = must(examine_audit(options));
  BOOST_TEST(found.beside_engine);
  BOOST_TEST(last_of(found) == 3u);
  append(4); // the writer goes on
  BOOST_TEST(last_of(must(examine_audit(options))) == 4u);
  must(kept.audit->verify_all());
}

BOOST_AUTO_TEST_CASE(reads_a_store_that_nobody_uses_and_leaves_it_alone) {
  append(1);
  close();
  const auto files = [&] {
    std::map<std::string, std::filesystem::file_time_type> all;
    for (const auto& f :
         std::filesystem::directory_iterator{store_directory(options)})
      all[f.path().filename()] = f.last_write_time();
    return all;
  };
  const auto before = files();
  auto found = must(examine_audit(options));
  BOOST_TEST(!found.beside_engine);
  BOOST_TEST(last_of(found) == 1u);
  BOOST_TEST((files() == before));
}

BOOST_AUTO_TEST_CASE(looks_at_one_organization_when_asked_to) {
  append(1);
  must(kept.audit->append(bob.organization, {{"number", 1}}, at(1)));
  BOOST_TEST(must(examine_audit(options)).chains.size() == 2u);
  auto found = must(examine_audit(options, bob.organization));
  BOOST_REQUIRE(found.chains.size() == 1u);
  BOOST_TEST((found.chains[0].first == bob.organization));
}

BOOST_AUTO_TEST_CASE(sees_a_forgery_beside_an_engine) {
  append(1);
  append(2);
  auto key = key_codec::encode(alice.organization, {key_codec::number(2)});
  auto changed = *must(kept.db->get(column::audit, key));
  changed.at(changed.find("\"number\":2") + 9) = '7';
  batch forgery;
  forgery.put(column::audit, key, changed);
  must(kept.db->write(forgery));
  auto found = must(examine_audit(options));
  BOOST_TEST(!found.whole());
  BOOST_REQUIRE(!found.chains.at(0).second.has_value());
  BOOST_TEST(found.chains[0].second.error().text.find("audit entry 2")
             != std::string::npos);
}

BOOST_AUTO_TEST_CASE(raises_no_alarm_beside_a_writer_that_is_busy) {
  close();
  options.database.memtable_bytes = 512u << 10; // files come and go
  options.database.wal_bytes = 512u << 10;
  open();
  append(0);
  std::atomic<bool> enough{false};
  std::thread writer{[&] {
    const std::string much(2u << 10, 'x');
    for (int n = 1; !enough; ++n)
      static_cast<void>(kept.audit->append(
        alice.organization, {{"number", n}, {"much", much}}, at(n)));
  }};
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    auto found = examine_audit(options);
    BOOST_TEST(found.has_value(), (found ? "" : found.error().text));
    if (!found)
      break;
    BOOST_TEST(found->whole());
    BOOST_TEST(last_of(*found) >= last);
    last = last_of(*found);
  }
  enough = true;
  writer.join();
}

BOOST_AUTO_TEST_CASE(makes_no_store_where_there_is_none) {
  store_options elsewhere;
  elsewhere.data_directory = place / "empty";
  BOOST_TEST((code_of(examine_audit(elsewhere)) == ec::not_found));
  BOOST_TEST(!std::filesystem::exists(place / "empty"));
}

BOOST_AUTO_TEST_SUITE_END()
