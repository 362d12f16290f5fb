#pragma once

#include "runtime/settings/key.hpp"

#include <chrono>
#include <string>
#include <vector>

/// The pieces of the one table, in the order of the groups.
namespace troupe::settings_table {

std::vector<setting_key> front();     // engine, http, log, limits
std::vector<setting_key> work();      // local, dispatch, sandbox, idempotency
std::vector<setting_key> providers(); // credentials, e2b, modal, daytona, aio
std::vector<setting_key> back();      // storage, compat, telemetry, cluster

/// Writes a row of the table like a sentence.
class row {
public:
  row(std::string_view group, std::string_view name,
      setting_slot (*slot)(settings&), std::string_view help) {
    key_.group = group;
    key_.name = name;
    key_.slot = slot;
    key_.help = help;
  }
  row& between(double min, double max) {
    key_.min = min;
    key_.max = max;
    return *this;
  }
  row& between(std::chrono::milliseconds min, std::chrono::milliseconds max) {
    return between(static_cast<double>(min.count()),
                   static_cast<double>(max.count()));
  }
  row& count() {
    key_.is_count = true;
    return *this;
  }
  row& form(text_form f) {
    key_.form = f;
    return *this;
  }
  row& one_of(std::string_view choices) {
    key_.choices = choices;
    return form(text_form::choice);
  }
  row& also(std::string_view name) {
    key_.aliases.push_back({name, false, {}});
    return *this;
  }
  row& also_in_seconds(std::string_view name) {
    key_.aliases.push_back({name, true, {}});
    return *this;
  }
  row& also_with_suffix(std::string_view name, std::string_view suffix) {
    key_.aliases.push_back({name, false, suffix});
    return *this;
  }
  operator setting_key() const { return key_; }

private:
  setting_key key_;
};

constexpr double KiB = 1024.0;
constexpr double MiB = 1024 * KiB;
constexpr double GiB = 1024 * MiB;
constexpr double TiB = 1024 * GiB;

} // namespace troupe::settings_table

/// The slot of a member of `settings`.
#define TROUPE_AT(member) [](settings& s) -> setting_slot { return &s.member; }
