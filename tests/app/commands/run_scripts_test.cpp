// `troupe run` with scripts and files: the binary itself.
#include "tests/app/ask.hpp"
#include "tests/app/typed.hpp"

#include <fstream>

using namespace troupe;

BOOST_AUTO_TEST_SUITE(run_scripts)

struct scripts : temporary_folder {
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream{path / name} << text;
    return (path / name).string();
  }
  outcome says(std::vector<std::string> words) {
    return run_program(std::move(words), path);
  }
};

BOOST_FIXTURE_TEST_CASE(runs_a_script_once_as_a_program, scripts) {
  auto guarded = write("main.py",
                       "def main():\n  print('sent')\n"
                       "if __name__ == '__main__':\n  main()\n");
  auto s = says({"run", guarded});
  BOOST_TEST(s.code == 0);
  BOOST_TEST(s.out == "sent\n");
  BOOST_TEST(s.err == "");
  s = says({"run", guarded, "--function", "main"});
  BOOST_TEST(s.out == "null\n"); // the call's value; what it says is beside it
  BOOST_TEST(s.err == "sent\n");
  BOOST_TEST(says({"run", guarded, "--args", "{}"}).err == "sent\n");
  auto js = write("hi.js", "console.log('hi')\n");
  BOOST_TEST(says({"run", js}).out == "hi\n");
  auto ts = write("hi.ts", "const x: number = 40\nx + 2\n");
  BOOST_TEST(says({"run", ts}).out == "42\n");
  BOOST_TEST(says({"run", "-c", "40 + 2"}).out == "42\n");
  s = says({"run", "-c", "import sys; sys.exit(3)"});
  BOOST_TEST(s.code == 1);
  BOOST_TEST(contains(s.err, "exit code 3"));
}

BOOST_FIXTURE_TEST_CASE(puts_files_in_and_writes_files_out, scripts) {
  auto in = write("in.csv", "1,2");
  auto script = write("plot.py",
                      "import os\nos.makedirs('d')\n"
                      "open('d/out.png', 'wb').write(b'\\x89' + "
                      "open('in.csv', 'rb').read() + open('b', 'rb').read())\n"
                      "b'\\xff\\x00'\n");
  auto to = (path / "results").string();
  auto s = says({"run", script, "--file", in, "--file", "b=" + in, "--outputs",
                 "**/*.png", "--output", to});
  BOOST_TEST(s.code == 0, s.err);
  BOOST_TEST(s.out == std::string("\xff\0", 2)); // to a pipe, bytes
  std::ifstream file{to + "/d/out.png", std::ios::binary};
  std::string all{std::istreambuf_iterator<char>{file}, {}};
  BOOST_TEST(all
             == "\x89"
                "1,21,2");
  auto sh = write("s.sh", "cat in.csv > copy.txt\n");
  s = says({"run", sh, "--file", in, "--output", to});
  BOOST_TEST(s.code == 0, s.err);
  BOOST_TEST(std::filesystem::exists(to + "/copy.txt"));
  // A link that is there already is not followed.
  std::filesystem::create_symlink(path / "in.csv", to + "/link.txt");
  auto writes = write("w.py", "open('link.txt', 'w').write('over')\n");
  s = says({"run", writes, "--output", to});
  BOOST_TEST(s.code == 2, s.err);
  std::ifstream kept{in};
  BOOST_TEST((std::string{std::istreambuf_iterator<char>{kept}, {}} == "1,2"));
}

BOOST_FIXTURE_TEST_CASE(knows_a_file_where_a_command_is_expected, scripts) {
  auto file = write("add.py", "def add(a, b): return a + b\n");
  auto s = says({file});
  BOOST_TEST(s.code == 2);
  BOOST_TEST(contains(s.err, "did you mean `troupe run " + file + "`?"));
}

BOOST_AUTO_TEST_SUITE_END()
