#include "net/providers/e2b/messages.hpp"

#include "net/http/url.hpp"
#include "net/providers/allow_lists.hpp"
#include "net/providers/shell_quote.hpp"
#include "runtime/base/base64.hpp"
#include "runtime/base/error.hpp"
#include "runtime/json/reader.hpp"

#include <signal.h>

#include <charconv>

namespace troupe::net {

bool is_e2b_sandbox_id(std::string_view id) {
  if (id.empty() || id.size() > 63 || id.front() == '-' || id.back() == '-')
    return false;
  for (char c : id)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
      return false;
  return true;
}

std::string e2b_preview_host(std::string_view domain, std::string_view sandbox,
                             std::uint16_t port) {
  return std::to_string(port) + "-" + std::string{sandbox} + "."
    + std::string{domain};
}

std::string
e2b_metadata_filter(const std::map<std::string, std::string>& metadata) {
  std::string form;
  for (const auto& [key, value] : metadata) {
    if (!form.empty())
      form += '&';
    form += percent_encode(percent_encode(key)) + "="
      + percent_encode(percent_encode(value));
  }
  return percent_encode(form);
}

namespace e2b {

namespace {

result<void> add_network(json::object& body, const network_policy& policy) {
  body["allow_internet_access"] = policy.mode != network_mode::off;
  json::object rules;
  rules["allowPublicTraffic"] = false; // nobody from outside gets in
  if (policy.mode == network_mode::listed) {
    auto allowed = host_lists_of(policy, "E2B");
    if (!allowed)
      return allowed.error();
    if (!allowed->everything) {
      json::array allow;
      for (const auto* list : {&allowed->networks, &allowed->names})
        for (const auto& each : *list)
          allow.emplace_back(each);
      rules["allowOut"] = std::move(allow);
      rules["denyOut"] = json::array{"0.0.0.0/0"};
    }
  }
  body["network"] = std::move(rules);
  return {};
}

/// By the words of Go's runtime, which an envd repeats: "signal: killed".
std::int32_t signal_of(std::string_view status) {
  constexpr std::string_view prefix = "signal: ";
  if (!status.starts_with(prefix))
    return 0;
  auto word = status.substr(prefix.size());
  for (auto [name, number] :
       std::initializer_list<std::pair<std::string_view, std::int32_t>>{
         {"hangup", SIGHUP},
         {"interrupt", SIGINT},
         {"quit", SIGQUIT},
         {"illegal instruction", SIGILL},
         {"aborted", SIGABRT},
         {"bus error", SIGBUS},
         {"floating point exception", SIGFPE},
         {"killed", SIGKILL},
         {"segmentation fault", SIGSEGV},
         {"broken pipe", SIGPIPE},
         {"terminated", SIGTERM}})
    if (word.starts_with(name))
      return number;
  return 0;
}

std::string text_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v && v->is_string() ? std::string{v->as_string()} : std::string{};
}

const json::object* object_of(const json::object& o, std::string_view name) {
  auto* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

/// lowerCamelCase, or the proto's own name.
const json::value* either(const json::object& o, std::string_view camel,
                          std::string_view snake) {
  auto* v = o.if_contains(camel);
  return v ? v : o.if_contains(snake);
}

/// Standard or URL-safe alphabet.
result<std::string> bytes_of(const json::value& v) {
  if (!v.is_string())
    return fail(ec::unavailable, "bytes that are not text");
  std::string text{v.as_string()};
  for (auto& c : text)
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0)
    text += '=';
  return frame::from_base64(text);
}

process_end end_of(const json::object& e) {
  process_end end;
  auto* code = either(e, "exitCode", "exit_code");
  if (code && code->is_int64())
    end.exit_code = static_cast<std::int32_t>(code->as_int64());
  auto* exited = e.if_contains("exited");
  end.signaled = !exited || !exited->is_bool() || !exited->as_bool();
  end.detail = text_of(e, "status").substr(0, 200);
  if (end.signaled)
    end.signal = signal_of(end.detail);
  return end;
}

} // namespace

bool has_shared_host(std::string_view domain) {
  for (auto known : {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"})
    if (domain == known)
      return true;
  return false;
}

result<std::string> creation_body(const sandbox_request& wanted,
                                  const e2b_options& options) {
  json::object body;
  auto config = as_e2b(config_of(wanted).config);
  auto chosen = config ? config->template_id : std::string{};
  if (chosen.empty())
    chosen = options.template_id;
  body["templateID"] = chosen.empty() ? std::string{default_template} : chosen;
  body["timeout"] = static_cast<std::int64_t>(wanted.lifetime.count());
  json::object labels;
  labels[owner_label] = "1";
  labels[lease_label] = wanted.tag;
  if (wanted.shared())
    labels[key_label] = wanted.key;
  if (!config_of(wanted).id.empty())
    labels["config_state"] = fingerprint(config_of(wanted));
  body["metadata"] = std::move(labels);
  // No `envVars`: the interpreter pastes those into a context's first cell as
  // they are, so that a quote in a value breaks it or is carried out. A script
  // brings its run's variables along, a process is told them by itself.
  if (options.legacy_create)
    body["secure"] = true;
  if (auto added = add_network(body, wanted.network); !added)
    return added.error();
  return json::to_text(body);
}

result<sandbox_handle> parse_creation(std::string_view text) {
  auto body = json::parse_object(text);
  if (!body)
    return fail(ec::unavailable, "E2B answered a creation with no JSON object");
  sandbox_handle box;
  box.id = text_of(*body, "sandboxID");
  if (!is_e2b_sandbox_id(box.id))
    return fail(ec::unavailable, "E2B returned an invalid sandbox id");
  if (auto t = text_of(*body, "envdAccessToken"); !t.empty())
    box.keys.emplace(token_key, std::move(t));
  if (auto t = text_of(*body, "trafficAccessToken"); !t.empty())
    box.keys.emplace(traffic_key, std::move(t));
  if (auto d = text_of(*body, "domain"); !d.empty())
    box.keys.emplace(domain_key, std::move(d));
  if (auto v = text_of(*body, "envdVersion"); !v.empty())
    box.keys.emplace(envd_key, std::move(v));
  return box;
}

envd_version envd_of(const sandbox_handle& sandbox) {
  constexpr envd_version current{~0u, 0, 0};
  auto said = sandbox.keys.find(std::string{envd_key});
  if (said == sandbox.keys.end())
    return current;
  const auto& text = said->second.reveal();
  envd_version v;
  auto* at = text.data();
  auto* const end = at + text.size();
  for (auto* part : {&v.major, &v.minor, &v.patch}) {
    auto [next, why] = std::from_chars(at, end, *part);
    if (why != std::errc{})
      return current;
    at = next == end || *next != '.' ? next : next + 1;
  }
  return v;
}

result<std::vector<tagged_sandbox>> parse_list(std::string_view text) {
  auto body = json::parse(text);
  if (!body || !body->is_array())
    return fail(ec::unavailable, "E2B answered a list with no JSON array");
  std::vector<tagged_sandbox> out;
  for (const auto& item : body->as_array()) {
    auto* o = item.if_object();
    if (!o)
      continue;
    tagged_sandbox t;
    t.sandbox = text_of(*o, "sandboxID");
    if (auto* labels = object_of(*o, "metadata"))
      t.tag = text_of(*labels, lease_label);
    if (is_e2b_sandbox_id(t.sandbox) && !t.tag.empty())
      out.push_back(std::move(t));
  }
  return out;
}

/// By a login shell, as their own clients do it: only that one has the
/// template's PATH.
std::string start_body(const process_request& what,
                       std::string_view input_file) {
  const auto& argv = what.argv;
  auto is_line = argv.size() == 3 && argv[0] == "/bin/sh" && argv[1] == "-c";
  auto line = is_line ? argv[2] : "exec " + shell_line(argv);
  if (!input_file.empty()) {
    auto file = shell_quote(input_file);
    line = "exec < " + file + " || exit " + std::to_string(lost_input_code)
      + "; rm -f " + file + "\n" + line;
  }
  json::object process;
  process["cmd"] = "/bin/bash";
  process["args"] = json::array{"-l", "-c", std::move(line)};
  json::object env;
  for (const auto& [name, value] : what.env)
    env[name] = value;
  if (!env.empty())
    process["envs"] = std::move(env);
  if (!what.cwd.empty())
    process["cwd"] = what.cwd;
  json::object body;
  body["process"] = std::move(process);
  body["stdin"] = !what.input.empty();
  return json::to_text(body);
}

bool says_sandbox_is_gone(const client_response& reply) {
  if (reply.status != 502)
    return false;
  auto body = json::parse_object(reply.body);
  return body && body->contains("sandboxId");
}

result<process_event> parse_process_event(std::string_view text) {
  auto body = json::parse_object(text);
  if (!body)
    return fail(ec::unavailable, "an event that is not a JSON object");
  process_event out;
  auto* event = object_of(*body, "event");
  if (!event)
    return out;
  if (auto* start = object_of(*event, "start")) {
    out.what = process_event::kind::started;
    if (auto* pid = start->if_contains("pid"); pid && pid->is_int64())
      out.pid = static_cast<std::uint32_t>(pid->as_int64());
  } else if (auto* data = object_of(*event, "data")) {
    auto* bytes = data->if_contains("stdout");
    out.what = bytes ? process_event::kind::out : process_event::kind::err;
    if (!bytes)
      bytes = data->if_contains("stderr");
    if (!bytes)
      return process_event{};
    auto decoded = bytes_of(*bytes);
    if (!decoded)
      return decoded.error();
    out.bytes = std::move(*decoded);
  } else if (auto* end = object_of(*event, "end")) {
    out.what = process_event::kind::ended;
    out.end = end_of(*end);
  }
  return out;
}

std::string execute_head(language lang, std::string_view runner) {
  std::string out = R"({"code":)";
  // A notebook of JavaScript ends its cell when the text is through, unless
  // the text itself waits.
  auto waits = lang == language::python ? "" : "await ";
  json::append_string(out, waits + std::string{runner});
  out.pop_back(); // its last quote: the text goes on
  return out;
}

std::string execute_rest(language lang, std::string_view rest) {
  std::string out;
  json::append_string(out, rest);
  out.erase(0, 1);
  // TypeScript has lost its types by now.
  return out + (lang == language::python ? "}" : R"(,"language":"js"})");
}

result<cell_event> parse_cell_event(std::string_view line) {
  auto body = json::parse_object(line, {.depth = 64, .bytes = 32u << 20});
  if (!body)
    return fail(ec::unavailable, "a line that is not a JSON object");
  auto type = text_of(*body, "type");
  cell_event out;
  if (type == "stdout" || type == "stderr") {
    out.what = type == "stdout" ? cell_event::kind::out : cell_event::kind::err;
    out.text = text_of(*body, "text");
  } else if (type == "error") {
    out.what = cell_event::kind::failed;
    out.text = (text_of(*body, "name") + ": " + text_of(*body, "value"))
                 .substr(0, 1'000);
  } else if (type == "end_of_execution") {
    out.what = cell_event::kind::ended;
  }
  return out;
}

} // namespace e2b

} // namespace troupe::net
