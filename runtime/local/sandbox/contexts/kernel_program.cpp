#include "runtime/local/sandbox/contexts/kernel_program.hpp"

#include "runtime/base/embedded_file.hpp"
#include "runtime/runner/program.hpp"

#include <span>

namespace troupe::kernels {

// Generated: see CMakeLists.txt in this folder.
std::span<const embedded_file> embedded_kernels();

namespace {

std::string_view text_of(std::string_view path) {
  for (const auto& file : embedded_kernels())
    if (file.path == path)
      return file.text;
  return {};
}

/// With the transpiler of runs, by which imports become calls of `require`.
std::string node_text(context_language language) {
  std::string text = "const LANGUAGE = \"";
  text.append(to_string(language)).append("\";\nconst transpile = ");
  if (script::typescript_available()) {
    text += "(() => { const module = { exports: {} };\n";
    for (const auto& file : script::runner_files())
      if (file.path == "node/transpiler.cjs")
        text += file.text;
    text += "\nreturn module.exports.transform; })();\n";
  } else {
    text += "undefined;\n";
  }
  return text.append(text_of("node_kernel.cjs"));
}

} // namespace

result<program> program_for(context_language language) {
  switch (language) {
  case context_language::python:
    return program{{"python3", "-"},
                   std::string{text_of("python_values.py")}
                     .append(text_of("python_images.py"))
                     .append(text_of("python_kernel.py"))};
  case context_language::bash:
    return program{{"bash", "--norc", "-s"},
                   std::string{text_of("bash_kernel.bash")}};
  case context_language::typescript:
    if (!script::typescript_available())
      return bad_field("/language",
                       "needs a transpiler, and this build has none",
                       "use javascript");
    [[fallthrough]];
  case context_language::javascript:
    return program{{"node", "-"}, node_text(language)};
  }
  return fail(ec::internal, "a language without a program");
}

} // namespace troupe::kernels
