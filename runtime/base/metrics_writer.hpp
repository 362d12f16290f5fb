#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace troupe {

/// Writes metrics in Prometheus' text format. The names of metrics and labels
/// are constants of ours; values of labels are escaped.
class metrics_writer {
public:
  /// What comes before the lines of one metric.
  void head(std::string_view name, std::string_view type,
            std::string_view help);
  /// `labels`: "" or what `label` made, joined by commas.
  void line(std::string_view name, std::string_view labels, double value) {
    write_line(name, labels, number(value));
  }
  template <std::integral Integer>
  void line(std::string_view name, std::string_view labels, Integer value) {
    write_line(name, labels, std::to_string(value));
  }

  /// A metric with one line.
  void counter(std::string_view name, std::string_view help, auto value) {
    head(name, "counter", help);
    line(name, "", value);
  }
  void gauge(std::string_view name, std::string_view help, auto value) {
    head(name, "gauge", help);
    line(name, "", value);
  }

  std::string take() { return std::move(text_); }

  static std::string label(std::string_view name, std::string_view value);
  static std::string number(double value);

private:
  void write_line(std::string_view name, std::string_view labels,
                  std::string_view value);

  std::string text_;
};

} // namespace troupe
