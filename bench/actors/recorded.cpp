#include "bench/actors/recorded.hpp"

#include "bench/actors/load_driver.hpp"
#include "runtime/json/json.hpp"
#include "tests/support/engine/kept_engine.hpp"
#include "tests/support/temporary_directory.hpp"

namespace troupe::bench {

namespace {

engine_options kept_in(const std::filesystem::path& directory) {
  engine_options options;
  (void)test::keep_in(directory, options).value();
  return options;
}

tool stored_tool() {
  tool t;
  t.name = "f";
  t.source_code = example().source;
  t.json_schema = *json::parse_object(
    R"({"name":"f","parameters":{"type":"object","properties":{
        "x":{"type":"integer"},"text":{"type":"string"}},
        "required":["x"]}})");
  return t;
}

} // namespace

void run_with_a_record(report& out) {
  tests::temporary_directory directory;
  whole_engine engine{kept_in(directory.path())};
  std::promise<void> stored;
  put_tool put;
  put.value = stored_tool();
  engine.host->engine().change(somebody(), put, [&](auto done) {
    if (done)
      stored.set_value();
  });
  stored.get_future().wait();
  engine.request.kind = run_kind::tool;
  engine.request.tool_name = "f";
  engine.request.source.clear();
  constexpr int rounds = 3;
  for (std::size_t pending : {64u, 1'000u}) {
    std::vector<double> cpu, p99;
    cost last;
    for (int i = 0; i < rounds; ++i) {
      last = engine.run(pending, 30'000);
      cpu.push_back(last.cpu_us);
      p99.push_back(last.p99_us);
    }
    last.cpu_us = median(cpu);
    last.p99_us = median(p99);
    line(out, "engine_on_disk." + std::to_string(pending), last);
  }
  out.note("engine_on_disk: the engine with a stored tool, its arguments "
           "checked against its schema, and the record and audit chain in "
           "RocksDB; the CPU time of the disk's threads is in it");
}

} // namespace troupe::bench
