#include "bench/local/large_preload.hpp"

#include "bench/local/record.hpp"
#include "runtime/local/interpreters.hpp"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace troupe::bench {

namespace {

namespace fs = std::filesystem;

/// 256 MiB of small objects, as a large library's tables have them.
constexpr const char* module_text = R"py(
TABLE = [("%024d" % n, n + 1000, ["x" * 64 + str(n)]) for n in range(760_000)]
)py";

} // namespace

large_library::large_library() {
  char name[] = "/tmp/troupe-ballast-XXXXXX";
  if (::mkdtemp(name) == nullptr)
    return;
  root_ = name;
  const auto host = find_interpreters({}).python.path;
  const char* argv[] = {host.c_str(),    "-m",          "venv", "--copies",
                        "--without-pip", root_.c_str(), nullptr};
  pid_t pid = -1;
  int status = -1;
  if (::posix_spawn(&pid, host.c_str(), nullptr, nullptr,
                    const_cast<char**>(argv), environ)
      == 0)
    ::waitpid(pid, &status, 0);
  std::error_code code;
  for (const auto& at : fs::directory_iterator{root_ + "/lib", code})
    if (status == 0)
      std::ofstream{at.path() / "site-packages" / "troupe_ballast.py"}
        << module_text;
}

large_library::~large_library() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void measure_ballast(report& out, local_engine& light) {
  large_library with_ballast;
  std::optional<local_engine> heavy;
  try {
    heavy.emplace(0, with_ballast.python(), with_ballast.preload());
  } catch (const std::exception& problem) {
    out.note(std::string{"no interpreter with ballast: "} + problem.what());
    return;
  }
  const auto& tool = local_tools().front();
  const auto standard = isolation_level::standard;
  auto all = measure({
    {"light", [&] { return light.run(tool, standard, 250, 4); }},
    {"ballast", [&] { return heavy->run(tool, standard, 250, 4); }},
  });
  print_side(out, "ballast", all["ballast"]);
  out.add("local.ballast.zygote.memory",
          proportional_memory(heavy->slots().zygote_pid), "MB");
  out.at_most("local.ballast.cpu.vs_light",
              median_ratio(all["ballast"].cpu, all["light"].cpu), "x", 1.15);
}

} // namespace troupe::bench
