#include "runtime/local/schema_run.hpp"

#include "runtime/runner/schema_program.hpp"

namespace troupe {

namespace {

/// Only a parser runs: what takes longer or more than this is an attack on it.
limits reading_limits() {
  limits most;
  most.wall
    = std::chrono::seconds{20}; // a busy host starts interpreters slowly
  most.cpu = std::chrono::seconds{10};
  most.memory_bytes = 384ull << 20;
  most.processes = 32; // node's threads
  most.disk_bytes = 1ull << 20;
  most.inodes = 64;
  most.output_bytes = 4'096;
  return most;
}

error why_none(const run_result& r) {
  switch (r.reason) {
  case exit_reason::wall_timeout:
  case exit_reason::cpu_timeout:
  case exit_reason::memory_limit:
    return bad_field("/source_code",
                     "deriving it took too long or too much memory",
                     "send a json_schema");
  case exit_reason::output_limit:
    return bad_field("/source_code", "its schema is too large",
                     "send a json_schema");
  default:
    return {ec::unavailable,
            "derive schema: the interpreter ended without an answer ("
              + std::string{to_string(r.reason)}
              + (r.detail.empty() ? "" : ": " + r.detail) + ")",
            {},
            {}};
  }
}

/// Hears the answer, then how the process ended; tells whoever asked.
class schema_reader final : public run_observer {
public:
  explicit schema_reader(handler<derived_schema> done)
      : done_{std::move(done)} {}

  void hear(std::string answer) { answer_ = std::move(answer); }

  void finished(run_outcome outcome) override {
    auto done = std::move(done_);
    if (!outcome.answer)
      return done(std::move(outcome.answer.error()));
    if (answer_.empty())
      return done(why_none(*outcome.answer));
    done(script::parse_schema_answer(answer_));
  }

private:
  handler<derived_schema> done_;
  std::string answer_;
};

} // namespace

std::shared_ptr<local_run> make_schema_run(boost::asio::any_io_executor strand,
                                           isolation_level level, language lang,
                                           std::string source,
                                           std::string function,
                                           handler<derived_schema> done) {
  auto what = std::make_shared<prepared_run>();
  what->id = run_id::make();
  what->kind = run_kind::source;
  what->lang = lang;
  what->name = function;
  what->function = std::move(function);
  what->source = std::move(source);
  what->isolation = level;
  what->limits = reading_limits();
  what->network.mode = network_mode::off;
  auto reader = std::make_shared<schema_reader>(std::move(done));
  auto run = std::make_shared<local_run>(std::move(strand), std::move(what),
                                         reader, false);
  run->only_derive_schema(
    [reader](std::string answer) { reader->hear(std::move(answer)); });
  return run;
}

} // namespace troupe
