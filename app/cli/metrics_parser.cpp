#include "app/cli/metrics_parser.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

namespace troupe {

metrics_parser::metrics_parser(std::string_view text) {
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto space = line.rfind(' ');
    if (line.empty() || line.front() == '#' || space == line.npos)
      continue;
    std::string number{line.substr(space + 1)};
    samples_.emplace(line.substr(0, space),
                     std::strtod(number.c_str(), nullptr));
  }
}

double metrics_parser::value(const std::string& sample) const {
  auto found = samples_.find(sample);
  return found == samples_.end() ? 0 : found->second;
}

double metrics_parser::sum(std::string_view name) const {
  double all = 0;
  for (auto i = samples_.lower_bound(name);
       i != samples_.end() && i->first.starts_with(name); ++i)
    if (i->first.size() == name.size() || i->first[name.size()] == '{')
      all += i->second;
  return all;
}

std::map<std::string, double>
metrics_parser::by_label(std::string_view name) const {
  std::map<std::string, double> all;
  const auto prefix = std::string{name} + "{";
  for (auto i = samples_.lower_bound(prefix);
       i != samples_.end() && i->first.starts_with(prefix); ++i) {
    const auto& sample = i->first;
    const auto open = sample.find('"'), close = sample.rfind('"');
    if (open < close)
      all[sample.substr(open + 1, close - open - 1)] += i->second;
  }
  return all;
}

double metrics_parser::quantile(std::string_view name, double q,
                                const metrics_parser& before) const {
  constexpr std::string_view bound_label = "le=\"";
  auto prefix = std::string{name} + "_bucket{";
  std::vector<std::pair<double, double>> buckets; // bound, how many up to it
  for (auto i = samples_.lower_bound(prefix);
       i != samples_.end() && i->first.starts_with(prefix); ++i) {
    auto at = i->first.find(bound_label);
    if (at == std::string::npos)
      continue;
    auto bound = i->first.substr(at + bound_label.size());
    buckets.emplace_back(bound.starts_with('+')
                           ? std::numeric_limits<double>::infinity()
                           : std::strtod(bound.c_str(), nullptr),
                         i->second - before.value(i->first));
  }
  std::sort(buckets.begin(), buckets.end());
  if (buckets.empty() || buckets.back().second <= 0)
    return 0;
  for (const auto& [bound, up_to] : buckets)
    if (up_to >= q * buckets.back().second)
      return bound;
  return buckets.back().first;
}

} // namespace troupe
