#pragma once

#include "tests/support/http/json_schema.hpp"
#include "tests/support/http/raw_http.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

/// Holds answers against an OpenAPI document: status, type, fields and body.
class openapi_check {
public:
  explicit openapi_check(json::object document)
      : document_{std::move(document)} {}

  const json::object& document() const { return document_; }

  /// The template that a path fits, literal segments first; "" for none.
  std::string template_of(std::string_view target) const {
    auto wanted = segments(target.substr(0, target.find('?')));
    std::string best;
    std::size_t fewest = wanted.size() + 1;
    for (const auto& [path, item] : paths()) {
      auto open = std::size_t{0};
      if (fits(wanted, segments(path), open) && open < fewest) {
        fewest = open;
        best = path;
      }
    }
    return best;
  }

  const json::object* operation(std::string_view verb,
                                std::string_view target) const {
    std::string method{verb};
    for (char& c : method)
      c = static_cast<char>(std::tolower(c));
    auto* item = paths().if_contains(template_of(target));
    auto* op = item ? item->as_object().if_contains(method) : nullptr;
    return op ? &op->as_object() : nullptr;
  }

  std::vector<std::string> problems(std::string_view verb,
                                    std::string_view target,
                                    const raw_answer& a) const {
    const auto* op = operation(verb, target);
    if (!op)
      return {"is no documented operation"};
    const auto* answer = declared(*op, a.status);
    if (!answer)
      return {"answers an undocumented " + std::to_string(a.status)};
    std::vector<std::string> found;
    check_fields(a, *answer, found);
    auto* content = answer->if_contains("content");
    if (content)
      check_body(a, content->as_object(), found);
    else if (!a.body.empty())
      found.push_back("has an undocumented body");
    return found;
  }

  const json::object& resolved(const json::object& o) const {
    auto* ref = o.if_contains("$ref");
    if (!ref)
      return o;
    std::string path{ref->as_string()};
    path.erase(0, std::string{"#/components/"}.size());
    auto slash = path.find('/');
    return document_.at("components")
      .at(path.substr(0, slash))
      .at(path.substr(slash + 1))
      .as_object();
  }

private:
  const json::object& paths() const {
    return document_.at("paths").as_object();
  }

  static std::vector<std::string> segments(std::string_view path) {
    std::vector<std::string> out;
    while (!path.empty()) {
      auto end = path.find('/', 1);
      out.emplace_back(path.substr(1, end == path.npos ? end : end - 1));
      path = end == path.npos ? std::string_view{} : path.substr(end);
    }
    return out;
  }

  static bool fits(const std::vector<std::string>& wanted,
                   const std::vector<std::string>& known, std::size_t& open) {
    if (wanted.size() != known.size())
      return false;
    for (std::size_t i = 0; i < known.size(); ++i)
      if (known[i].starts_with('{'))
        ++open;
      else if (known[i] != wanted[i])
        return false;
    return true;
  }

  /// A refusal is documented by its status; failures may share one entry.
  const json::object* declared(const json::object& op, int status) const {
    const auto& all = op.at("responses").as_object();
    auto* found = all.if_contains(std::to_string(status));
    if (!found && status >= 500)
      found = all.if_contains("default");
    return found ? &resolved(found->as_object()) : nullptr;
  }

  static void check_fields(const raw_answer& a, const json::object& answer,
                           std::vector<std::string>& found) {
    auto* fields = answer.if_contains("headers");
    for (std::string name :
         {"X-Request-Id", "X-Run-Id", "Location", "ETag", "Retry-After",
          "Preference-Applied", "Idempotency-Replayed", "WWW-Authenticate"}) {
      std::string lower{name};
      for (char& c : lower)
        c = static_cast<char>(std::tolower(c));
      if (a.fields.contains(lower)
          && !(fields && fields->as_object().contains(name)))
        found.push_back("has an undocumented field " + name);
    }
  }

  void check_body(const raw_answer& a, const json::object& content,
                  std::vector<std::string>& found) const {
    auto given = a.fields.find("content-type");
    auto type = given == a.fields.end() ? std::string{} : given->second;
    type = type.substr(0, type.find(';'));
    auto* media = content.if_contains(type);
    if (!media) {
      found.push_back("has an undocumented type '" + type + "'");
      return;
    }
    for (const auto& text : documents(type, a.body)) {
      auto parsed = json::parse(text);
      if (!parsed) {
        found.push_back("is no JSON: " + text);
        continue;
      }
      json_schema checker{document_};
      for (auto& problem : checker.problems(*parsed, media->at("schema")))
        found.push_back(std::move(problem));
    }
  }

  static std::vector<std::string> documents(const std::string& type,
                                            const std::string& body) {
    if (type != "application/x-ndjson")
      return type.ends_with("json") ? std::vector{body}
                                    : std::vector<std::string>{};
    std::vector<std::string> lines;
    for (std::size_t at = 0, end; (end = body.find('\n', at)) != body.npos;
         at = end + 1)
      lines.push_back(body.substr(at, end - at));
    return lines;
  }

  json::object document_;
};

} // namespace troupe::test
