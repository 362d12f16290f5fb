#include "runtime/local/warm/interpreter_command.hpp"

#include "runtime/runner/program.hpp"

#include <unistd.h>

#include <filesystem>
#include <initializer_list>

namespace troupe::zygote {

namespace {

std::string join(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names)
    all += (all.empty() ? "" : ",") + name;
  return all;
}

/// One per line, for the boot script.
std::string basic_variables() {
  std::string lines;
  for (const auto& [name, value] : script::basic_environment())
    lines += name + "=" + value.reveal() + "\n";
  return lines;
}

/// As seen from where it begins: what it was told, its runs can find out.
std::string seen_from(const std::string& home, const std::string& path) {
  if (home.empty() || path.empty())
    return path;
  return "./" + std::filesystem::path{path}.lexically_relative(home).string();
}

} // namespace

std::vector<std::string> interpreter_command(const zygote_options& options,
                                             const interpreter_paths& paths,
                                             purpose what,
                                             const std::string& profile) {
  std::vector<std::string> argv;
  const bool is_node = paths.family == family::node;
  // Its heap comes from the module (runtime/local/warm/node/v8_heap_layout.cpp)
  // before it starts.
  constexpr const char* env = "/usr/bin/env";
  if (is_node && options.gathered_pages && ::access(env, X_OK) == 0)
    argv = {env, "LD_PRELOAD=" + seen_from(paths.home, paths.module)};
  argv.push_back(paths.interpreter);
  const auto add = [&argv](std::initializer_list<std::string> more) {
    argv.insert(argv.end(), more);
  };
  if (!is_node)
    // Isolated mode: neither variables nor the user's directories count.
    add({"-I", "-B", "-X", "utf8"});
  else
    // Threads of V8 would be missing in a child: it has none to ask. Its memory
    // reducer asks for one some seconds after the start, whatever the others
    // say, and Node waits for the answer before it ends an empty loop.
    add({"--no-warnings", "--single-threaded", "--v8-pool-size=0",
         "--no-flush-bytecode", "--no-memory-reducer"});
  // Code on huge pages is one entry of a page table where it were five hundred.
  // V8's own functions are part of it; it would copy them to where its heap is.
  if (is_node && options.huge_text)
    add({"--use-largepages=silent", "--no-short-builtin-calls"});
  // Two words of one length: an interpreter that learns asks for the same
  // blocks as one that serves, from its arguments on.
  add(
    {seen_from(paths.home, paths.boot), seen_from(paths.home, paths.module),
     seen_from(paths.home, paths.runners), paths.runners_inside,
     names_of(options, ",") + (what == purpose::learn ? ",learn" : ",serve")});
  if (!is_node)
    add({join(options.preload), seen_from(paths.home, profile)});
  add({basic_variables()});
  return argv;
}

} // namespace troupe::zygote
