#include "tests/runtime/local/sandbox/sandboxes.hpp"

using namespace troupe;
using namespace troupe::test;

BOOST_AUTO_TEST_SUITE(files_of_a_sandbox)

namespace {

ec code_of(const auto& refused) {
  BOOST_REQUIRE(!refused);
  return refused.error().code;
}

using text_list = std::vector<std::string>;

} // namespace

BOOST_AUTO_TEST_CASE(come_back_as_they_were_written) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  std::string bytes;
  for (int i = 0; i < 300'000; ++i)
    bytes += static_cast<char>(i * 7);
  for (const auto& content : {std::string{}, std::string{"text\n"}, bytes}) {
    BOOST_REQUIRE(host.write(*box, "/home/user/deep/er/file", content));
    auto back = host.read(*box, "/home/user/deep/er/file");
    BOOST_REQUIRE_MESSAGE(back, to_string(back.error()));
    BOOST_TEST((*back == content));
  }
  // Both see the same: its processes, and we from outside.
  BOOST_TEST(host.shell(*box, "wc -c < deep/er/file").out == "300000\n");
  BOOST_TEST(host.shell(*box, "ls -A deep/er").out == "file\n");
  BOOST_REQUIRE(host.shell(*box, "echo inside > from; chmod 700 from").good());
  BOOST_TEST(host.read(*box, "/home/user/from").value() == "inside\n");
  BOOST_REQUIRE(host.write(*box, "/home/user/from", "again"));
  BOOST_TEST(host.shell(*box, "stat -c %a from").out == "700\n");
}

BOOST_AUTO_TEST_CASE(are_listed_looked_at_moved_and_removed) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host.make_folder(*box, "/home/user/a/b/c"));
  BOOST_REQUIRE(host.make_folder(*box, "/home/user/a/b/c"));
  BOOST_REQUIRE(host.write(*box, "/home/user/a/f", "12345"));
  BOOST_TEST(
    (host.names(*box, "/home/user/a").value() == text_list{"b/", "f"}));
  auto file = host.stat(*box, "/home/user/a/f");
  BOOST_REQUIRE(file);
  BOOST_TEST(file->bytes == 5u);
  BOOST_TEST(!file->folder);
  BOOST_TEST(file->name == "f");
  BOOST_TEST(host.stat(*box, "/home/user/a/b").value().folder);
  BOOST_REQUIRE(host.move(*box, "/home/user/a/f", "/tmp/g"));
  BOOST_TEST(host.read(*box, "/tmp/g").value() == "12345");
  BOOST_REQUIRE(host.remove(*box, "/home/user/a"));
  BOOST_TEST((code_of(host.stat(*box, "/home/user/a")) == ec::not_found));
  BOOST_TEST((code_of(host.read(*box, "/no/such")) == ec::not_found));
  BOOST_TEST((code_of(host.remove(*box, "/no/such")) == ec::not_found));
  BOOST_TEST((code_of(host.names(*box, "/tmp/g")) == ec::invalid_request));
  BOOST_TEST((code_of(host.read(*box, "/tmp")) == ec::invalid_request));
  BOOST_TEST((code_of(host.write(*box, "/tmp", "x")) == ec::invalid_request));
}

BOOST_AUTO_TEST_CASE(are_listed_by_the_thousand) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(
    host.shell(*box, "mkdir many; cd many; seq -f name-%05g 5000 | xargs touch")
      .good());
  auto names = host.names(*box, "/home/user/many");
  BOOST_REQUIRE_MESSAGE(names, to_string(names.error()));
  BOOST_TEST(names->size() == 5000u);
  BOOST_TEST(names->back() == "name-05000");
}

BOOST_AUTO_TEST_CASE(are_never_reached_outside_by_hostile_paths) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host
                  .shell(*box,
                         "ln -s /proc/1/root out; ln -s /proc/self/fd fds; ln "
                         "-s ../../../../../.. up; ln -s / top; ln -s loop "
                         "loop; mkfifo pipe; ln -s /nowhere dangling; echo "
                         "mine > /tmp/own; ln -s /dev/tty tty")
                  .good());
  const auto fails = [&](const std::string& path) {
    auto read = host.read(*box, path);
    BOOST_TEST(!read.has_value(), path << " can be read");
    auto listed = host.names(*box, path);
    BOOST_TEST(!listed.has_value(), path << " can be listed");
  };
  fails("/home/user/out/etc/shadow");
  fails("/home/user/out");
  fails("/home/user/fds/0");
  fails("/proc/self/root/etc");
  fails("/proc/1/root");
  fails("/proc/self/exe");
  fails("/home/user/loop");
  fails("/home/user/pipe");
  fails("/home/user/tty");
  fails("/home/user/dangling");
  fails("/dev/null");
  // These end inside, wherever they point.
  for (const char* path :
       {"/home/user/up/tmp/own", "/home/user/top/tmp/own", "/../../../tmp/own",
        "/home/user/../../../../tmp/own"})
    BOOST_TEST(host.read(*box, path).value() == "mine\n", path);
  BOOST_TEST(host.read(*box, "/etc/hostname").value() == "sandbox\n");
  // What is a link or a FIFO is replaced, not followed or waited for.
  for (const char* name : {"pipe", "tty", "dangling", "loop"}) {
    auto path = std::string{"/home/user/"} + name;
    BOOST_TEST(host.write(*box, path, "file").has_value(), path);
    BOOST_TEST(host.read(*box, path).value() == "file", path);
  }
  BOOST_TEST((code_of(host.write(*box, "/usr/bin/new", "x")) == ec::denied));
  BOOST_TEST((code_of(host.write(*box, "/usr/bin/env", "x")) == ec::denied));
  BOOST_TEST(!host.write(*box, "/proc/self/comm", "x").has_value());
}

