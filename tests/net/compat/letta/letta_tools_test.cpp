// Letta's tools: how they are stored, described and shown again.
#include "runtime/engine/schema_deriver.hpp"
#include "tests/net/compat/letta/letta_server.hpp"

using namespace troupe;
using test::adder;
using test::letta_house;

BOOST_AUTO_TEST_SUITE(letta_tools)

BOOST_AUTO_TEST_CASE(creates_and_upserts_by_name) {
  letta_house house;
  auto first = house.value("POST", "/v1/tools/", adder);
  auto again = house.value("PUT", "/v1/tools", adder);
  BOOST_TEST(first.at("id") == again.at("id"));
  BOOST_TEST(first.at("name").as_string() == "add");
  BOOST_TEST(first.at("metadata_").is_object());
  BOOST_TEST(first.at("pip_requirements").is_null());
  BOOST_TEST(house.value("GET", "/v1/tools/count").as_int64() == 1);
  BOOST_TEST(house.value("GET", "/latest/tools/").as_array().size() == 1u);
  std::string id{first.at("id").as_string()};
  BOOST_TEST(house.value("GET", "/v1/tools/" + id).at("id").as_string() == id);
  BOOST_TEST(house.value("DELETE", "/v1/tools/" + id).is_null());
  BOOST_TEST(house.send("GET", "/v1/tools/" + id).status == 404);
  BOOST_TEST(house.send("DELETE", "/v1/tools/" + id).status == 400);
}

// As `pip_requirements` and `npm_requirements` of every way in.
BOOST_AUTO_TEST_CASE(takes_the_requirements_that_it_answers) {
  letta_house house;
  const auto create = [&](std::string_view verb, const std::string& path,
                          const std::string& kind, const std::string& list) {
    auto body = std::string{R"({"source_code":"def f(): pass",")"} + kind
      + R"(":)" + list + "}";
    auto made = house.value(verb, path, body);
    return made;
  };
  struct {
    const char* kind;
    const char* sent;
    const char* answered;
  } const rows[] = {
    {"pip", R"({"name":"requests","version":"2.31.0"})",
     R"({"name":"requests","version":"2.31.0"})"},
    {"pip", R"({"name":"requests","version":">=2"})",
     R"({"name":"requests","version":">=2"})"},
    {"pip", R"({"name":"requests>=2"})",
     R"({"name":"requests","version":">=2"})"},
    {"pip", R"({"name":"requests>=2","version":null})",
     R"({"name":"requests","version":">=2"})"},
    {"pip", R"("pandas[excel]>=2,<3")",
     R"({"name":"pandas[excel]","version":">=2,<3"})"},
    {"pip", R"("a===1.0")", R"({"name":"a","version":"===1.0"})"},
    {"pip", R"("a==1.*,!=1.5")", R"({"name":"a","version":"==1.*,!=1.5"})"},
    {"pip", R"("a~=1.4.2")", R"({"name":"a","version":"~=1.4.2"})"},
    {"pip", R"("a==1!2.0.post1")", R"({"name":"a","version":"1!2.0.post1"})"},
    {"pip", R"("numpy")", R"({"name":"numpy","version":null})"},
    {"npm", R"("@scope/x@^2")", R"({"name":"@scope/x","version":"^2"})"},
    {"npm", R"({"name":"x@>=1 <2"})", R"({"name":"x","version":">=1 <2"})"},
    {"npm", R"("x@latest")", R"({"name":"x","version":"latest"})"},
    {"npm", R"("x")", R"({"name":"x","version":null})"},
  };
  for (const auto& [kind, sent, answered] : rows) {
    BOOST_TEST_CONTEXT(sent) {
      auto member = std::string{kind} + "_requirements";
      auto list = std::string{"["} + sent + "]";
      auto expected = json::to_text(json::parse(answered).value());
      for (int again = 0; again < 2; ++again) {
        auto made = create("POST", "/v1/tools/", member, list);
        list = json::to_text(made.at(member));
        BOOST_TEST(list == "[" + expected + "]");
        auto id = std::string{made.at("id").as_string()};
        auto changed = create("PATCH", "/v1/tools/" + id, member, list);
        BOOST_TEST(json::to_text(changed.at(member)) == list);
      }
      house.value("POST", "/v1/tools/run",
                  R"({"source_code":"def f(): pass","args":{},")" + member
                    + R"(":)" + list + "}");
      if (member[0] == 'p')
        for (std::string type : {"local", "e2b", "modal"}) {
          auto body = R"({"type":")" + type + R"(","config":{")" + member
            + R"(":)" + list + "}}";
          auto config
            = house.value("POST", "/v1/sandbox-config/", body).at("config");
          body = R"({"type":")" + type + R"(","config":)"
            + json::to_text(config) + "}";
          BOOST_TEST(
            house.value("POST", "/v1/sandbox-config/", body).at("config")
            == config);
        }
    }
  }
  // Neither part may borrow from the other.
  BOOST_TEST(house
               .send("POST", "/v1/tools/",
                     R"({"source_code":"def f(): pass","pip_requirements":)"
                     R"([{"name":"a>=1","version":"2"}]})")
               .status
             == 422);
}

