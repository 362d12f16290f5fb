// Bodies of run requests and of configs: what is accepted crosses the wire.
#include "runtime/model/codec/codec.hpp"

#include <cstdlib>

using namespace troupe;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void try_run(const json::object& body) {
  auto r = parse_run_request(body);
  if (!r)
    return;
  auto wire = json::to_text(to_wire(*r));
  auto back = from_wire(*json::parse_object(wire));
  demand(back.has_value());
  demand(json::to_text(to_wire(*back)) == wire);
}

void try_config(const json::object& body) {
  auto type = recognize_config(body);
  if (!type)
    return;
  config_defaults defaults;
  auto stored = normalize_config(*type, body, defaults, unknown_members::drop);
  if (!stored)
    return;
  // What is stored is a config itself, and stays what it is.
  auto again
    = normalize_config(*type, *stored, defaults, unknown_members::refuse);
  demand(again.has_value());
  demand(json::to_canonical(*again) == json::to_canonical(*stored));
  demand(fingerprint(*type, std::nullopt, *stored).size() > 70);
}

void try_result(const json::object& body) {
  auto r = parse_run_result(body);
  if (!r)
    return;
  demand(json::check(to_json_text(*r)).has_value());
  auto wire = json::to_text(to_wire(*r));
  auto back = parse_run_result(*json::parse_object(wire));
  demand(back.has_value());
  demand(json::to_text(to_wire(*back)) == wire);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  auto body = json::parse_object({reinterpret_cast<const char*>(data), size});
  if (!body)
    return 0;
  try_run(*body);
  try_config(*body);
  try_result(*body);
  (void)from_wire(*body);
  (void)parse_tool(*body);
  (void)parse_sandbox_config(*body);
  return 0;
}
