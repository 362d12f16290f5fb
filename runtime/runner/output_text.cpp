#include "runtime/runner/output_text.hpp"

#include "runtime/json/utf8.hpp"
#include "runtime/model/value_notes.hpp"

namespace troupe {

void set_output(run_result& r, std::string_view out, std::string_view err) {
  r.stdout_text = json::repair_utf8(out);
  r.stderr_text = json::repair_utf8(err);
  const bool is_exact = (r.stdout_truncated || r.stdout_text == out)
    && (r.stderr_truncated || r.stderr_text == err);
  if (!is_exact)
    r.notes.emplace_back(not_utf8_note);
}

} // namespace troupe
