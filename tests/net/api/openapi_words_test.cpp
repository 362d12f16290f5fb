// The document in words: what each member means, and how to send each
// operation.
#include "tests/support/http/http_server.hpp"
#include "tests/support/http/openapi_check.hpp"

using namespace troupe;
using test::http_house;

BOOST_AUTO_TEST_SUITE(openapi_words)

namespace {

test::openapi_check served_document() {
  http_house house;
  return test::openapi_check{
    json::parse_object(house.get("/openapi.json").body).value()};
}

/// Calls `each` for the members of a schema and of what lies in it.
template <class Each>
void for_each_member(const std::string& about, const json::value& schema,
                     const Each& each) {
  const auto* o = schema.if_object();
  if (!o)
    return;
  if (const auto* members = o->if_contains("properties"))
    for (const auto& [name, member] : members->as_object()) {
      const auto full = about + "." + std::string{name};
      each(full, member.as_object());
      for_each_member(full, member, each);
    }
  for (auto inner : {"items", "additionalProperties"})
    if (const auto* found = o->if_contains(inner))
      for_each_member(about, *found, each);
  for (auto choice : {"oneOf", "anyOf", "allOf"})
    if (const auto* found = o->if_contains(choice))
      for (const auto& one : found->as_array())
        for_each_member(about, one, each);
}

/// As a shell takes it apart.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '\'')
      quoted = !quoted;
    else if (!quoted && line[i] == ' ')
      words.emplace_back();
    else if (!quoted && line[i] == '\\')
      words.back() += line[++i];
    else
      words.back() += line[i];
  return words;
}

/// What a line of curl sends.
struct sent {
  std::string verb = "get", target, body;

  explicit sent(std::string_view line) {
    const auto words = words_of(line);
    bool verb_is_said = false;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].starts_with("http://"))
        target = words[i].substr(words[i].find('/', 7));
      else if (words[i] == "-X") {
        verb_is_said = true;
        verb = words[++i];
      } else if (words[i] == "-d" || words[i] == "--data-binary") {
        verb = verb_is_said ? verb : "post";
        body = words[++i];
      }
    for (char& c : verb)
      c = static_cast<char>(std::tolower(c));
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(describe_every_member_of_every_schema) {
  const auto check = served_document();
  std::size_t seen = 0;
  const auto& schemas = check.document().at("components").at("schemas");
  for (const auto& [name, schema] : schemas.as_object())
    for_each_member(std::string{name}, schema,
                    [&](const std::string& about, const json::object& member) {
                      BOOST_TEST(member.contains("description"), about);
                      ++seen;
                    });
  BOOST_TEST(seen > 400u);
}

BOOST_AUTO_TEST_CASE(show_how_to_send_each_operation_by_curl) {
  const auto check = served_document();
  test::json_schema checker{check.document()};
  for (const auto& [path, item] : check.document().at("paths").as_object())
    for (const auto& [verb, op] : item.as_object()) {
      const auto* samples = op.as_object().if_contains("x-codeSamples");
      BOOST_TEST_REQUIRE(samples, verb << " " << path << " has none");
      for (const auto& sample : samples->as_array()) {
        const auto line = std::string_view{sample.at("source").as_string()};
        const sent it{line};
        BOOST_TEST(line.starts_with("curl "), line);
        BOOST_TEST(it.verb == verb, line);
        BOOST_TEST(check.template_of(it.target) == path, line);
        if (it.body.empty() || it.body.starts_with('@'))
          continue;
        auto parsed = json::parse(it.body);
        BOOST_TEST_REQUIRE(parsed.has_value(), line);
        const auto& content = op.at("requestBody").at("content");
        for (const auto& problem : checker.problems(
               *parsed, content.at("application/json").at("schema")))
          BOOST_ERROR(line << ": " << problem);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
