// Trees of a sandbox's files: links, parts, searches, archives.
#include "runtime/local/sandbox/inside/tar_header.hpp"
#include "tests/runtime/local/sandbox/sandboxes.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <future>

using namespace troupe;
using namespace troupe::test;
namespace tar = troupe::inside::tar;

BOOST_AUTO_TEST_SUITE(trees_of_a_sandbox)

namespace {

constexpr std::chrono::seconds long_enough{30};

std::pair<unique_fd, unique_fd> make_stream() {
  int ends[2];
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                == 0);
  return {unique_fd{ends[0]}, unique_fd{ends[1]}};
}

struct packed {
  result<archive_count> how;
  std::string archive;
};

packed pack(sandbox_host& host, const sandbox_handle& in,
            const std::string& path) {
  auto [ours, its] = make_stream();
  auto reads = std::async(std::launch::async, [fd = ours.get()] {
    std::string all;
    char some[8192];
    for (ssize_t n = 0; (n = ::read(fd, some, sizeof some)) > 0;)
      all.append(some, static_cast<std::size_t>(n));
    return all;
  });
  auto how = host.call(
    host.files().pack(in, path, std::move(its), within(long_enough)));
  return {std::move(how), reads.get()};
}

result<archive_count> unpack(sandbox_host& host, const sandbox_handle& in,
                             const std::string& path,
                             const std::string& archive) {
  auto [ours, its] = make_stream();
  auto writes
    = std::async(std::launch::async,
                 [fd = std::make_shared<unique_fd>(std::move(ours)), &archive] {
                   std::string_view left{archive};
                   while (!left.empty()) {
                     const auto n = ::send(fd->get(), left.data(), left.size(),
                                           MSG_NOSIGNAL);
                     if (n <= 0)
                       break;
                     left.remove_prefix(static_cast<std::size_t>(n));
                   }
                   fd->reset();
                 });
  auto how = host.call(
    host.files().unpack(in, path, std::move(its), within(long_enough)));
  writes.get();
  return how;
}

tar::header entry(char type, std::string path, std::string target = {},
                  std::uint64_t size = 0) {
  tar::header h;
  h.type = type;
  h.path = std::move(path);
  h.target = std::move(target);
  h.size = size;
  h.mode = 0644;
  return h;
}

std::string ended(std::string archive) {
  return archive.append(2 * tar::block, '\0');
}

std::string file_entry(const std::string& path, const std::string& bytes) {
  return tar::encode(entry(tar::file, path, {}, bytes.size())) + bytes
    + std::string(tar::padding(bytes.size()), '\0');
}

} // namespace

BOOST_AUTO_TEST_CASE(links_are_told_and_not_followed) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(
    host.shell(*box, "mkdir d; ln -s d to-d; ln -s /nowhere dead; touch f")
      .good());
  auto all
    = host.call(host.files().list(*box, "/home/user", within(long_enough)));
  BOOST_REQUIRE(all);
  std::ranges::sort(*all, {}, &sandbox_entry::name);
  BOOST_REQUIRE(all->size() == 4u);
  BOOST_TEST((*all)[0].folder);
  BOOST_TEST((*all)[1].target == "/nowhere");
  BOOST_TEST((*all)[2].target == "");
  BOOST_TEST((*all)[3].target == "d");
  BOOST_TEST(!(*all)[3].folder);
  auto link = host.stat(*box, "/home/user/to-d");
  BOOST_REQUIRE(link);
  BOOST_TEST(link->target == "d");
  BOOST_TEST(host.stat(*box, "/home/user/dead").value().target == "/nowhere");
  BOOST_TEST(host.stat(*box, "/home/user/to-d/").value().folder);
}

