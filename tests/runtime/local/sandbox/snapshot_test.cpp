#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <filesystem>

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(snapshots_of_a_sandbox)

namespace {

result<place_snapshot> take(sandbox_host& host, const sandbox_handle& box) {
  return host.call(
    host.provider().snapshot(box, within(std::chrono::seconds{30})));
}

place_snapshot taken(sandbox_host& host, const sandbox_handle& box) {
  auto made = take(host, box);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  return *made;
}

void forget(sandbox_host& host, const std::string& id) {
  BOOST_TEST(host
               .call(host.provider().forget_snapshot(
                 id, within(std::chrono::seconds{10})))
               .has_value());
}

result<void> roll_back(sandbox_host& host, const sandbox_handle& box,
                       const std::string& id) {
  return host.call(
    host.provider().rollback(box, id, within(std::chrono::seconds{30})));
}

sandbox_request from(const place_snapshot& snapshot) {
  auto wanted = sandbox_host::request();
  wanted.snapshot = snapshot.id;
  return wanted;
}

/// Descriptors of a process, by their number.
std::size_t descriptors_of(int pid) {
  std::size_t all = 0;
  for (const auto& each : std::filesystem::directory_iterator{
         "/proc/" + std::to_string(pid) + "/fd"}) {
    (void)each;
    ++all;
  }
  return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(are_cut_when_nothing_runs_and_others_begin_with_them) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host
               .shell(*box,
                      "echo one > a; mkdir d; echo deep > d/f; ln -s a l; "
                      "chmod 600 a; echo t > /tmp/t")
               .code()
             == 0);
  const auto snapshot = taken(host, *box);
  BOOST_TEST(!snapshot.copied);
  BOOST_TEST(snapshot.bytes > 0u);
  const std::string look = "cat a d/f l /tmp/t; stat -c %a a; id -u";
  const std::string found = "one\ndeep\none\nt\n600\n1000\n";
  BOOST_TEST(host.shell(*box, look).out == found);
  BOOST_TEST(host.shell(*box, "echo two > a; rm -r d; echo new > n").code()
             == 0);
  living fork{host, from(snapshot)};
  BOOST_TEST(host.shell(*fork, look).out == found);
  BOOST_TEST(host.shell(*fork, "echo three > a; rm /tmp/t").code() == 0);
  living other{host, from(snapshot)};
  BOOST_TEST(host.shell(*other, look).out == found);
  BOOST_TEST(host.shell(*box, "cat a n; ls").out == "two\nnew\na\nl\nn\n");
  forget(host, snapshot.id);
  BOOST_TEST(host.shell(*other, look).out == found); // it stays
  BOOST_TEST(
    (take(host, sandbox_handle{"sb_none"}).error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(of_what_was_made_from_one_keep_what_was_removed) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host.shell(*box, "echo 1 > a; mkdir d; echo 1 > d/x").code() == 0);
  const auto first = taken(host, *box);
  BOOST_TEST(host.shell(*box, "rm a; rm -r d; mkdir d; echo 2 > d/y").code()
             == 0);
  const auto second = taken(host, *box);
  living fork{host, from(second)};
  BOOST_TEST(host.shell(*fork, "ls; ls d").out == "d\ny\n");
  BOOST_TEST(host.shell(*fork, "echo 3 > d/z").code() == 0);
  const auto third = taken(host, *fork);
  living last{host, from(third)};
  BOOST_TEST(host.shell(*last, "ls; ls d").out == "d\ny\nz\n");
  living back{host, from(first)};
  BOOST_TEST(host.shell(*back, "ls; ls d").out == "a\nd\nx\n");
}

BOOST_AUTO_TEST_CASE(are_copied_when_something_runs_which_goes_on) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host
               .shell(*box,
                      "echo one > a; mkdir -m 700 d; ln a hard; mkfifo p; "
                      "ln -s /etc/passwd l; truncate -s 100M sparse; "
                      "touch -d @1000000 old; rm -f gone; chmod 000 d")
               .code()
             == 0);
  const auto before = taken(host, *box); // so that there is a layer below
  BOOST_TEST(host.shell(*box, "rm l; echo late > late").code() == 0);
  auto seen = std::make_shared<process_watch>();
  auto cat = host.start(*box, "echo on; exec cat", *seen, true);
  BOOST_REQUIRE(cat);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  const auto snapshot = taken(host, *box);
  BOOST_TEST(snapshot.copied);
  BOOST_TEST((*cat)->write("still\n").has_value());
  BOOST_TEST(seen->wait_for_output("still"));
  living fork{host, from(snapshot)};
  BOOST_TEST(host
               .shell(*fork,
                      "ls; cat a hard late; stat -c %Y old; "
                      "stat -c %s sparse; stat -c %a d; "
                      "test -p p && echo fifo")
               .out
             == "a\nd\nhard\nlate\nold\np\nsparse\none\none\nlate\n1000000\n"
                "104857600\n0\nfifo\n");
  BOOST_TEST(host.shell(*box, "cat late").out == "late\n");
}