BOOST_AUTO_TEST_CASE(wants_a_word_about_every_parameter) {
  letta_house house;
  house.engine.parameters["properties"]
    = json::object{{"a", {{"type", "string"}, {"description", "x"}}},
                   {"b", {{"type", "string"}}}};
  const std::string source = R"({"source_code":"def f(a, b): pass")";
  for (const auto& [path, body] :
       {std::pair<std::string, std::string>{"/v1/tools/", source + "}"},
        {"/v1/tools/run", source + R"(,"args":{}})"},
        {"/v1/tools/generate-schema", R"({"code":"def f(a, b): pass"})"}}) {
    auto a = house.send("POST", path, body);
    BOOST_TEST(a.status == 400, path << a.body);
    BOOST_TEST(a.body.find("Parameter 'b' in function 'f' lacks a description "
                           "in the docstring")
                 != a.body.npos,
               a.body);
  }
  // Who describes them elsewhere, or nowhere, is not asked.
  house.value("POST", "/v1/tools/",
              source + R"(,"args_json_schema":{"properties":{"b":{}}}})");
  house.value("POST", "/v1/tools/",
              source + R"(,"json_schema":{"name":"f","parameters":)"
                + json::to_text(house.engine.parameters) + "}}");
  house.value("POST", "/v1/tools/run", source + R"(,"args":{},"name":"f"})");
}

BOOST_AUTO_TEST_CASE(keeps_the_docstring_beside_described_arguments) {
  letta_house house;
  house.engine.unclear_parameters = "Parameter 'a' lacks a type annotation";
  const std::string described
    = R"("args_json_schema":{"type":"object","properties":{"a":{}}})";
  auto check = [](const json::value& made, std::string_view description) {
    BOOST_TEST(made.at("name").as_string() == "f");
    BOOST_TEST(made.at("description").as_string() == description);
    const auto& schema = made.at("json_schema");
    BOOST_TEST(schema.at("name").as_string() == "f");
    BOOST_TEST(schema.at("description").as_string() == "A derived tool");
    BOOST_TEST(schema.at("parameters").at("properties").at("a").is_object());
  };
  auto made
    = house.value("POST", "/v1/tools/",
                  R"({"source_code":"def f(a): pass",)" + described + "}");
  check(made, "A derived tool");
  auto path = "/v1/tools/" + std::string{made.at("id").as_string()};
  check(house.value("PATCH", path, "{" + described + "}"), "A derived tool");
  check(
    house.value("PATCH", path, R"({"description":"own",)" + described + "}"),
    "own");
  check(house.value("PATCH", path, "{" + described + "}"), "own");
  // Without a description by hand it is as unclear as ever.
  BOOST_TEST(
    house.send("POST", "/v1/tools/", R"({"source_code":"def f(a): pass"})")
      .status
    == 400);
}

