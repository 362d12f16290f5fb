#pragma once

#include "runtime/json/json.hpp"

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace troupe::test {

/// As much of JSON Schema 2020-12 as openapi.json uses, to check answers with.
/// A keyword that it does not know is a complaint, so that none is overlooked.
class json_schema {
public:
  explicit json_schema(const json::object& document) : document_{document} {}

  std::vector<std::string> problems(const json::value& v,
                                    const json::value& schema) {
    found_.clear();
    check(v, schema.as_object(), "");
    return found_;
  }

private:
  using path = const std::string&;

  void complain(path at, std::string what) {
    found_.push_back((at.empty() ? "/" : at) + ": " + what);
  }

  static bool is(const json::value& v, std::string_view type) {
    return (type == "null" && v.is_null()) || (type == "boolean" && v.is_bool())
      || (type == "string" && v.is_string())
      || (type == "array" && v.is_array())
      || (type == "object" && v.is_object())
      || (type == "integer" && (v.is_int64() || v.is_uint64()))
      || (type == "number" && v.is_number());
  }

  void check(const json::value& v, const json::object& s, path at) {
    for (const auto& [key, rule] : s)
      keyword(v, s, std::string{key}, rule, at);
  }

  void keyword(const json::value& v, const json::object& s,
               const std::string& key, const json::value& rule, path at) {
    if (key == "$ref") {
      std::string name{rule.as_string()};
      name.erase(0, std::string{"#/components/schemas/"}.size());
      check(v, document_.at("components").at("schemas").at(name).as_object(),
            at);
    } else if (key == "type") {
      bool fits = false;
      if (rule.is_string())
        fits = is(v, std::string{rule.as_string()});
      else
        for (const auto& one : rule.as_array())
          fits |= is(v, std::string{one.as_string()});
      if (!fits)
        complain(at, "is no " + json::to_text(rule) + ": " + json::to_text(v));
    } else if (key == "enum") {
      const auto& all = rule.as_array();
      if (std::find(all.begin(), all.end(), v) == all.end())
        complain(at, "is none of " + json::to_text(rule));
    } else if (key == "required") {
      for (const auto& name : rule.as_array())
        if (v.is_object() && !v.as_object().contains(name.as_string()))
          complain(at, "lacks " + std::string{name.as_string()});
    } else if (key == "properties") {
      if (v.is_object())
        for (const auto& [name, sub] : rule.as_object())
          if (auto* member = v.as_object().if_contains(name))
            check(*member, sub.as_object(), at + "/" + std::string{name});
    } else if (key == "additionalProperties") {
      additional(v, s, rule, at);
    } else if (key == "items") {
      if (v.is_array())
        for (std::size_t i = 0; i < v.as_array().size(); ++i)
          check(v.at(i), rule.as_object(), at + "/" + std::to_string(i));
    } else if (key == "oneOf") {
      one_of(v, rule.as_array(), at);
    } else if (key == "pattern") {
      const auto* text = v.if_string();
      if (text
          && !std::regex_search(std::string{*text},
                                std::regex{std::string{rule.as_string()}}))
        complain(at, "does not match " + json::to_text(rule));
    } else if (key == "minimum") {
      if (v.is_number() && v.to_number<double>() < rule.to_number<double>())
        complain(at, "is below its minimum");
    } else if (key == "maximum") {
      if (v.is_number() && v.to_number<double>() > rule.to_number<double>())
        complain(at, "is above its maximum");
    } else if (key != "description" && key != "example" && key != "format"
               && key != "writeOnly" && key != "minItems" && key != "minLength"
               && key != "maxLength" && key != "maxItems") {
      complain(at, "the schema has an unknown keyword " + key);
    }
  }

  void additional(const json::value& v, const json::object& s,
                  const json::value& rule, path at) {
    if (!v.is_object())
      return;
    auto* known = s.if_contains("properties");
    for (const auto& [name, member] : v.as_object()) {
      if (known && known->as_object().contains(name))
        continue;
      if (rule.is_object())
        check(member, rule.as_object(), at + "/" + std::string{name});
      else if (!rule.as_bool())
        complain(at, "has an undocumented member " + std::string{name});
    }
  }

  void one_of(const json::value& v, const json::array& all, path at) {
    std::size_t fits = 0;
    std::string reasons;
    for (const auto& one : all) {
      json_schema inner{document_};
      auto bad = inner.problems(v, one);
      fits += bad.empty() ? 1 : 0;
      reasons += bad.empty() ? "" : " (" + bad.front() + ")";
    }
    if (fits != 1)
      complain(at, "fits " + std::to_string(fits) + " of oneOf" + reasons);
  }

  const json::object& document_;
  std::vector<std::string> found_;
};

} // namespace troupe::test
