// Interpreters that are saved, and go on in other sandboxes.
#include "tests/runtime/local/sandbox/kernels.hpp"

#include <fstream>

namespace troupe {

using namespace test;

BOOST_AUTO_TEST_SUITE(branches)

namespace {

/// A sandbox with a context in it, from which others are made.
struct family {
  sandbox_host host;
  living parent{host};
  kernel_under_test kernel{host, *parent, context_language::python};

  kernel_image_ptr save() {
    auto image = kernel.save(*parent);
    BOOST_REQUIRE_MESSAGE(image, (image ? "" : to_string(image.error())));
    return *image;
  }
  /// What it says of why it is not saved.
  std::string refused() {
    auto image = kernel.save(*parent);
    BOOST_REQUIRE(!image);
    BOOST_TEST((image.error().code == ec::conflict));
    return image.error().text;
  }
  sandbox_request request_of_branch() {
    auto snapshot = host.call(
      host.provider().snapshot(*parent, within(std::chrono::seconds{30})));
    BOOST_REQUIRE_MESSAGE(snapshot,
                          (snapshot ? "" : to_string(snapshot.error())));
    auto wanted = sandbox_host::request();
    wanted.snapshot = snapshot->id;
    return wanted;
  }
};

/// A sandbox of its own, in which the context of another one goes on.
struct branch {
  branch(family& of, const kernel_image_ptr& image)
      : sandbox{of.host, of.request_of_branch()}, kernel{
                                                    of.host, *sandbox,
                                                    context_language::python,
                                                    image} {}

