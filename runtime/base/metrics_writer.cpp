#include "runtime/base/metrics_writer.hpp"

#include <cstdio>

namespace troupe {

void metrics_writer::head(std::string_view name, std::string_view type,
                          std::string_view help) {
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void metrics_writer::write_line(std::string_view name, std::string_view labels,
                                std::string_view value) {
  text_.append(name);
  if (!labels.empty())
    text_.append("{").append(labels).append("}");
  text_.append(" ").append(value).append("\n");
}

std::string metrics_writer::label(std::string_view name,
                                  std::string_view value) {
  std::string out{name};
  out += "=\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c == '\n' ? std::string_view{"\\n"} : std::string_view{&c, 1};
  }
  return out += '"';
}

std::string metrics_writer::number(double value) {
  char buffer[32];
  auto n = std::snprintf(buffer, sizeof buffer, "%.15g", value);
  return {buffer, static_cast<std::size_t>(n)};
}

} // namespace troupe