BOOST_AUTO_TEST_CASE(says_the_hash_of_a_tool_and_binds_it_leniently) {
  letta_house house;
  const std::string source = R"({"source_code":"def f():\n    return 1\n")";
  auto made = house.value("POST", "/v1/tools/", source + "}");
  BOOST_TEST(made.at("metadata_").at("tool_hash").as_string()
             == "f3c5e04f87b1");
  BOOST_TEST(made.at("metadata_").at("lenient_arguments").as_bool());
  auto path = "/v1/tools/" + std::string{made.at("id").as_string()};
  auto changed = house.value(
    "PATCH", path,
    R"({"metadata_":{"mine":1,"tool_hash":"old"},"pip_requirements":)"
    R"([{"name":"requests","version":"2.31.0"}]})");
  const auto& metadata = changed.at("metadata_");
  BOOST_TEST(metadata.at("tool_hash").as_string() == "ec3020c853b4");
  BOOST_TEST(metadata.at("lenient_arguments").as_bool());
  BOOST_TEST(metadata.at("mine").as_int64() == 1);
  house.value("POST", "/v1/agents/agent-1/tools/f/run");
  BOOST_TEST(house.engine.last_request().lenient_arguments);
  house.value("POST", "/v1/tools/run",
              R"({"source_code":"def f(): pass","args":{}})");
  BOOST_TEST(house.engine.last_request().lenient_arguments);
}

BOOST_AUTO_TEST_CASE(derives_what_a_source_without_a_name_is_called) {
  letta_house house;
  auto run = [&](const std::string& more) {
    house.value("POST", "/v1/tools/run",
                R"({"source_code":"def add(): pass","args":{})" + more + "}");
    return house.engine.last_request();
  };
  auto derived = run("");
  BOOST_TEST(derived.function == "add");
  BOOST_TEST(derived.json_schema.find("A derived tool") != std::string::npos);
  auto described = run(R"(,"args_json_schema":{"type":"object","by":"hand"})");
  BOOST_TEST(described.function == "add");
  BOOST_TEST(described.args_json_schema.find("hand") != std::string::npos);
  BOOST_TEST(described.json_schema.empty()); // nothing is checked by two
  BOOST_TEST(run(R"(,"name":"add")").json_schema.empty());
}

BOOST_AUTO_TEST_CASE(needs_no_word_about_arguments_that_are_described) {
  letta_house house;
  house.engine.unclear = bad_field("/source_code", "'Entry' is not known");
  const auto create = [&](const std::string& source) {
    return house.send("POST", "/v1/tools/",
                      R"({"source_code":")" + source
                        + R"(","args_json_schema":{"type":"object",)"
                          R"("properties":{"data":{"type":"object"}}}})");
  };
  const auto made = create(R"(def helper(): pass\ndef manage(data: Entry): 1)");
  BOOST_TEST(made.status == 200);
  BOOST_TEST(made.body.find(R"("name":"manage")") != std::string::npos);
  BOOST_TEST(made.body.find("The manage tool") != std::string::npos);
  BOOST_TEST(create("undef manage").status == 400); // no function at all
  house.engine.unclear->fields.front().hint = unreadable_source;
  BOOST_TEST(create("def f(:").status == 400);
}

BOOST_AUTO_TEST_CASE(lists_newest_first_until_an_empty_page) {
  letta_house house;
  for (std::string name : {"a", "b", "c"})
    house.value("POST", "/v1/tools/",
                R"({"source_code":"def )" + name + R"((): pass"})");
  std::string order;
  std::string query = "?limit=2";
  for (;;) {
    auto page = house.value("GET", "/v1/tools/" + query).as_array();
    if (page.empty())
      break;
    for (const auto& t : page)
      order += std::string{t.at("name").as_string()};
    query = "?limit=2&after=" + std::string{page.back().at("id").as_string()};
    BOOST_REQUIRE(order.size() < 10);
  }
  BOOST_TEST(order == "cba");
  auto two = house.value("GET", "/v1/tools/?names=a&names=c").as_array();
  BOOST_TEST(two.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
