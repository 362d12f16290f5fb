#include "runtime/local/warm/options.hpp"

namespace troupe::zygote {

std::vector<std::string> default_preload() {
  return {"asyncio",        "base64",      "collections",
          "contextlib",     "copy",        "csv",
          "dataclasses",    "datetime",    "decimal",
          "enum",           "functools",   "hashlib",
          "html",           "inspect",     "io",
          "itertools",      "json",        "logging",
          "math",           "operator",    "os",
          "pathlib",        "random",      "re",
          "secrets",        "statistics",  "string",
          "subprocess",     "tempfile",    "textwrap",
          "threading",      "time",        "traceback",
          "typing",         "unicodedata", "urllib.parse",
          "urllib.request", "uuid",        "pydantic"};
}

} // namespace troupe::zygote
