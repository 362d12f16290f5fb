// The typed views of a stored sandbox config.
#include "runtime/model/sandbox_config.hpp"

#include "runtime/json/reader.hpp"
#include "runtime/model/codec/codec.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t longest_label = 256;
// A day: what the most patient provider sells.
constexpr std::int64_t longest_timeout_seconds = 86'400;

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// A single component of a path, and no way up.
bool is_plain_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".."
    && std::all_of(text.begin(), text.end(), [](char c) {
         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
       });
}

std::string label(json::reader& in, std::string_view name,
                  std::size_t longest = longest_label) {
  auto text = in.text(name, {.max = longest}).value_or("");
  if (!is_printable(text))
    in.complain(name, "has a control character", "remove it");
  return text;
}

void read_timeout(json::reader& in, std::chrono::seconds& timeout) {
  if (auto s = in.integer("timeout", 1, longest_timeout_seconds))
    timeout = std::chrono::seconds{*s};
}

template <class Config>
void read_requirements(json::reader& in, Config& c) {
  if (auto* v = in.member("pip_requirements"); v != nullptr && !v->is_null()) {
    auto list = parse_pip_list(*v, in.pointer_to("pip_requirements"));
    if (list)
      c.pip_requirements = std::move(*list);
    else
      in.absorb(list.error());
  }
  if (auto* v = in.member("npm_requirements"); v != nullptr && !v->is_null()) {
    auto list = parse_npm_list(*v, in.pointer_to("npm_requirements"));
    if (list)
      c.npm_requirements = std::move(*list);
    else
      in.absorb(list.error());
  }
}

void read_common(json::reader& in, common_config& c) {
  if (auto* o = in.member_object("limits")) {
    auto limits = parse_limits(*o, in.pointer_to("limits"));
    if (limits)
      c.limits = *limits;
    else
      in.absorb(limits.error());
  }
  if (auto* v = in.member("network"); v != nullptr && !v->is_null()) {
    auto policy = parse_network(*v, in.pointer_to("network"));
    if (policy)
      c.network = std::move(*policy);
    else
      in.absorb(policy.error());
  }
  if (auto text = in.text("isolation")) {
    auto level = parse_isolation(*text);
    if (level)
      c.isolation = *level;
    else
      in.complain("isolation", level.error().fields[0].reason,
                  level.error().fields[0].hint);
  }
  c.allow_weaker_fallback = in.boolean("allow_weaker_fallback").value_or(true);
}

/// Members that are not known here are the business of `normalize_config`.
template <class Config>
result<Config> finish_view(json::reader& in, Config c) {
  if (auto bad = in.finish_lenient())
    return *bad;
  return c;
}

} // namespace

result<local_config> as_local(const json::object& config) {
  json::reader in{config};
  local_config c;
  c.sandbox_dir = label(in, "sandbox_dir", longest_path);
  c.use_venv = in.boolean("use_venv").value_or(c.use_venv);
  c.venv_name
    = in.text("venv_name", {.max = longest_label}).value_or(c.venv_name);
  if (!is_plain_name(c.venv_name))
    in.complain("venv_name", "is not a plain directory name",
                "use letters, digits, '.', '_' and '-'");
  read_requirements(in, c);
  read_common(in, c.common);
  return finish_view(in, std::move(c));
}

result<e2b_config> as_e2b(const json::object& config) {
  json::reader in{config};
  e2b_config c;
  read_timeout(in, c.timeout);
  c.template_id = label(in, "template");
  c.reuse = in.boolean("reuse").value_or(c.reuse);
  read_requirements(in, c);
  read_common(in, c.common);
  return finish_view(in, std::move(c));
}

result<modal_config> as_modal(const json::object& config) {
  json::reader in{config};
  modal_config c;
  read_timeout(in, c.timeout);
  c.language
    = in.one_of("language", {"python", "typescript"}).value_or(c.language);
  read_requirements(in, c);
  read_common(in, c.common);
  return finish_view(in, std::move(c));
}

result<daytona_config> as_daytona(const json::object& config) {
  json::reader in{config};
  daytona_config c;
  read_timeout(in, c.timeout);
  c.snapshot = label(in, "snapshot");
  c.image = label(in, "image");
  c.reuse = in.boolean("reuse").value_or(c.reuse);
  if (!c.snapshot.empty() && !c.image.empty())
    in.complain("image", "a sandbox starts from a snapshot or from an image",
                "keep one of them");
  read_requirements(in, c);
  read_common(in, c.common);
  return finish_view(in, std::move(c));
}

result<aio_config> as_aio(const json::object& config) {
  json::reader in{config};
  aio_config c;
  read_timeout(in, c.timeout);
  read_requirements(in, c);
  read_common(in, c.common);
  return finish_view(in, std::move(c));
}

namespace {

template <class Config>
result<config_requirements> requirements_in(result<Config> typed) {
  if (!typed)
    return typed.error();
  return config_requirements{std::move(typed->pip_requirements),
                             std::move(typed->npm_requirements),
                             std::move(typed->common)};
}

/// The config of a node has nothing but what all have.
result<config_requirements> requirements_at_peer(const json::object& config) {
  json::reader in{config};
  config_requirements found;
  read_common(in, found.common);
  return finish_view(in, std::move(found));
}

} // namespace

result<config_requirements> requirements_of(backend_kind type,
                                            const json::object& config) {
  switch (type) {
  case backend_kind::local:
    return requirements_in(as_local(config));
  case backend_kind::e2b:
    return requirements_in(as_e2b(config));
  case backend_kind::modal:
    return requirements_in(as_modal(config));
  case backend_kind::daytona:
    return requirements_in(as_daytona(config));
  case backend_kind::aio:
    return requirements_in(as_aio(config));
  case backend_kind::peer:
    return requirements_at_peer(config);
  }
  return requirements_at_peer(config);
}

} // namespace troupe
