#include "net/providers/daytona/messages.hpp"

#include "net/providers/allow_lists.hpp"
#include "net/providers/shell_quote.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/json.hpp"

namespace troupe::net::daytona {

namespace {

constexpr std::string_view lease_label = "troupe_lease";
constexpr std::string_view owner_label = "troupe";
constexpr std::string_view key_label = "troupe_key";
constexpr std::string_view image_letters = "abcdefghijklmnopqrstuvwxyz"
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789._-/:@";

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

/// UUIDs and names: what may stand in a path without a second thought.
bool is_sandbox_id(std::string_view id) {
  if (id.empty() || id.size() > 128 || id.front() == '.')
    return false;
  for (unsigned char c : id)
    if (!std::isalnum(c) && c != '-' && c != '_' && c != '.')
      return false;
  return true;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words)
    out += (out.empty() ? "" : ",") + word;
  return out;
}

result<void> add_network(json::object& body, const network_policy& policy) {
  if (policy.mode == network_mode::open)
    return {};
  allow_lists allowed;
  if (policy.mode == network_mode::listed) {
    auto lists = host_lists_of(policy, "Daytona");
    if (!lists)
      return lists.error();
    if (lists->everything)
      return {};
    allowed = std::move(*lists);
  }
  if (!allowed.networks.empty())
    body["networkAllowList"] = joined(allowed.networks);
  if (!allowed.names.empty())
    body["domainAllowList"] = joined(allowed.names);
  if (allowed.networks.empty() && allowed.names.empty())
    body["networkBlockAll"] = true;
  return {};
}

result<void> add_origin(json::object& body, const sandbox_request& wanted,
                        const daytona_options& options) {
  auto config = as_daytona(config_of(wanted).config);
  auto snapshot = options.snapshot;
  if (config && !config->image.empty()) {
    // It becomes a line of a Dockerfile: one word, or it could be more lines.
    if (config->image.find_first_not_of(image_letters) != std::string::npos)
      return bad_field("/config/image", "is not an image name",
                       "such as python:3.12-slim");
    json::object build;
    build["dockerfileContent"] = "FROM " + config->image + "\n";
    body["buildInfo"] = std::move(build);
    return {};
  }
  if (config && !config->snapshot.empty())
    snapshot = config->snapshot;
  if (!snapshot.empty())
    body["snapshot"] = snapshot;
  return {};
}

} // namespace

result<std::string> creation_body(const sandbox_request& wanted,
                                  const daytona_options& options) {
  json::object body;
  body["name"] = sandbox_name(wanted.tag);
  if (auto added = add_origin(body, wanted, options); !added)
    return added.error();
  json::object env;
  for (const auto& [name, value] : wanted.env)
    env[name] = value.reveal();
  body["env"] = std::move(env);
  json::object labels;
  labels[owner_label] = "1";
  labels[lease_label] = wanted.tag;
  if (wanted.shared())
    labels[key_label] = wanted.key;
  labels["code-toolbox-language"]
    = wanted.lang == language::python ? "python" : "javascript";
  if (const auto& config = config_of(wanted); !config.id.empty())
    labels["config_state"] = fingerprint(config);
  body["labels"] = std::move(labels);
  body["public"] = false;
  if (!options.target.empty())
    body["target"] = options.target;
  auto minutes
    = std::chrono::ceil<std::chrono::minutes>(wanted.lifetime).count();
  body["autoStopInterval"] = static_cast<std::int64_t>(minutes);
  body["autoDeleteInterval"] = 0; // when it stops, it goes
  if (auto added = add_network(body, wanted.network); !added)
    return added.error();
  return json::to_text(body);
}

result<sandbox_state> parse_sandbox(std::string_view text) {
  auto body = json::parse_object(text);
  if (!body)
    return fail(ec::unavailable, "Daytona answered with no JSON object");
  sandbox_state out;
  out.sandbox.id = text_of(*body, "id");
  out.state = text_of(*body, "state");
  out.reason = text_of(*body, "errorReason").substr(0, 200);
  if (!is_sandbox_id(out.sandbox.id))
    return fail(ec::unavailable, "Daytona returned an invalid sandbox id");
  if (auto url = text_of(*body, "toolboxProxyUrl"); !url.empty())
    out.sandbox.keys.emplace(toolbox_key, std::move(url));
  return out;
}

