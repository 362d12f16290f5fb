#pragma once

#include "runtime/engine/backend.hpp"
#include "runtime/model/run_fields.hpp"

#include <string>

/// A value for each field of a run that is not what it has by itself.
namespace troupe::test {

inline void sample(run_kind& value) {
  value = run_kind::source;
}
inline void sample(language& value) {
  value = language::typescript;
}
inline void sample(std::string& value, field_text form = field_text::line) {
  value = form == field_text::line || form == field_text::bytes
    ? "sample"
    : R"({"sample":1})";
}
inline void sample(std::vector<std::string>& value) {
  value = {"a", "b"};
}
inline void sample(std::vector<run_file>& value) {
  value = {{"in.csv", "1,2"}};
}
inline void sample(environment& value) {
  value.emplace("NAME", secret{std::string{"text"}});
}
inline void sample(std::map<std::string, std::string>& value) {
  value = {{"team", "red"}};
}
inline void sample(std::vector<pip_requirement>& value) {
  value = {*parse_pip("pandas[excel]>=2")};
}
inline void sample(std::vector<npm_requirement>& value) {
  value = {*parse_npm("@scope/x@^2")};
}
/// What every interface has, the C++ one included.
inline void sample(limit_overrides& value) {
  value.wall = std::chrono::milliseconds{1'500};
  value.memory_bytes = 64u << 20;
}
inline void sample(std::optional<network_policy>& value) {
  value = network_policy{network_mode::listed, {"a.b:443"}};
}
inline void sample(std::optional<isolation_level>& value) {
  value = isolation_level::strict;
}
inline void sample(std::optional<backend_name>& value) {
  value = backend_kind::modal;
}
inline void sample(std::chrono::milliseconds& value) {
  value = std::chrono::milliseconds{12'345};
}
inline void sample(std::uint32_t& value) {
  value = 77;
}
inline void sample(std::int32_t& value) {
  value = -3;
}
inline void sample(bool& value) {
  value = true;
}
template <class Kind>
void sample(id<Kind>& value) {
  value = id<Kind>::make();
}

template <class Field>
void sample_field(const Field& f, run_request& r) {
  if constexpr (std::is_same_v<decltype(f.of(r)), std::string&>)
    sample(f.of(r), f.rule.form);
  else
    sample(f.of(r));
}

/// Of a kind that the field has a meaning for, with nothing else said.
template <class Field>
run_request request_with(const Field& f) {
  run_request r;
  r.kind = f.rule.only.value_or(run_kind::tool);
  sample_field(f, r);
  return r;
}

template <class T>
void prepare(const T& said, T& into) {
  into = said;
}
template <class T>
void prepare(const std::optional<T>& said, T& into) {
  into = *said;
}
inline void prepare(const limit_overrides& said, limits& into) {
  into = apply({}, said, {});
}
inline void prepare(std::chrono::milliseconds said,
                    std::chrono::steady_clock::time_point& into) {
  into = std::chrono::steady_clock::now() + said;
}
inline void prepare(const config_id& said,
                    std::shared_ptr<const sandbox_config>& into) {
  sandbox_config config;
  config.id = said;
  into = std::make_shared<const sandbox_config>(std::move(config));
}

/// A run of the same kind that has this field of the request.
template <class Field>
prepared_run prepared_with(const Field& f, const run_request& r) {
  prepared_run run;
  run.kind = r.kind;
  prepare(f.of(r), f.of(run));
  return run;
}

} // namespace troupe::test
