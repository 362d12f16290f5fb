#include "runtime/runner/remote_script.hpp"

#include "runtime/base/base64.hpp"
#include "runtime/json/json.hpp"
#include "runtime/runner/frame.hpp"
#include "runtime/runner/program.hpp"
#include "runtime/runner/request.hpp"

namespace troupe::script {

namespace {

// JSON's strings are literals of both languages as well.
std::string files_below(std::string_view folder, bool with_transpiler) {
  std::string out = "{";
  for (const auto& file : runner_files()) {
    if (!file.path.starts_with(folder)
        || (file.path.ends_with("/transpiler.cjs") && !with_transpiler))
      continue;
    if (out.size() > 1)
      out += ',';
    json::append_string(out, file.path.substr(folder.size()));
    out += ':';
    json::append_string(out, file.text);
  }
  return out + "}";
}

constexpr std::string_view python_loader = R"(
    import base64, importlib.util, sys
    class Runner:
        def find_spec(self, name, path=None, target=None):
            base = name.replace(".", "/")
            for file in (base + ".py", base + "/__init__.py"):
                if file in files:
                    return importlib.util.spec_from_loader(
                        name, self, origin="/" + file,
                        is_package=file != base + ".py")
        def create_module(self, spec):
            return None
        def exec_module(self, module):
            module.__file__ = module.__spec__.origin
            code = compile(files[module.__file__[1:]], module.__file__, "exec")
            exec(code, module.__dict__)
    finder = Runner()
    sys.meta_path.append(finder)
    try:
        from troupe_runner import remote
        remote.serve(base64.b64decode(request), key)
    finally: # as if we had never been: the process may be a notebook's
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.startswith("troupe_runner")]:
            del sys.modules[name]
)";

constexpr std::string_view node_loader = R"(
  const path = require("path");
  const loaded = {};
  const load = (name) => {
    if (!(name in files)) throw new Error(`no file ${name}`);
    if (!(name in loaded)) {
      const module = loaded[name] = { exports: {} };
      const inner = (id) => id.startsWith("./") ? load(id.slice(2)) : require(id);
      inner.main = null;
      new Function("require", "module", "exports", "__dirname", "__filename", files[name])(
        inner, module, module.exports, "/troupe_runner", path.join("/troupe_runner", name));
    }
    return loaded[name].exports;
  };
  return load("remote.cjs").serve(Buffer.from(request, "base64"), key);
)";

std::shared_ptr<const std::string> make_runner(language lang) {
  std::string text;
  if (lang == language::python) {
    text = "def _troupe(files, request, key):";
    text += python_loader;
    text += "_troupe_files = " + files_below("python/", false);
  } else {
    text = "((files, request, key) => {";
    text += node_loader;
    text
      += "})(\n" + files_below("node/", lang == language::typescript) + ",\n";
  }
  return std::make_shared<const std::string>(std::move(text));
}

/// Made once per language, then shared.
std::shared_ptr<const std::string> runner_of(language lang) {
  static const auto python = make_runner(language::python);
  if (lang == language::python)
    return python;
  static const auto javascript = make_runner(language::javascript);
  if (lang == language::javascript)
    return javascript;
  static const auto typescript = make_runner(language::typescript);
  return typescript;
}

} // namespace

result<sandbox_script> build_remote_parts(const prepared_run& run,
                                          std::string_view key) {
  if (run.kind == run_kind::command || run.lang == language::shell)
    return bad_field("/language", "a command needs no script",
                     "send it to the provider's shell");
  auto m = make_request(run, place::elsewhere);
  if (m.has_error())
    return m.error();
  auto bytes = frame::encode(*m);
  wipe((*m)[frame::part::head]); // holds the variables
  if (bytes.has_error())
    return bytes.error();
  const secret request{"\"" + frame::to_base64(*bytes) + "\""};
  wipe(*bytes);
  std::string quoted_key;
  json::append_string(quoted_key, key);
  // The request stands on a line of its own: a traceback shows lines, and this
  // one holds the run's variables.
  std::string before, behind;
  if (run.lang == language::python) {
    before = "\n_troupe_request = ";
    behind = "\ntry:\n    _troupe(_troupe_files, _troupe_request, " + quoted_key
      + ")\nfinally:\n    del _troupe, _troupe_files, _troupe_request\n";
  } else {
    behind = ",\n" + quoted_key + ");\n";
  }
  std::string rest;
  rest.reserve(before.size() + request.size() + behind.size());
  rest.append(before).append(request.reveal()).append(behind);
  return sandbox_script{runner_of(run.lang), secret{std::move(rest)}};
}

result<secret> build_remote_script(const prepared_run& run,
                                   std::string_view key) {
  auto parts = build_remote_parts(run, key);
  if (!parts)
    return parts.error();
  return secret{parts->text()};
}

} // namespace troupe::script