  living sandbox;
  kernel_under_test kernel;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

BOOST_FIXTURE_TEST_CASE(what_was_defined_is_there, family) {
  BOOST_TEST(kernel
               .run("import json, os\n"
                    "x = {n: str(n) for n in range(100000)}\n"
                    "def f(a): return a * 2\n"
                    "os.makedirs('work'); os.chdir('work')\n"
                    "file = open('rows', 'w+'); file.write('one two'); "
                    "file.flush(); _ = file.seek(4)")
               .ok());
  branch one{*this, save()};
  BOOST_TEST(one.kernel.run("f(len(x)) + int(x[777])").form() == "200777");
  BOOST_TEST(one.kernel.run("json.dumps([1])").form() == "'[1]'");
  BOOST_TEST(one.kernel.run("os.getcwd()").form() == "'/home/user/work'");
  BOOST_TEST(one.kernel.run("file.read()").form() == "'two'");
  BOOST_TEST(one.kernel.run("print('out')").out == "out\n");
  BOOST_TEST(one.kernel.run("1 / 0").raised() == "ZeroDivisionError");
  BOOST_TEST(one.kernel
               .run("import subprocess\n"
                    "subprocess.check_output(['echo', 'a'])")
               .form()
             == "b'a\\n'");
  BOOST_TEST(one.kernel
               .run("import threading\ndone = []\n"
                    "t = threading.Thread(target=done.append, "
                    "args=(1,))\nt.start(); t.join(); done")
               .form()
             == "[1]");
  BOOST_TEST(
    one.kernel.run("sum(len(bytearray(10**6)) for i in range(9))").form()
    == "9000000");
  BOOST_TEST(
    (one.kernel.interrupt("print('ready')\nwhile True: pass").answer->status
     == cell_status::interrupted));
  BOOST_TEST(one.kernel.run("x[5]").form() == "'5'");
}

BOOST_FIXTURE_TEST_CASE(each_goes_on_for_itself, family) {
  BOOST_TEST(kernel.run("x = 1\nopen('f', 'w').write('shared')").ok());
  const auto image = save();
  branch a{*this, image};
  branch b{*this, image};
  BOOST_TEST(a.kernel.run("x = 'a'; open('f', 'w').write('of a');").ok());
  BOOST_TEST(b.kernel.run("x += 1; x").form() == "2");
  BOOST_TEST(b.kernel.run("open('f').read()").form() == "'shared'");
  BOOST_TEST(kernel.run("x, open('f').read()").form() == "(1, 'shared')");
  BOOST_TEST(a.kernel.run("x, open('f').read()").form() == "('a', 'of a')");
}

BOOST_FIXTURE_TEST_CASE(a_branch_can_be_branched, family) {
  BOOST_TEST(kernel.run("x = [1]").ok());
  branch child{*this, save()};
  BOOST_TEST(child.kernel.run("x.append(2)").ok());
  auto image = child.kernel.save(*child.sandbox);
  BOOST_REQUIRE_MESSAGE(image, (image ? "" : to_string(image.error())));
  branch grandchild{*this, *image};
  BOOST_TEST(grandchild.kernel.run("x.append(3); x").form() == "[1, 2, 3]");
}

BOOST_FIXTURE_TEST_CASE(branches_live_on_without_their_parent, family) {
  std::unique_ptr<branch> child;
  {
    living root{host};
    kernel_under_test first{host, *root, context_language::python};
    BOOST_TEST(first.run("x = list(range(1000000))").ok());
    auto image = first.save(*root);
    BOOST_REQUIRE(image);
    child = std::make_unique<branch>(*this, *image);
  }
  BOOST_TEST(child->kernel.run("sum(x)").form() == "499999500000");
}

BOOST_FIXTURE_TEST_CASE(each_draws_numbers_of_its_own, family) {
  BOOST_TEST(
    kernel.run("import random, ssl, uuid, tempfile\nssl.RAND_bytes(8);").ok());
  const auto image = save();
  branch a{*this, image};
  branch b{*this, image};
  const std::string code
    = "(random.random(), ssl.RAND_bytes(8), uuid.uuid4(), tempfile.mktemp())";
  for (int i = 0; i < 4; ++i) {
    const auto draw = "(" + code + ")[" + std::to_string(i) + "]";
    const auto of_a = a.kernel.run(draw).form();
    BOOST_TEST(of_a != b.kernel.run(draw).form());
    BOOST_TEST(of_a != kernel.run(draw).form());
  }
}

BOOST_FIXTURE_TEST_CASE(what_a_fork_finds_empty_is_empty, family) {
  BOOST_TEST(kernel
               .run("import mmap, os\nm = mmap.mmap(-1, 4096, "
                    "flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                    "m[:4] = b'seed'\n"
                    "m.madvise(18)") // MADV_WIPEONFORK
               .ok());
  // Written to again in the fork, before it is saved.
  BOOST_TEST(kernel
               .run("def seed(): m[:4] = b'once'\n"
                    "os.register_at_fork(after_in_child=seed)")
               .ok());
  branch child{*this, save()};
  BOOST_TEST(child.kernel.run("m[:4]").form() == R"(b'\x00\x00\x00\x00')");
  BOOST_TEST(kernel.run("m[:4]").form() == "b'seed'");
}

BOOST_FIXTURE_TEST_CASE(it_has_a_number_that_its_memory_has_not_seen, family) {
  BOOST_TEST(kernel.run("import os\nbefore = os.getpid()").ok());
  branch child{*this, save()};
  BOOST_TEST(child.kernel.run("os.getpid() == before").form() == "False");
}

BOOST_FIXTURE_TEST_CASE(other_interpreters_are_refused, family) {
  kernel_under_test shell{host, *parent, context_language::bash};
  auto image = shell.save(*parent);
  BOOST_REQUIRE(!image);
  BOOST_TEST(contains(image.error().text, "only one of python"));
  BOOST_TEST(shell.run("echo on").out == "on\n");
}

BOOST_FIXTURE_TEST_CASE(what_cannot_come_along_is_named, family) {
  struct row {
    std::string make;
    std::string why;
    std::string undo;
  };
  const row rows[] = {
    {"import threading\ngo = threading.Event()\n"
     "t = threading.Thread(target=go.wait, name='worker'); t.start()",
     "1 threads beside its own: worker", "go.set(); t.join()"},
    {"import socket\ns = socket.socket()", "a socket", "s.close()"},
    {"import os\nr, w = os.pipe()", "a pipe", "os.close(r); os.close(w)"},
    {"import select\ne = select.epoll()", "a eventpoll", "e.close()"},
    {"import mmap\nm = mmap.mmap(-1, 4096)", "shares memory", "m.close()"},
    {"import asyncio\nasync def f(): await asyncio.sleep(60)\n"
     "t = asyncio.ensure_future(f())\nawait asyncio.sleep(0)",
     "tasks", "t.cancel()\nawait asyncio.sleep(0)"},
  };
  BOOST_TEST(kernel.run("import asyncio\nawait asyncio.sleep(0)").ok());
  for (const auto& [make, why, undo] : rows) {
    BOOST_TEST(kernel.run(make).ok(), make);
    const auto said = refused();
    BOOST_TEST(contains(said, why), said);
    BOOST_TEST(kernel.run(undo).ok(), undo);
  }
  branch child{*this, save()}; // its loop was begun anew
  BOOST_TEST(child.kernel.run("await asyncio.sleep(0, 'slept')").form()
             == "'slept'");
  BOOST_TEST(kernel.run("await asyncio.sleep(0, 'slept')").form() == "'slept'");
}

BOOST_FIXTURE_TEST_CASE(a_context_in_which_a_cell_runs_stays, family) {
  kernel.begin("import time\nprint('ready')\nwhile True: time.sleep(0.01)");
  BOOST_TEST(kernel.says("ready"));
  BOOST_TEST(contains(refused(), "a cell runs in it"));
}

BOOST_FIXTURE_TEST_CASE(what_a_branch_has_not_is_listed, family) {
  BOOST_TEST(kernel
               .run("import os, subprocess\ngone = open('gone', 'w')\n"
                    "os.unlink('gone')\nchild = subprocess.Popen(['sleep', "
                    "'60'])")
               .ok());
  branch child{*this, save()};
  const auto lost = child.kernel.kernel()->lost();
  BOOST_REQUIRE(!lost.empty());
  BOOST_TEST(contains(lost.back(), "gone"));
  BOOST_TEST(child.kernel.run("gone.write('nowhere'); gone.flush()").ok());
}

BOOST_FIXTURE_TEST_CASE(it_is_in_the_new_sandbox_and_nowhere_else, family) {
  BOOST_TEST(kernel.run("import os\nopen('/tmp/of_parent', 'w').close()").ok());
  branch child{*this, save()};
  BOOST_TEST(kernel.run("open('later', 'w').write('x')").ok());
  const std::string look
    = "[os.readlink('/proc/self/ns/' + n) for n in ('user', 'mnt', 'pid', "
      "'net', 'ipc', 'uts')]";
  const auto here = kernel.run(look).form();
  const auto there = child.kernel.run(look).form();
  BOOST_TEST(here != there);
  BOOST_TEST(child.kernel
               .run("import subprocess\nfresh = subprocess.check_output(['sh',"
                    "'-c', 'for n in user mnt pid net ipc uts; do readlink "
                    "/proc/self/ns/$n; done'], text=True).split()\nfresh == "
                    + look)
               .form()
             == "True");
  BOOST_TEST(child.kernel.run("os.path.exists('later')").form() == "False");
  BOOST_TEST(child.kernel.run("os.path.exists('/tmp/of_parent')").form()
             == "True");
  BOOST_TEST(child.kernel
               .run("[l for l in open('/proc/self/status') if "
                    "l.startswith(('Cap', 'Seccomp:', 'NoNewPrivs', "
                    "'Threads')) and l.split()[1] not in ('0' * 16,)]")
               .form()
             == R"(['Threads:\t1\n', 'NoNewPrivs:\t1\n', 'Seccomp:\t2\n'])");
  // Its four, and the one that lists.
  BOOST_TEST(child.kernel
               .run("sorted(map(int, os.listdir('/proc/self/fd')))[:4],"
                    " len(os.listdir('/proc/self/fd'))")
               .form()
             == "([0, 1, 2, 3], 5)");
  BOOST_TEST(child.kernel.run("os.readlink('/proc/self/fd/0')").form()
             == "'/dev/null'");
}

BOOST_FIXTURE_TEST_CASE(its_image_cannot_be_written_to, family) {
  const auto image = save();
  branch child{*this, image};
  BOOST_TEST(child.kernel
               .run("try:\n  os = __import__('os')\n"
                    "  f = os.open('/proc/self/exe', os.O_RDWR)\n"
                    "  os.pwrite(f, b'x', 0)\n  r = 'written'\n"
                    "except OSError as e: r = 'refused'\nr")
               .form()
             == "'refused'");
}

BOOST_FIXTURE_TEST_CASE(many_begin_from_one_image, family) {
  BOOST_TEST(kernel.run("import os\nx = os.urandom(1 << 20) * 20").ok());
  const auto image = save();
  BOOST_TEST(image->bytes() > 20u << 20);
  std::vector<std::unique_ptr<branch>> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(std::make_unique<branch>(*this, image));
  for (auto& each : all)
    BOOST_TEST(each->kernel.run("len(x)").form() == "20971520");
  // What it has beside the image is little.
  BOOST_TEST(all.back()
               ->kernel
               .run("private = [int(l.split()[1]) for l in "
                    "open('/proc/self/smaps_rollup') if "
                    "l.startswith('Private_Dirty')][0]\nprivate < 4096")
               .form()
             == "True");
}

BOOST_FIXTURE_TEST_CASE(its_memory_is_bounded_for_itself, family) {
  const auto image = save();
  branch child{*this, image};
  const auto cell = child.kernel.run("x = b'x' * (4 << 30)");
  BOOST_TEST(!cell.ok()); // refused, or killed
  BOOST_TEST(kernel.run("1 + 1").form() == "2");
}

BOOST_FIXTURE_TEST_CASE(one_that_is_too_large_to_copy_goes_on, family) {
  const auto half = sandbox_host::request().limits.memory_bytes * 6 / 10;
  BOOST_TEST(kernel.run("x = b'x' * " + std::to_string(half)).ok());
  auto image = kernel.save(*parent);
  BOOST_REQUIRE(!image);
  BOOST_TEST((image.error().code == ec::exhausted));
  BOOST_TEST(contains(image.error().text, "memory_limit"));
  BOOST_TEST(kernel.run("len(x)").form() == std::to_string(half));
  BOOST_TEST(kernel.run("del x").ok());
  branch child{*this, save()};
}

// What the interpreter does is its tenant's to change.
BOOST_FIXTURE_TEST_CASE(an_image_of_something_else_is_not_begun, family) {
  BOOST_TEST(
    kernel.run("display.__globals__['save_memory'] = lambda *a: 0").ok());
  const auto image = save();
  auto wanted = request_of_branch();
  living there{host, wanted};
  kernel_request what;
  what.image = image;
  auto begun = host.call(host.provider().start_kernel(
    *there, what, {}, within(std::chrono::seconds{30})));
  BOOST_REQUIRE(!begun);
  BOOST_TEST(contains(begun.error().text, "its image is not one"));
  BOOST_TEST(host.shell(*there, "echo here").out == "here\n");
}

BOOST_FIXTURE_TEST_CASE(a_file_that_goes_on_being_written_to_is_no_image,
                        family) {
  BOOST_TEST(kernel
               .run("import mmap\ndef keep(file, code, entry):\n"
                    "  m = mmap.mmap(file, 4096)\n"
                    "  import time; time.sleep(30)\n"
                    "g = display.__globals__\n"
                    "g['save_memory'] = keep\n"
                    "g['wait_for_fork'] = lambda pid: "
                    "__import__('time').sleep(0.5)")
               .ok());
  BOOST_TEST(contains(refused(), "still being written to"));
}

BOOST_FIXTURE_TEST_CASE(one_that_lies_about_its_fork_is_lost_alone, family) {
  BOOST_TEST(kernel.run("import os\nos.fork = lambda: 0").ok());
  auto image = kernel.save(*parent);
  BOOST_TEST(!image.has_value());
  BOOST_TEST(host.shell(*parent, "echo here").out == "here\n");
}

BOOST_FIXTURE_TEST_CASE(one_that_never_answers_is_given_up, family) {
  BOOST_TEST(kernel
               .run("display.__globals__['save_image'] = "
                    "lambda parts: __import__('time').sleep(60)")
               .ok());
  auto image = kernel.save(*parent, std::chrono::milliseconds{300});
  BOOST_REQUIRE(!image);
  BOOST_TEST((image.error().code == ec::timeout));
  BOOST_TEST(host.shell(*parent, "echo here").out == "here\n");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