result<void> reports_not_found(std::string_view body) {
  if (body.empty() || json::parse_object(body)) // older servers: empty
    return {};
  return fail(ec::unavailable, "Daytona answered a deletion with no JSON");
}

result<list_page> parse_list(std::string_view text) {
  auto body = json::parse(text);
  if (!body)
    return fail(ec::unavailable, "Daytona answered a list with no JSON");
  list_page out;
  auto* items = body->if_array(); // as old servers have it
  if (auto* o = body->if_object()) {
    out.next = text_of(*o, "nextCursor");
    if (auto* list = o->if_contains("items"))
      items = list->if_array();
  }
  if (!items)
    return fail(ec::unavailable, "Daytona answered a list without items");
  for (const auto& item : *items) {
    auto* o = item.if_object();
    if (!o)
      continue;
    tagged_sandbox t;
    t.sandbox = text_of(*o, "id");
    if (auto* labels = o->if_contains("labels"); labels && labels->is_object())
      t.tag = text_of(labels->as_object(), lease_label);
    auto state = text_of(*o, "state");
    if (is_sandbox_id(t.sandbox) && !t.tag.empty() && state != "destroyed"
        && state != "destroying")
      out.items.push_back(std::move(t));
  }
  return out;
}

result<std::string> parse_command_id(std::string_view text) {
  auto body = json::parse_object(text);
  auto id = body ? text_of(*body, "cmdId") : std::string{};
  if (!is_sandbox_id(id))
    return fail(ec::unavailable, "Daytona gave the command no id");
  return id;
}

result<std::optional<std::int32_t>> parse_command(std::string_view text) {
  auto body = json::parse_object(text);
  if (!body)
    return fail(ec::unavailable, "Daytona lost the command");
  auto* code = body->if_contains("exitCode");
  if (!code || !code->is_int64())
    return std::optional<std::int32_t>{};
  return std::optional{static_cast<std::int32_t>(code->as_int64())};
}

result<command_logs> parse_logs(std::string_view text) {
  auto body = json::parse_object(text, {.depth = 8, .bytes = 64u << 20});
  if (!body)
    return fail(ec::unavailable, "Daytona's logs are not a JSON object");
  if (!body->contains("stdout") && body->contains("output"))
    return fail(ec::unavailable,
                "Daytona's daemon mixes stdout and stderr; use a newer "
                "snapshot");
  return command_logs{text_of(*body, "stdout"), text_of(*body, "stderr")};
}

std::string_view new_output(std::string_view log, std::size_t& shown,
                            bool whole) {
  constexpr std::string_view not_a_character = "\xef\xbf\xbd"; // U+FFFD
  while (!whole && log.ends_with(not_a_character))
    log.remove_suffix(not_a_character.size());
  if (log.size() <= shown)
    return {};
  auto news = log.substr(shown);
  shown = log.size();
  return news;
}

std::string session_line(const process_request& what,
                         std::string_view input_file,
                         std::string_view env_file) {
  std::string line;
  if (!what.cwd.empty())
    line += "cd " + shell_quote(what.cwd) + " && ";
  if (!what.env.empty()) {
    line += "env";
    for (const auto& [name, value] : what.env)
      line += " " + shell_quote(name + "=" + value);
    line += " ";
  }
  line += shell_line(what.argv);
  line += " < ";
  line += input_file.empty() ? "/dev/null" : shell_quote(input_file);
  if (env_file.empty())
    return line;
  // In a shell of its own: the session's goes on to the next command.
  auto file = shell_quote(env_file);
  return "( . " + file + "; rm -f " + file + "; " + line + " )";
}

std::string env_lines(const environment& env) {
  std::string out;
  for (const auto& [name, value] : env)
    out += "export " + name + "=" + shell_quote(value.reveal()) + "\n";
  return out;
}

} // namespace troupe::net::daytona
