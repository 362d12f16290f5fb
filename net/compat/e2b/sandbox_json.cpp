#include "net/compat/e2b/sandbox_json.hpp"

#include "net/compat/e2b/facade.hpp"
#include "net/compat/e2b/wire/network_rules.hpp"
#include "runtime/base/text.hpp"
#include "runtime/json/reader.hpp"
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/sandbox_codec.hpp"

#include <algorithm>
#include <array>
#include <thread>

namespace troupe::net::e2b_facade {

namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 2> standard_templates
  = {"base", "code-interpreter-v1"};

/// For a sandbox without an end: clients require a date.
constexpr std::string_view far_away = "2999-12-31T23:59:59.000Z";

/// Metadata of ours, which clients are not shown.
constexpr std::string_view own_metadata = "troupe.e2b.";
constexpr std::string_view private_ports = "troupe.e2b.ports";

constexpr std::int64_t longest_timeout = std::int64_t{365} * 24 * 3'600;

bool is_truthy(const json::value* v) {
  return v && v->is_bool() && v->get_bool();
}

/// What would change isolation, persistence or networking, and is not done.
void refuse_fields(json::reader& in) {
  if (const auto* mounts = in.member("volumeMounts");
      mounts && mounts->is_array() && !mounts->get_array().empty())
    in.complain("volumeMounts", "is not supported: there are no volumes here");
  if (const auto* iam = in.member_object("iam")) {
    const auto* tokens = iam->if_contains("tokens");
    if (tokens && tokens->is_object() && !tokens->get_object().empty())
      in.complain("iam", "is not supported: there are no workload identities");
  }
  const auto* resume = in.member_object("autoResume");
  const bool resumes = resume && is_truthy(resume->if_contains("enabled"));
  if (!in.boolean("autoPauseMemory").value_or(true)) {
    if (!in.boolean("autoPause").value_or(false) || resumes)
      in.complain("autoPauseMemory", "needs autoPause, and no autoResume");
    else
      in.complain("autoPauseMemory",
                  "cannot be false on this server: a pause "
                  "keeps processes in memory");
  }
}

void note(json::object& spec, std::string_view what) {
  auto& metadata = spec["metadata"];
  if (!metadata.is_object())
    metadata.emplace_object();
  metadata.get_object()[what] = "yes";
}

/// Without what clients did not say.
std::map<std::string, std::string> shown_metadata(const sandbox_record& r) {
  auto out = r.metadata;
  std::erase_if(
    out, [](const auto& each) { return each.first.starts_with(own_metadata); });
  return out;
}

void read_network(json::reader& in, json::object& spec,
                  const std::optional<bool>& internet) {
  const json::object none;
  const auto* said = in.member_object("network");
  json::reader part{said ? *said : none, "/network"};
  if (!part.boolean("allowPublicTraffic").value_or(true))
    note(spec, private_ports);
  if (auto policy = read_rules(part, internet))
    spec["network"] = std::move(*policy);
  if (auto bad = part.finish_lenient())
    in.absorb(std::move(*bad));
}

std::string timestamp_text(const std::optional<timestamp>& t) {
  return t ? to_text(*t) : std::string{far_away};
}

void write_common(json::object_writer& out, const sandbox_record& r,
                  const known_sandbox& known) {
  constexpr std::uint64_t mib = 1u << 20;
  out.text("sandboxID", r.id.str())
    .text("templateID", known.template_id)
    .text("alias", known.template_id)
    .text("clientID", "local")
    .text("envdVersion", envd_version)
    .text("startedAt", to_text(started_at(r, known)))
    .text("endAt",
          timestamp_text(known.paused_at ? known.paused_at : r.ends_at))
    .number("cpuCount", std::max(1u, std::thread::hardware_concurrency()))
    .number("memoryMB", r.resources.memory_bytes / mib)
    .number("diskSizeMB", r.resources.disk_bytes / mib)
    .text("state", state_of(r))
    .texts_by_name("metadata", shown_metadata(r));
}

} // namespace

bool is_standard_template(std::string_view name) {
  return std::ranges::find(standard_templates, name)
    != standard_templates.end();
}

