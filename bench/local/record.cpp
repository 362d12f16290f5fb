#include "bench/local/record.hpp"

namespace troupe::bench {

void record::add(const batch& b) {
  rate.push_back(b.rate());
  cpu.push_back(b.cpu_per_call());
  p50.push_back(quantile(b.latencies, 0.5));
  p99.push_back(quantile(b.latencies, 0.99));
  failures += b.failures;
}

records measure(const sides& all, std::size_t rounds) {
  records seen;
  for (std::size_t round = 0; round <= rounds; ++round)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& [name, side] = all[(round + k) % all.size()];
      const auto done = side();
      if (round > 0)
        seen[name].add(done);
    }
  return seen;
}

void print_side(report& out, const std::string& name, const record& r) {
  out.add("local." + name + ".rate", median(r.rate), "1/s");
  out.add("local." + name + ".p50", median(r.p50) * 1e6, "us");
  out.add("local." + name + ".p99", median(r.p99) * 1e6, "us");
  out.add("local." + name + ".cpu", median(r.cpu) * 1e6, "us");
  if (r.failures > 0)
    out.at_most("local." + name + ".failures", static_cast<double>(r.failures),
                "", 0);
}

} // namespace troupe::bench