BOOST_AUTO_TEST_CASE(bring_the_files_back_and_end_what_runs) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_TEST(host.shell(*box, "echo good > a").code() == 0);
  const auto snapshot = taken(host, *box);
  BOOST_TEST(host.shell(*box, "rm a; echo bad > b").code() == 0);
  auto seen = std::make_shared<process_watch>();
  BOOST_REQUIRE(host.start(*box, "echo on; sleep 1000", *seen));
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_TEST(roll_back(host, *box, snapshot.id).has_value());
  BOOST_TEST(!seen->wait());
  BOOST_TEST(host.shell(*box, "ls; cat a").out == "a\ngood\n");
  BOOST_TEST(host.read(*box, "/home/user/a").value() == "good\n");
  BOOST_TEST(
    (roll_back(host, *box, "snap_none").error().code == ec::not_found));
  BOOST_TEST(host.shell(*box, "cat a").out == "good\n");
}

BOOST_AUTO_TEST_CASE(count_against_the_disk_of_what_goes_on) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.disk_bytes = 6u << 20;
  living box{host, wanted};
  const std::string fill = "head -c 4000000 /dev/zero > ";
  BOOST_TEST(host.shell(*box, fill + "a").code() == 0);
  const auto snapshot = taken(host, *box);
  BOOST_TEST(snapshot.bytes >= 4'000'000u);
  BOOST_TEST(host.shell(*box, fill + "b").code() != 0);
  wanted.snapshot = snapshot.id;
  living fork{host, wanted};
  BOOST_TEST(host.shell(*fork, fill + "b").code() != 0);
  wanted.limits.disk_bytes = 4u << 20;
  auto none = host.call(
    host.provider().create(wanted, within(std::chrono::seconds{10})));
  BOOST_REQUIRE(!none.sandbox);
  BOOST_TEST(none.sandbox.error().fields.at(0).pointer
             == "/resources/disk_bytes");
}

BOOST_AUTO_TEST_CASE(cannot_lead_a_fork_out_of_its_root) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  // Links where places for mounts and files of ours are made.
  BOOST_TEST(host
               .shell(*box,
                      "cd /; mv home h; ln -s /tmp/escaped home; "
                      "mv tmp t; ln -s ../../../../../tmp tmp; "
                      "mkdir -p /h/user/new; mv dev e; mkdir dev; "
                      "ln -s /tmp/escaped dev/null; "
                      "ln -s /tmp/escaped dev/shm; "
                      "for i in proc usr lib lib64 bin sbin etc; do "
                      "mv $i $i.x && ln -s /tmp/escaped $i; done; true",
                      std::chrono::seconds{30})
               .good());
  const auto snapshot = take(host, *box);
  if (!snapshot)
    return;
  const auto before = std::filesystem::exists("/tmp/escaped");
  BOOST_TEST(!before);
  auto made = host.call(
    host.provider().create(from(*snapshot), within(std::chrono::seconds{10})));
  BOOST_TEST(!std::filesystem::exists("/tmp/escaped"));
  if (!made.sandbox)
    return; // refused is fine, too
  auto ran = host.run(*made.sandbox, {{"/usr/bin/id", "-u"}, {}, {}, "/"});
  BOOST_TEST(!std::filesystem::exists("/tmp/escaped"));
  BOOST_TEST((!ran.good() || ran.out == "1000\n"));
  host.destroy(*made.sandbox);
}