std::string template_reference(std::string_view text) {
  std::string out{trim(text)};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c | 0x20);
  constexpr std::string_view usual = ":default";
  if (out.ends_with(usual))
    out.resize(out.size() - usual.size());
  return out;
}

result<wanted_sandbox> parse_wanted(const json::object& body,
                                    seconds usual_timeout) {
  json::reader in{body};
  wanted_sandbox out;
  const auto said = in.required_text("templateID", {.min = 1, .max = 256});
  out.template_name = template_reference(said);
  const auto timeout = in.integer("timeout");
  if (timeout && (*timeout <= 0 || *timeout > longest_timeout))
    in.complain("timeout",
                *timeout <= 0 ? "Timeout must be greater than 0"
                              : "is longer than a year");
  out.internet = in.boolean("allow_internet_access");
  json::object spec;
  spec["timeout"] = timeout.value_or(usual_timeout.count());
  for (const auto& [theirs, ours] :
       {std::pair{"metadata", "metadata"}, std::pair{"envVars", "env"}})
    if (const auto* map = in.member_object(theirs))
      spec[ours] = *map;
  refuse_fields(in);
  if (in.boolean("autoPause").value_or(false))
    spec["on_timeout"] = "pause";
  if (const auto* resume = in.member_object("autoResume"))
    spec["auto_resume"] = is_truthy(resume->if_contains("enabled"));
  read_network(in, spec, out.internet);
  if (auto bad = in.finish_lenient())
    return std::move(*bad);
  auto parsed = parse_sandbox_spec(spec);
  if (!parsed)
    return parsed.error();
  out.spec = std::move(*parsed);
  return out;
}

std::string_view state_of(const sandbox_record& r) {
  switch (r.state) {
  case sandbox_state::running:
  case sandbox_state::resuming:
    return "running";
  case sandbox_state::pausing:
  case sandbox_state::paused:
    return "paused";
  default:
    return {};
  }
}

timestamp started_at(const sandbox_record& r, const known_sandbox& known) {
  return known.resumed_at.value_or(r.created_at);
}

bool has_private_ports(const sandbox_record& r) {
  return r.metadata.contains(std::string{private_ports});
}

std::string created_json(const sandbox_record& r, const known_sandbox& known,
                         const token_maker& tokens) {
  json::object_writer out{json::writer::style::wiped};
  out.text("sandboxID", r.id.str())
    .text("templateID", known.template_id)
    .text("alias", known.template_id)
    .text("clientID", "local")
    .text("envdVersion", envd_version)
    .text("envdAccessToken", tokens.token_of(r.id.str()).reveal())
    .raw("domain", "null");
  if (has_private_ports(r))
    out.text("trafficAccessToken",
             tokens.traffic_token_of(r.id.str()).reveal());
  else
    out.raw("trafficAccessToken", "null");
  return out.finish();
}

std::string listed_json(const sandbox_record& r, const known_sandbox& known) {
  json::object_writer out;
  write_common(out, r, known);
  return out.finish();
}

std::string detailed_json(const sandbox_record& r, const known_sandbox& known,
                          const token_maker& tokens) {
  json::object_writer out{json::writer::style::wiped};
  write_common(out, r, known);
  out.text("envdAccessToken", tokens.token_of(r.id.str()).reveal())
    .raw("domain", "null");
  if (known.internet || r.network.mode == network_mode::off)
    out.boolean("allowInternetAccess", r.network.mode != network_mode::off);
  else
    out.raw("allowInternetAccess", "null");
  json::object_writer lifecycle;
  lifecycle.boolean("autoResume", r.auto_resume)
    .text("onTimeout",
          r.on_timeout == timeout_action::pause ? "pause" : "kill");
  out.raw("lifecycle", lifecycle.finish());
  json::object_writer network;
  network
    .list("allowOut", r.network.allow,
          [&](const std::string& each) { network.text(each); })
    .boolean("allowPublicTraffic", !has_private_ports(r));
  out.raw("network", network.finish());
  return out.finish();
}

} // namespace troupe::net::e2b_facade
