#include "bench/bench.hpp"
#include "bench/http/many_connections.hpp"
#include "bench/local/naive.hpp"
#include "bench/local/profile.hpp"
#include "runtime/local/warden/protocol.hpp"

#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

namespace troupe::bench {

namespace {

struct entry {
  std::string about;
  std::function<void(report&)> run;
  area::asked when = area::always;
};

// A function's static: areas register before main, in no order.
std::map<std::string, entry>& areas() {
  static std::map<std::string, entry> all;
  return all;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  // JSON knows neither nan nor inf.
  std::string s{text.data()};
  return s.find_first_of("ni") == std::string::npos ? s : "null";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out += '"';
}

std::string processor() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string machine() {
  utsname u{};
  ::uname(&u);
  return processor() + ", "
    + std::to_string(std::thread::hardware_concurrency()) + " cores, "
    + u.sysname + " " + u.release;
}

// Asked at run time: a benchmark built once may run from many commits.
std::string commit() {
  std::string text;
  std::array<char, 64> buffer{};
  if (auto* git = ::popen("git describe --always --dirty 2>/dev/null", "r")) {
    while (std::fgets(buffer.data(), buffer.size(), git))
      text += buffer.data();
    ::pclose(git);
  }
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.empty() ? "unknown" : text;
}

std::string build_type() {
#ifdef TROUPE_BUILD_TYPE
  return TROUPE_BUILD_TYPE;
#else
  return "unknown";
#endif
}

void print(const std::string& name, const entry& area, const report& r) {
  std::cout << name << ": " << area.about << "\n";
  for (const auto& note : r.notes())
    std::cout << "  # " << note << "\n";
  for (const auto& f : r.figures()) {
    std::array<char, 160> line{};
    std::snprintf(line.data(), line.size(), "  %-52s %14s %-6s", f.name.c_str(),
                  number(f.value).c_str(), f.unit.c_str());
    std::cout << line.data();
    if (f.holds)
      std::cout << " promise " << f.promise << (*f.holds ? "  ok" : "  MISSED");
    std::cout << "\n";
  }
  std::cout << std::flush;
}

std::string to_json(const std::vector<figure>& figures) {
  std::ostringstream out;
  out << "{\"machine\":" << quoted(machine())
      << ",\"build\":" << quoted(build_type())
      << ",\"commit\":" << quoted(commit()) << ",\"figures\":{";
  bool first = true;
  for (const auto& f : figures) {
    out << (first ? "" : ",") << quoted(f.name)
        << ":{\"value\":" << number(f.value) << ",\"unit\":" << quoted(f.unit);
    if (f.holds)
      out << ",\"promise\":" << quoted(f.promise)
          << ",\"holds\":" << (*f.holds ? "true" : "false");
    out << "}";
    first = false;
  }
  out << "}}";
  return out.str();
}

int usage(std::ostream& out, int status) {
  out << "usage: troupe_bench [AREA...] [--json]\n";
  for (const auto& [name, area] : areas())
    out << "  " << name << "\t" << area.about << "\n";
  return status;
}

int run(const std::vector<std::string>& arguments) {
  bool json = false;
  std::vector<std::string> chosen;
  for (const auto& a : arguments) {
    if (a == "--json")
      json = true;
    else if (a == "--help" || a == "-h")
      return usage(std::cout, 0);
    else if (areas().contains(a))
      chosen.push_back(a);
    else {
      std::cerr << "troupe_bench: no area '" << a << "'\n";
      return usage(std::cerr, 2);
    }
  }
  if (chosen.empty())
    for (const auto& [name, one] : areas())
      if (one.when == area::always)
        chosen.push_back(name);
  std::cout << "machine: " << machine() << "\nbuild: " << build_type()
            << "\ncommit: " << commit() << "\n";
  std::vector<figure> all;
  for (const auto& name : chosen) {
    report r;
    const auto before = cores_apart();
    areas()[name].run(r);
    r.note("a cache line went between two cores and back in " + number(before)
           + " ns before, " + number(cores_apart()) + " ns after");
    print(name, areas()[name], r);
    all.insert(all.end(), r.figures().begin(), r.figures().end());
  }
  if (json)
    std::cout << to_json(all) << "\n";
  return 0;
}

} // namespace

void report::add(std::string name, double value, std::string unit) {
  figures_.push_back({std::move(name), value, std::move(unit), {}, {}});
}

void report::at_most(std::string name, double value, std::string unit,
                     double bound) {
  figures_.push_back({std::move(name), value, std::move(unit),
                      "<= " + number(bound), value <= bound});
}

void report::at_least(std::string name, double value, std::string unit,
                      double bound) {
  figures_.push_back({std::move(name), value, std::move(unit),
                      ">= " + number(bound), value >= bound});
}

void report::note(std::string text) {
  notes_.push_back(std::move(text));
}

area::area(std::string name, std::string about,
           std::function<void(report&)> run, asked when) {
  areas()[std::move(name)] = {std::move(about), std::move(run), when};
}

} // namespace troupe::bench

int main(int argc, char** argv) {
  // The local backend executes this binary again as its warden.
  if (argc > 1 && std::string_view{argv[1]} == troupe::warden::command)
    return troupe::warden::warden_main(argc, argv);
  if (argc == 4 && std::string_view{argv[1]} == troupe::bench::crowd_command)
    return troupe::bench::be_crowd(
      static_cast<std::uint16_t>(std::strtoul(argv[2], nullptr, 10)),
      std::strtoul(argv[3], nullptr, 10));
  if (argc >= 3 && std::string_view{argv[1]} == troupe::bench::forks_command)
    return troupe::bench::bare_forks(std::strtoul(argv[2], nullptr, 10),
                                     argc > 3);
  try {
    if (argc > 1 && std::string_view{argv[1]} == troupe::bench::profile_command)
      return troupe::bench::profile_runs(argc, argv);
    return troupe::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "troupe_bench: " << e.what() << "\n";
    return 1;
  }
}