BOOST_AUTO_TEST_CASE(
  that_are_too_deep_to_be_copied_are_refused_and_all_goes_on) {
  TROUPE_NEEDS("atomic_kill");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto cat = host.start(
    *box, "for i in $(seq 300); do mkdir d && cd d; done; echo on; exec cat",
    *seen, true);
  BOOST_REQUIRE(cat);
  BOOST_REQUIRE(seen->wait_for_output("on"));
  BOOST_TEST(!take(host, *box));
  BOOST_TEST((*cat)->write("still\n").has_value());
  BOOST_TEST(seen->wait_for_output("still"));
}

BOOST_AUTO_TEST_CASE(stop_at_a_depth_and_leave_nothing_behind) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  const int warden = living_warden(backend);
  std::size_t before = 0;
  {
    sandbox_host host{backend};
    host.destroy(host.make()); // what is made once is there
    before = descriptors_of(warden);
    living box{host};
    std::vector<std::string> all;
    for (;;) {
      BOOST_REQUIRE(host.shell(*box, "echo x >> a").code() == 0);
      auto made = take(host, *box);
      if (!made) {
        BOOST_TEST((made.error().code == ec::exhausted));
        break;
      }
      all.push_back(made->id);
    }
    BOOST_TEST(all.size() == 24u);
    BOOST_TEST(host.shell(*box, "wc -l < a").out == "25\n");
    BOOST_TEST(descriptors_of(warden) > before + 20);
    for (const auto& id : all)
      forget(host, id);
    BOOST_TEST(host.shell(*box, "wc -l < a").out == "25\n");
  }
  BOOST_TEST(eventually([&] { return processes_below(warden).empty(); }));
  BOOST_TEST(eventually([&] { return descriptors_of(warden) <= before; }));
}

BOOST_AUTO_TEST_CASE(are_bounded_all_together) {
  TROUPE_NEEDS("user_namespace");
  local_sandbox_options options;
  options.snapshot_bytes = 5u << 20;
  sandbox_host host{shared_host(), options};
  living box{host};
  BOOST_TEST(host.shell(*box, "head -c 4000000 /dev/zero > a").code() == 0);
  const auto snapshot = taken(host, *box);
  BOOST_TEST(host.shell(*box, "head -c 4000000 /dev/zero > b").code() == 0);
  auto refused = take(host, *box);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == ec::exhausted));
  BOOST_TEST(refused.error().text.find("snapshot-bytes") != std::string::npos);
  BOOST_TEST(host.shell(*box, "ls").out == "a\nb\n"); // it goes on
}

BOOST_AUTO_TEST_CASE(go_with_the_warden_and_say_so) {
  TROUPE_NEEDS("user_namespace");
  local_host backend{without_interpreters()};
  sandbox_host host{backend};
  const int warden = living_warden(backend);
  auto box = host.make();
  const auto snapshot = taken(host, box);
  ::kill(warden, SIGKILL);
  BOOST_TEST(eventually([&] { return !host.shell(box, ":").good(); }));
  // The next one has to be ready first.
  BOOST_TEST(eventually([&] {
    auto made = host.call(
      host.provider().create(from(snapshot), within(std::chrono::seconds{20})));
    return !made.sandbox && made.sandbox.error().code == ec::not_found;
  }));
}

BOOST_AUTO_TEST_SUITE_END()
