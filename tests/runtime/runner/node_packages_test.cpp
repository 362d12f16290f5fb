// npm packages, as an environment would mount them: CommonJS and ES modules,
// found through NODE_PATH.
#include "tests/runtime/runner/plain_child.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(node_packages)

namespace {

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << text;
}

/// Three packages of the usual shapes.
const std::string& packages() {
  static const std::string home = [] {
    fs::path home = std::string{TROUPE_BINARY_DIR} + "/test_node_modules";
    write(home / "plain/package.json", R"({"main":"lib.js"})");
    write(home / "plain/lib.js",
          "exports.add = (a, b) => a + b; exports.name = 'plain';");
    write(home / "modern/package.json",
          R"({"type":"module","exports":{".":{"import":"./m.js"},)"
          R"("./sub":"./sub.js"}})");
    write(home / "modern/m.js",
          "await null; export const add = (a, b) => a + b;"
          "export default 'modern';");
    write(home / "modern/sub.js", "export const sub = true;");
    write(home / "@scope/pair/package.json",
          R"({"exports":{"import":"./i.mjs","require":"./r.cjs"}})");
    write(home / "@scope/pair/i.mjs", "export default 'import';");
    write(home / "@scope/pair/r.cjs", "module.exports = 'require';");
    return home.string();
  }();
  return home;
}

run_result run_with_packages(const char* source) {
  auto run = a_run(language::typescript, source);
  run.env.emplace("NODE_PATH", secret{packages()});
  return run_plainly(run);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_commonjs_package_is_imported_in_every_way) {
  auto seen = run_with_packages(R"(
import plain, { add } from "plain";
import * as all from "plain";
const again = require("plain");
export async function f() {
  const late = await import("plain");
  return [plain.name, add(1, 2), all.name, again.name, late.name,
          late.default.name];
})");
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json
             == R"(["plain",3,"plain","plain","plain","plain"])");
}

BOOST_AUTO_TEST_CASE(a_package_that_is_only_an_es_module_is_imported) {
  auto seen = run_with_packages(R"(
import name, { add } from "modern";
import { sub } from "modern/sub";
export async function f() {
  return [name, add(1, 2), sub, (await import("modern")).default];
})");
  BOOST_TEST(seen.failure.friendly == "");
  BOOST_TEST(seen.value_json == R"(["modern",3,true,"modern"])");
}

BOOST_AUTO_TEST_CASE(a_scoped_package_of_both_kinds_is_imported) {
  auto seen = run_with_packages(
    "import pair from '@scope/pair';\nexport const f = () => pair;");
  BOOST_TEST(seen.value_json == R"("require")");
}

BOOST_AUTO_TEST_CASE(an_export_that_is_not_there_is_named) {
  auto seen = run_with_packages(
    "import { nope } from 'plain';\nexport const f = () => nope;");
  BOOST_TEST(seen.failure.message
             == "the module does not provide an export named 'nope'");
}

BOOST_AUTO_TEST_SUITE_END()
