#pragma once

#include "runtime/json/json.hpp"

#include <map>
#include <string>
#include <string_view>

/// How the stand-in for E2B says no, and what it reads everywhere.
namespace troupe::test {

inline std::string refusal(int code, std::string_view why) {
  json::object o{{"code", code}, {"message", why}};
  return json::to_text(o);
}

inline std::map<std::string, std::string> texts(const json::value* v) {
  std::map<std::string, std::string> out;
  if (v && v->is_object())
    for (const auto& [name, value] : v->as_object())
      if (value.is_string())
        out[std::string{name}] = std::string{value.as_string()};
  return out;
}

} // namespace troupe::test