BOOST_AUTO_TEST_CASE(a_part_of_a_file_of_any_size_is_read) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(
    host.shell(*box, "truncate -s 3G big; printf end >> big; : > empty")
      .good());
  const auto part = [&](const char* name, byte_range which) {
    auto came = host.call(host.files().read_part(
      *box, std::string{"/home/user/"} + name, which, within(long_enough)));
    BOOST_REQUIRE_MESSAGE(came, (came ? "" : to_string(came.error())));
    return std::move(*came);
  };
  constexpr std::uint64_t size = (3ull << 30) + 3;
  auto last = part("big", {std::nullopt, 3});
  BOOST_TEST(last.total == size);
  BOOST_TEST(last.from == size - 3);
  BOOST_TEST(last.bytes.value() == "end");
  BOOST_TEST(part("big", {size - 2, size}).bytes.value() == "nd");
  BOOST_TEST((part("big", {0, 9}).bytes.value() == std::string(10, '\0')));
  BOOST_TEST(part("big", {0, size}).bytes.value().size() == 64u << 20);
  BOOST_TEST(!part("big", {size, size}).bytes);
  BOOST_TEST(!part("empty", {0, 9}).bytes);
  BOOST_TEST(!part("empty", {std::nullopt, 9}).bytes);
}

BOOST_AUTO_TEST_CASE(files_are_found_by_name_and_by_what_is_in_them) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(
    host
      .shell(*box,
             "mkdir -p a/b; printf 'one\\nTwo three\\ntwo\\n' > a/b/x.py; echo "
             "two > a/y.txt; printf 'two\\0' > a/binary; ln -s / a/up; ln -s "
             "a/b/x.py z.py; for i in $(seq 50); do echo two; done > many")
      .good());
  const auto search = [&](file_search what) {
    what.path = "/home/user";
    auto found
      = host.call(host.files().search(*box, what, within(long_enough)));
    BOOST_REQUIRE_MESSAGE(found, (found ? "" : to_string(found.error())));
    std::ranges::sort(found->matches, {}, &file_match::path);
    return std::move(*found);
  };
  auto named = search({.path = {}, .name = "*.py"});
  BOOST_REQUIRE(named.matches.size() == 2u);
  BOOST_TEST(named.whole);
  BOOST_TEST(named.matches[0].path == "/home/user/a/b/x.py");
  BOOST_TEST(named.matches[0].bytes == 18u);
  BOOST_TEST(named.matches[1].link);
  auto inside = search({.path = {}, .name = "?.*", .text = "two"});
  BOOST_REQUIRE(inside.matches.size() == 2u);
  BOOST_TEST(inside.matches[0].line == 3u);
  BOOST_TEST(inside.matches[1].path == "/home/user/a/y.txt");
  auto any_case
    = search({.path = {}, .name = "x.py", .text = "TWO", .ignore_case = true});
  BOOST_REQUIRE(any_case.matches.size() == 2u);
  BOOST_TEST(any_case.matches[0].text == "Two three");
  auto few = search({.path = {}, .name = {}, .text = "two", .most = 10});
  BOOST_TEST(few.matches.size() == 10u);
  BOOST_TEST(!few.whole);
  BOOST_TEST(search({.path = {}, .name = "nothing"}).matches.empty());
  file_search nowhere{.path = "/no/such"};
  BOOST_TEST((host.call(host.files().search(*box, nowhere, within(long_enough)))
                .error()
                .code
              == ec::not_found));
}

