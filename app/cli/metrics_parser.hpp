#pragma once

#include <map>
#include <string>
#include <string_view>

namespace troupe {

/// What /metrics said at one moment: every sample by its name and labels, as
/// they stand there.
class metrics_parser {
public:
  explicit metrics_parser(std::string_view text);

  /// 0 for what is not on the page.
  double value(const std::string& sample) const;
  /// All samples of one name, whatever their labels.
  double sum(std::string_view name) const;
  /// The samples of one name that has one label, by the label's value.
  std::map<std::string, double> by_label(std::string_view name) const;
  /// The q-quantile of a histogram's samples since `before`, by its buckets'
  /// upper bounds; 0 where nothing happened.
  double quantile(std::string_view name, double q,
                  const metrics_parser& before) const;

private:
  std::map<std::string, double, std::less<>> samples_;
};

} // namespace troupe
