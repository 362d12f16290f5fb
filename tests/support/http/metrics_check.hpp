#pragma once

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// What is wrong with a text in Prometheus' format: its grammar, and the rules
/// that `promtool check metrics` insists on.
class metrics_check {
public:
  std::vector<std::string> problems(const std::string& text) {
    if (!text.ends_with('\n'))
      complain("the last line does not end");
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos;
         at = end + 1)
      read(text.substr(at, end - at));
    for (const auto& [name, f] : families_)
      check(name, f);
    return problems_;
  }

private:
  struct family {
    std::string type;
    bool helped = false;
    bool sampled = false;
    std::map<std::string, double> last_bucket; // by the other labels
    std::map<std::string, double> infinite;
    std::map<std::string, double> counted;
  };

  void complain(const std::string& what) { problems_.push_back(what); }

  void read(const std::string& line) {
    static const std::regex help{R"(# HELP ([a-z_:][a-z0-9_:]*) (.+))"};
    static const std::regex type{
      R"(# TYPE ([a-z_:][a-z0-9_:]*) (counter|gauge|histogram|summary))"};
    static const std::regex sample{
      R"re(([a-z_:][a-z0-9_:]*)(\{(.*)\})? (\+Inf|-?[0-9.e+-]+))re"};
    std::smatch m;
    if (std::regex_match(line, m, help)) {
      if (std::exchange(families_[m[1]].helped, true))
        complain(m[1].str() + " has two HELP lines");
      current_ = m[1];
    } else if (std::regex_match(line, m, type)) {
      auto& f = families_[m[1]];
      if (!f.type.empty() || f.sampled)
        complain(m[1].str() + " has a second or late TYPE line");
      f.type = m[2];
      current_ = m[1];
    } else if (std::regex_match(line, m, sample)) {
      take(m[1], m[3], std::atof(m[4].str().c_str()), line);
    } else {
      complain("not a line of this format: " + line);
    }
  }

  void take(const std::string& name, const std::string& labels, double value,
            const std::string& line) {
    static const std::regex label{
      R"re(^([a-z_][a-z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$))re"};
    if (!seen_.insert(name + "{" + labels + "}").second)
      complain("twice: " + line);
    std::string rest = labels, others, le;
    for (std::smatch m; std::regex_search(rest, m, label);
         rest = m.suffix().str())
      if (m[1] == "le")
        le = m[2];
      else
        others += m[0];
    if (!rest.empty())
      complain("these are no labels: " + line);
    auto base = family_of(name);
    auto& f = families_[base];
    if (base != current_)
      complain(name + " is not behind its own HELP and TYPE");
    f.sampled = true;
    if (f.type == "counter" && value < 0)
      complain("a counter below zero: " + line);
    if (f.type != "histogram")
      return;
    if (name.ends_with("_bucket")) {
      if (value < f.last_bucket[others])
        complain("buckets must not fall: " + line);
      f.last_bucket[others] = value;
      if (le == "+Inf")
        f.infinite[others] = value;
    } else if (name.ends_with("_count")) {
      f.counted[others] = value;
    }
  }

  std::string family_of(const std::string& name) const {
    for (std::string_view end : {"_bucket", "_sum", "_count"})
      if (name.ends_with(end)) {
        auto base = name.substr(0, name.size() - end.size());
        auto i = families_.find(base);
        if (i != families_.end()
            && (i->second.type == "histogram" || i->second.type == "summary"))
          return base;
      }
    return name;
  }

  void check(const std::string& name, const family& f) {
    if (!f.helped || f.type.empty())
      complain(name + " lacks HELP or TYPE");
    if ((f.type == "counter") != name.ends_with("_total"))
      complain(name + ": counters end in _total, and nothing else does");
    for (std::string_view unit :
         {"_ms", "_milliseconds", "_us", "_microseconds", "_minutes", "_mb",
          "_kilobytes", "_megabytes", "_percent", "_gauge", "_counter"})
      if (name.ends_with(unit)
          || name.find(std::string{unit} + "_") != name.npos)
        complain(name + ": base units only, and no type in a name");
    if (f.infinite != f.counted)
      complain(name + ": the bucket +Inf is not the count");
  }

  std::map<std::string, family> families_;
  std::set<std::string> seen_;
  std::string current_;
  std::vector<std::string> problems_;
};

} // namespace troupe::test