BOOST_AUTO_TEST_CASE(are_removed_without_following_anything) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host
                  .shell(*box,
                         "mkdir -p keep gone/in; echo kept > keep/file; ln -s "
                         "../keep gone/link; ln -s /home/user/keep keep-link; "
                         "mkdir gone/locked; touch gone/locked/f; chmod 000 "
                         "gone/locked; d=gone; i=0; while [ $i -lt 300 ]; do "
                         "d=$d/d; i=$((i+1)); done; mkdir -p $d; touch $d/f")
                  .good());
  auto gone = host.remove(*box, "/home/user/gone");
  BOOST_REQUIRE_MESSAGE(gone, to_string(gone.error()));
  BOOST_REQUIRE(host.remove(*box, "/home/user/keep-link"));
  BOOST_TEST((host.names(*box, "/home/user").value() == text_list{"keep/"}));
  BOOST_TEST(host.read(*box, "/home/user/keep/file").value() == "kept\n");
  for (const char* path : {"/", "/usr", "/proc", "/home/user/keep/.", "/.."})
    BOOST_TEST(!host.remove(*box, path).has_value(), path);
  BOOST_TEST(host.shell(*box, "ls /usr/bin/env").code() == 0);
}

BOOST_AUTO_TEST_CASE(stay_inside_while_a_directory_is_swapped_for_a_link) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  auto seen = std::make_shared<process_watch>();
  auto begun
    = host.start(*box,
                 "mkdir real; ln -s /usr/bin link; echo on; while :; do mv "
                 "real swap; mv -T link real; mv -T real link; mv swap "
                 "real; done 2>/dev/null",
                 *seen);
  BOOST_REQUIRE(begun && seen->wait_for_output("on"));
  int done = 0;
  for (int i = 0; i < 300; ++i) {
    done += host.write(*box, "/home/user/real/env", "swapped").has_value();
    if (auto text = host.read(*box, "/home/user/real/env"); text)
      BOOST_TEST((*text == "swapped"
                  || text->starts_with("\x7f"
                                       "ELF")));
  }
  BOOST_TEST(done > 0);
  BOOST_TEST(host.read(*box, "/usr/bin/env")
               .value()
               .starts_with("\x7f"
                            "ELF"));
}

BOOST_AUTO_TEST_CASE(are_bounded_in_bytes_and_in_number) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  auto wanted = sandbox_host::request();
  wanted.limits.disk_bytes = 4u << 20;
  wanted.limits.inodes = 500;
  living box{host, std::move(wanted)};
  auto full = host.write(*box, "/home/user/large", std::string(8u << 20, 'x'));
  BOOST_REQUIRE(!full);
  BOOST_TEST((full.error().code == ec::exhausted));
  BOOST_TEST(full.error().text.find("disk_limit") != std::string::npos);
  // Nothing is left of the half that fitted.
  BOOST_TEST(host.names(*box, "/home/user").value().empty());
  for (const char* place : {"/home/user", "/tmp", "/dev/shm", "/"}) {
    auto seen = host.shell(*box,
                           std::string{"head -c 8M /dev/zero > "} + place
                             + "/f; c=$?; rm " + place + "/f; exit $c");
    BOOST_TEST(seen.code() != 0, place);
    BOOST_TEST(seen.err.find("No space left") != std::string::npos, seen.err);
  }
  auto many = host.shell(*box, "seq 1000 | xargs touch");
  BOOST_TEST(many.err.find("No space left") != std::string::npos, many.err);
  auto more = host.write(*box, "/home/user/more", "x");
  BOOST_REQUIRE(!more);
  BOOST_TEST((more.error().code == ec::exhausted));
}

BOOST_AUTO_TEST_SUITE_END()
