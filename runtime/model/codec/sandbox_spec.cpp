// What is asked for: sandboxes.
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/parts.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>
#include <array>

namespace troupe {

namespace {

constexpr std::size_t longest_git_path = 4'096;

void read_sandbox_metadata(json::reader& in,
                           std::map<std::string, std::string>& into) {
  constexpr auto longest = bounds::sandbox_metadata_bytes;
  const auto* all = in.member_object("metadata");
  if (!all)
    return;
  if (all->size() > bounds::sandbox_metadata)
    in.complain("metadata",
                "has more than " + std::to_string(bounds::sandbox_metadata)
                  + " pairs",
                "keep what does not fit elsewhere, under the sandbox's id");
  for (const auto& m : *all) {
    std::string key{m.key().data(), m.key().size()};
    const auto* text = m.value().if_string();
    if (!key.empty() && key.size() <= longest && text
        && text->size() <= longest)
      into.emplace(std::move(key), std::string{text->data(), text->size()});
    else
      in.absorb(bad_field(
        json::child(in.pointer_to("metadata"), key.substr(0, longest)),
        "is no pair of texts of at most 256 bytes",
        "shorten it, or write numbers in quotes"));
  }
}

struct resource_rule {
  std::string_view name;
  std::optional<std::uint64_t> limit_overrides::*of;
  std::uint64_t least; // below it one would be made that can do nothing
};
constexpr resource_rule resource_rules[] = {
  {"memory_bytes", &limit_overrides::memory_bytes, 16u << 20},
  {"disk_bytes", &limit_overrides::disk_bytes, 1u << 20}, // folders of its own
  {"inodes", &limit_overrides::inodes, 256},
  {"processes", &limit_overrides::processes, 8}, // a command takes two
};

void read_resources(json::reader& in, limit_overrides& into) {
  const auto* said = in.member_object("resources");
  if (!said)
    return;
  const auto pointer = in.pointer_to("resources");
  for (const auto& m : *said)
    if (std::string_view name{m.key().data(), m.key().size()};
        std::ranges::find(resource_rules, name, &resource_rule::name)
        == std::end(resource_rules)) {
      in.absorb(bad_field(json::child(pointer, name.substr(0, 64)),
                          "is no resource of a sandbox",
                          "memory_bytes, disk_bytes, inodes or processes"));
      return;
    }
  auto parsed = parse_limits(*said, pointer);
  if (!parsed)
    return in.absorb(parsed.error());
  into = *parsed;
  for (const auto& rule : resource_rules)
    if (const auto& wanted = into.*rule.of; wanted && *wanted < rule.least)
      in.absorb(bad_field(json::child(pointer, rule.name),
                          "is too little for a sandbox to do anything",
                          std::to_string(rule.least) + " or more"));
}

std::optional<timeout_action> read_timeout_action(json::reader& in,
                                                  std::string_view name) {
  const auto text = in.one_of(name, {"delete", "pause", "stop"});
  if (!text)
    return std::nullopt;
  return *text == "pause" ? timeout_action::pause
    : *text == "stop"     ? timeout_action::stop
                          : timeout_action::remove;
}

/// Of a chat, a user, an agent: any text that can be read again.
std::string read_session(json::reader& in) {
  auto text
    = in.text("session", {.min = 1, .max = bounds::sandbox_session_bytes})
        .value_or("");
  if (std::ranges::any_of(text,
                          [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    in.complain("session", "has a control character", "leave it out");
  return text;
}

/// By what git fetches without running another program of our choosing. A
/// password would stay in the sandbox, and in lists of processes.
void check_git_url(json::reader& in, std::string_view url) {
  constexpr std::array schemes{"https://", "http://", "ssh://", "git://",
                               "file://"};
  const auto scheme = std::ranges::find_if(
    schemes, [&](const char* each) { return url.starts_with(each); });
  if (scheme == schemes.end())
    return in.complain("url", "is no URL that can be cloned",
                       "https, http, ssh, git or file, such as "
                       "https://example.org/project.git");
  const auto host = url.substr(std::string_view{*scheme}.size());
  const auto user = host.substr(0, std::min(host.find('/'), host.size()));
  if (url.starts_with("http") && user.find('@') != user.npos)
    in.complain("url", "holds credentials, which would stay in the sandbox",
                "leave them out, and clone with a credential helper in it");
}

void read_git(json::reader& outer, std::optional<git_source>& into) {
  const auto* said = outer.member_object("git");
  if (!said)
    return;
  json::reader in{*said, outer.pointer_to("git")};
  auto& git = into.emplace();
  const auto text = [&in](std::string_view name, std::size_t most) {
    auto is = in.text(name, {.min = 1, .max = most}).value_or("");
    if (std::ranges::any_of(is, [](unsigned char c) { return c < ' '; }))
      in.complain(name, "has a control character", "leave it out");
    return is;
  };
  git.url = text("url", 2'048);
  git.branch = text("branch", 256);
  git.path = text("path", longest_git_path);
  git.depth
    = static_cast<std::uint32_t>(in.integer("depth", 0, 1'000'000).value_or(0));
  if (in.has("url"))
    check_git_url(in, git.url);
  else
    in.complain("url", "is missing", "of the repository");
  if (auto bad = in.finish())
    outer.absorb(std::move(*bad));
}

/// Pairs that stand there from now on, and null for one that goes.
void read_metadata_change(
  json::reader& in, std::map<std::string, std::optional<std::string>>& into) {
  const auto* all = in.member_object("metadata");
  if (!all)
    return;
  json::object pairs;
  for (const auto& m : *all)
    if (m.value().is_null())
      into[std::string{m.key().data(), m.key().size()}] = std::nullopt;
    else
      pairs[m.key()] = m.value();
  std::map<std::string, std::string> put;
  json::object only;
  only["metadata"] = std::move(pairs);
  json::reader these{only};
  read_sandbox_metadata(these, put);
  if (auto bad = these.finish())
    in.absorb(std::move(*bad));
  for (auto& [name, value] : put)
    into[name] = std::move(value);
}

} // namespace

result<sandbox_spec> parse_sandbox_spec(const json::object& body) {
  static constexpr field_rule rule;
  json::reader in{body};
  sandbox_spec s;
  s.name = codec::read_sandbox_name(in, "name");
  s.template_name = codec::read_sandbox_name(in, "template");
  s.snapshot = codec::read_sandbox_name(in, "snapshot");
  codec::read({in, "place", rule}, s.place);
  codec::read_sandbox_duration(in, "timeout", s.timeout);
  s.on_timeout
    = read_timeout_action(in, "on_timeout").value_or(timeout_action::remove);
  codec::read_sandbox_duration(in, "idle_timeout", s.idle_timeout);
  s.on_idle
    = read_timeout_action(in, "on_idle").value_or(timeout_action::remove);
  s.auto_resume = in.boolean("auto_resume").value_or(false);
  s.session = read_session(in);
  read_sandbox_metadata(in, s.metadata);
  codec::read_sandbox_variables(in, s.env);
  read_resources(in, s.resources);
  codec::read({in, "network", rule}, s.network);
  codec::read({in, "isolation", rule}, s.isolation);
  read_git(in, s.git);
  s.wait_until_running = in.one_of("wait", {"running", "none"}) != "none";
  if (auto bad = in.finish())
    return *bad;
  return s;
}

result<std::chrono::milliseconds> parse_renewal(const json::object& body) {
  json::reader in{body};
  std::optional<std::chrono::milliseconds> timeout;
  codec::read_sandbox_duration(in, "timeout", timeout);
  if (!in.has("timeout"))
    in.complain("timeout", "is missing", "seconds, or a text such as \"5m\"");
  if (auto bad = in.finish())
    return *bad;
  return *timeout;
}

result<std::optional<std::chrono::milliseconds>>
parse_connection(const json::object& body) {
  json::reader in{body};
  std::optional<std::chrono::milliseconds> timeout;
  codec::read_sandbox_duration(in, "timeout", timeout);
  if (auto bad = in.finish())
    return *bad;
  return timeout;
}

result<sandbox_change> parse_sandbox_change(const json::object& body) {
  json::reader in{body};
  sandbox_change c;
  read_metadata_change(in, c.metadata);
  codec::read_sandbox_duration(in, "timeout", c.timeout);
  c.on_timeout = read_timeout_action(in, "on_timeout");
  const auto* idle = in.member("idle_timeout");
  if (idle && idle->is_null())
    c.idle_timeout = std::chrono::milliseconds{0};
  else
    codec::read_sandbox_duration(in, "idle_timeout", c.idle_timeout);
  c.on_idle = read_timeout_action(in, "on_idle");
  c.auto_resume = in.boolean("auto_resume");
  static constexpr field_rule rule;
  codec::read({in, "network", rule}, c.network);
  if (auto bad = in.finish())
    return *bad;
  return c;
}

result<std::string> parse_snapshot_name(const json::object& body) {
  json::reader in{body};
  auto name = codec::read_sandbox_name(in, "name");
  if (auto bad = in.finish())
    return *bad;
  return name;
}

result<std::string> parse_rollback(const json::object& body) {
  json::reader in{body};
  auto name = codec::read_sandbox_name(in, "snapshot");
  if (!in.has("snapshot"))
    in.complain("snapshot", "is missing", "the id or the name of one");
  if (auto bad = in.finish())
    return *bad;
  return name;
}

namespace {

void read_fork(json::reader& in, fork_spec& f) {
  f.count = static_cast<std::uint32_t>(
    in.integer("count", 1, bounds::sandbox_forks).value_or(1));
  codec::read_sandbox_duration(in, "timeout", f.timeout);
  read_sandbox_metadata(in, f.metadata);
  codec::read_sandbox_variables(in, f.env);
}

} // namespace

result<fork_spec> parse_fork(const json::object& body) {
  json::reader in{body};
  fork_spec f;
  read_fork(in, f);
  if (auto bad = in.finish())
    return *bad;
  return f;
}

result<branch_spec> parse_branch(const json::object& body) {
  constexpr std::size_t most_contexts = 64;
  constexpr std::size_t longest_id = 64;
  json::reader in{body};
  branch_spec b;
  read_fork(in, b);
  b.contexts = codec::read_texts(in, "contexts", most_contexts, longest_id);
  if (auto bad = in.finish())
    return *bad;
  return b;
}

} // namespace troupe
