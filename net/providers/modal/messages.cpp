#include "net/providers/modal/messages.hpp"

#include "net/providers/allow_lists.hpp"
#include "net/providers/shell_quote.hpp"

#include <algorithm>

namespace troupe::net::modal {

namespace pb = protobuf;

namespace {

enum object_creation : int { create_if_missing = 1 };
enum network_type : int { net_open = 1, net_blocked = 2, net_listed = 3 };

constexpr float join_seconds = 55;

pb::writer tag(std::string_view name, std::string_view value) {
  pb::writer out;
  out.text(1, name).text(2, value);
  return out;
}

/// SecretSource{2: StringMap{1: map}}
pb::writer secret_source(const environment& env) {
  pb::writer map;
  for (const auto& [name, value] : env)
    map.entry(1, name, value.reveal());
  pb::writer source;
  source.message(2, map);
  return source;
}

result<pb::writer> network_access(const network_policy& policy) {
  pb::writer out;
  if (policy.mode == network_mode::open)
    return out.number(1, net_open);
  if (policy.mode == network_mode::off)
    return out.number(1, net_blocked);
  auto allowed = host_lists_of(policy, "Modal");
  if (!allowed)
    return allowed.error();
  if (allowed->everything)
    return out.number(1, net_open);
  out.number(1, net_listed);
  for (const auto& network : allowed->networks)
    out.text(2, network);
  for (const auto& name : allowed->names)
    out.text(3, name);
  return out;
}

/// Words of a shell's line, each after a space. Sorted, so that the same set is
/// the same layer in Modal's cache.
template <class Requirement>
std::string quoted(const std::vector<Requirement>& all) {
  std::vector<std::string> words;
  for (const auto& each : all)
    words.push_back(shell_quote(to_string(each)));
  std::sort(words.begin(), words.end());
  std::string out;
  for (const auto& word : words)
    out += " " + word;
  return out;
}

} // namespace

std::string app_request(std::string_view app, std::string_view environment) {
  pb::writer w;
  w.text(1, app).text(2, environment).number(3, create_if_missing);
  return w.bytes();
}

std::string environment_request(std::string_view environment) {
  pb::writer w;
  w.text(1, environment);
  return w.bytes();
}

std::string image_request(const image_layer& layer, std::string_view app,
                          std::string_view builder_version) {
  pb::writer image;
  if (!layer.base.empty()) {
    pb::writer base;
    base.text(1, layer.base).text(2, "base");
    image.message(5, base);
  }
  for (const auto& command : layer.commands)
    image.text(6, command);
  pb::writer w;
  w.message(2, image).text(4, app).text(9, builder_version);
  return w.bytes();
}

std::string image_join_request(std::string_view image,
                               std::string_view last_entry) {
  pb::writer w;
  w.text(1, image).real(2, join_seconds).text(3, last_entry);
  return w.bytes();
}

result<std::string> sandbox_body(const sandbox_create_request& r) {
  auto network = network_access(r.network);
  if (!network)
    return network.error();
  pb::writer resources;
  resources.number(2, r.memory_mb).number(3, r.milli_cpu);
  pb::writer definition;
  for (const auto& word : r.entrypoint)
    definition.text(1, word);
  definition.text(3, r.image);
  for (const auto& id : r.secrets)
    definition.text(4, id);
  definition.message(5, resources);
  definition.number(7, r.timeout_seconds);
  definition.message(22, *network);
  pb::writer w;
  w.text(1, r.app).message(2, definition);
  for (const auto& [name, value] : r.tags)
    w.message(4, tag(name, value));
  if (!r.env.empty())
    w.message(6, secret_source(r.env));
  return w.bytes();
}

std::string secret_request(const environment& env,
                           std::string_view environment_name) {
  constexpr int ephemeral = 5;
  pb::writer w;
  w.text(3, environment_name).number(4, ephemeral);
  for (const auto& [name, value] : env)
    w.entry(5, name, value.reveal());
  return w.bytes();
}

std::string wait_request(std::string_view sandbox) {
  return sandbox_id_request(sandbox); // its timeout is 0
}

std::string sandbox_id_request(std::string_view sandbox) {
  pb::writer w;
  w.text(1, sandbox);
  return w.bytes();
}

std::string list_request(std::string_view app, const string_map& tags,
                         double before) {
  pb::writer w;
  w.text(1, app);
  w.real64(2, before);
  for (const auto& [name, value] : tags)
    w.message(5, tag(name, value));
  return w.bytes();
}

std::string router_access_request(std::string_view id) {
  return sandbox_id_request(id);
}

std::string exec_start_request(const exec_request& r) {
  constexpr int pipe = 1;
  pb::writer w;
  w.text(1, r.task).text(2, r.exec);
  for (const auto& word : r.argv)
    w.present_text(3, word);
  w.number(4, pipe).number(5, pipe).number(6, r.timeout_seconds);
  w.text(7, r.cwd);
  if (!r.env.empty())
    w.message(13, secret_source(r.env));
  return w.bytes();
}

std::string stdio_read_request(std::string_view task, std::string_view exec,
                               std::uint64_t offset, bool is_err) {
  pb::writer w;
  w.text(1, task).text(2, exec).number(3, offset).number(4, is_err ? 1 : 0);
  return w.bytes();
}

std::string stdin_write_request(std::string_view task, std::string_view exec,
                                std::uint64_t offset, std::string_view data,
                                bool eof) {
  pb::writer w;
  w.text(1, task).text(2, exec).number(3, offset).text(4, data).flag(5, eof);
  return w.bytes();
}

std::string exec_request_of(std::string_view task, std::string_view exec) {
  pb::writer w;
  w.text(1, task).text(2, exec);
  return w.bytes();
}

std::vector<image_layer> image_layers(const sandbox_request& wanted,
                                      const modal_options& options) {
  auto shell = wanted.kind == run_kind::command;
  auto python = shell || wanted.lang == language::python;
  std::vector<image_layer> out;
  out.push_back(
    {"", {"FROM " + (python ? options.python_image : options.node_image)}});
  if (auto packages = quoted(wanted.pip_requirements);
      python && !packages.empty())
    out.push_back({"", {"FROM base", "RUN python -m pip install" + packages}});
  auto packages = quoted(wanted.npm_requirements);
  if (packages.empty() || (python && !shell))
    return out;
  image_layer npm{"", {"FROM base"}};
  if (python) // a command may want both
    npm.commands.insert(npm.commands.end(),
                        {"RUN apt-get update",
                         "RUN apt-get install -y --no-install-recommends "
                         "nodejs npm"});
  npm.commands.push_back("RUN npm install --prefix /opt/troupe "
                         "--no-audit --no-fund --ignore-scripts"
                         + packages);
  out.push_back(std::move(npm));
  return out;
}

} // namespace troupe::net::modal