BOOST_AUTO_TEST_CASE(an_archive_has_what_a_folder_has_and_makes_it_again) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  const std::string deep(120, 'n');
  BOOST_REQUIRE(host
                  .shell(*box,
                         "mkdir -p t/" + deep
                           + "/e; cd t; head -c 100000 "
                             "/dev/urandom > rand; printf x > "
                           + deep
                           + "/file; chmod "
                             "755 rand; ln -s "
                           + deep
                           + "/file link; mkfifo pipe; ln "
                             "rand hard; : > empty")
                  .good());
  auto out = pack(host, *box, "/home/user/t");
  BOOST_REQUIRE_MESSAGE(out.how, (out.how ? "" : to_string(out.how.error())));
  BOOST_TEST(out.how->entries == 7u);
  BOOST_TEST(out.how->bytes == 200'001u);
  // Ours is what the program of that name takes, and the other way.
  BOOST_REQUIRE(host.write(*box, "/tmp/a.tar", out.archive));
  auto theirs = host.shell(*box,
                           "mkdir u && tar xf /tmp/a.tar -C u && rm "
                           "t/pipe && diff -r --no-dereference t u && "
                           "stat -c %a u/rand");
  BOOST_TEST(theirs.out == "755\n", theirs.out << theirs.err);
  auto in = unpack(host, *box, "/home/user/new/v", out.archive);
  BOOST_REQUIRE_MESSAGE(in, (in ? "" : to_string(in.error())));
  BOOST_TEST(in->entries == 7u);
  auto same = host.shell(*box,
                         "diff -r --no-dereference t new/v && stat -c '%a %Y' "
                         "t/rand new/v/rand | sort -u | wc -l");
  BOOST_TEST(same.out == "1\n", same.out << same.err);
  // With what the older ones have no room for taken away.
  struct row {
    std::string format;
    std::string without;
  };
  for (const auto& [format, without] :
       {row{"gnu", "none"}, row{"pax", "none"}, row{"ustar", "t/link t/n*"},
        row{"v7", "none"}}) {
    const auto made = host.shell(*box,
                                 "rm -rf " + without + " new; tar --format="
                                   + format + " -cf /tmp/b.tar -C t .");
    BOOST_REQUIRE_MESSAGE(made.code() == 0, made.err);
    auto again = unpack(host, *box, "/home/user/new",
                        host.read(*box, "/tmp/b.tar").value());
    BOOST_REQUIRE_MESSAGE(again, (again ? "" : to_string(again.error())));
    BOOST_TEST(host.shell(*box, "diff -r --no-dereference t new").out == "",
               format);
  }
  auto one = pack(host, *box, "/home/user/t/rand");
  BOOST_REQUIRE(one.how);
  BOOST_TEST(one.how->entries == 1u);
  BOOST_TEST((pack(host, *box, "/no/such").how.error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(a_hostile_archive_makes_nothing_outside_of_its_folder) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host.shell(*box, "mkdir out; echo safe > out/f").good());
  const auto refused = [&](const std::string& archive, ec code) {
    auto how = unpack(host, *box, "/home/user/in", archive);
    BOOST_REQUIRE(!how);
    BOOST_TEST((how.error().code == code), to_string(how.error()));
    BOOST_TEST(host.shell(*box, "ls -A out; cat out/f").out == "f\nsafe\n");
  };
  refused(ended(file_entry("../out/f", "bad")), ec::invalid_request);
  refused(ended(file_entry("a/../../out/f", "bad")), ec::invalid_request);
  refused(ended(tar::encode(entry(tar::link, "up", "../out"))
                + file_entry("up/f", "bad")),
          ec::invalid_request);
  refused(ended(tar::encode(entry(tar::link, "root", "/"))
                + file_entry("root/home/user/out/new", "bad")),
          ec::invalid_request);
  refused(ended(tar::encode(entry(tar::hard_link, "h", "../out/f"))),
          ec::invalid_request);
  refused(ended(tar::encode(entry(tar::link, "l", "/proc/self/root"))
                + file_entry("l/x", "bad")),
          ec::invalid_request);
  // What is absolute lies below the folder, as everything does.
  auto absolute = unpack(host, *box, "/home/user/in",
                         ended(file_entry("/home/user/out/f", "bad")));
  BOOST_TEST(absolute.has_value());
  BOOST_TEST(host.read(*box, "/home/user/in/home/user/out/f").value() == "bad");
  // A link is replaced, not written through.
  auto link = unpack(host, *box, "/home/user/in",
                     ended(tar::encode(entry(tar::link, "w", "../out/f"))
                           + file_entry("w", "new")));
  BOOST_TEST(link.has_value());
  refused("no archive at all", ec::invalid_request);
  const auto whole = file_entry("cut", std::string(5'000, 'x'));
  for (const auto size : {0u, 100u, 512u, 3'000u, 5'632u})
    refused(whole.substr(0, size), ec::invalid_request);
  refused(ended(tar::encode(entry(tar::file, "large", {}, 1ull << 50))),
          ec::invalid_request);
  auto bent = file_entry("bent", "x");
  bent[0] ^= 1;
  refused(ended(bent), ec::invalid_request);
}

BOOST_AUTO_TEST_CASE(an_archive_that_nobody_reads_ends_with_its_reader) {
  TROUPE_NEEDS("user_namespace");
  sandbox_host host;
  living box{host};
  BOOST_REQUIRE(host.shell(*box, "head -c 5000000 /dev/zero > big").good());
  auto [ours, its] = make_stream();
  ours.reset();
  auto how = host.call(
    host.files().pack(*box, "/home/user", std::move(its), within(long_enough)));
  BOOST_TEST(!how.has_value());
  BOOST_TEST(host.read(*box, "/etc/hostname").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
