#include "runtime/model/codec/parts.hpp"

#include "runtime/json/big_integers.hpp"
#include "runtime/model/bounds.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/model/codec/support.hpp"

namespace troupe::codec {

namespace {

std::string_view view(const boost::json::string& s) {
  return {s.data(), s.size()};
}

environment read_environment(json::reader& in, std::string_view name) {
  environment env;
  auto* o = in.member_object(name);
  if (o == nullptr)
    return env;
  if (o->size() > bounds::variables) {
    in.complain(name,
                "has more than " + std::to_string(bounds::variables)
                  + " variables");
    return env;
  }
  std::size_t total = 0;
  auto pointer = in.pointer_to(name);
  for (auto& m : *o) {
    std::string_view key{m.key().data(), m.key().size()};
    auto here = json::child(pointer, key.substr(0, bounds::name_bytes));
    if (m.value().is_null())
      continue; // unset, as everywhere
    auto* s = m.value().if_string();
    if (s == nullptr) {
      in.absorb(bad_field(here, "expected a string", "quote the value"));
      continue;
    }
    if (auto ok = check_variable_name(key, here); !ok)
      in.absorb(ok.error());
    else if (ok = check_variable_value(view(*s), here); !ok)
      in.absorb(ok.error());
    else
      env.emplace(std::string{key}, secret{std::string{view(*s)}});
    total += key.size() + s->size();
  }
  if (total > bounds::variable_bytes)
    in.complain(name,
                "is larger than " + std::to_string(bounds::variable_bytes)
                  + " bytes");
  return env;
}

json::object plain(const environment& env) {
  json::object o;
  for (auto& [name, value] : env)
    o[name] = value.reveal(); // for the cluster's wire, see to_wire
  return o;
}

std::map<std::string, std::string> read_labels(json::reader& in) {
  std::map<std::string, std::string> labels;
  auto* o = in.member_object("labels");
  if (o == nullptr)
    return labels;
  if (o->size() > bounds::labels)
    in.complain("labels",
                "has more than " + std::to_string(bounds::labels) + " labels");
  else
    for (auto& m : *o) {
      auto* s = m.value().if_string();
      if (s == nullptr || s->size() > bounds::label_value_bytes
          || m.key().empty() || m.key().size() > bounds::label_name_bytes)
        in.absorb(bad_field(
          json::child(in.pointer_to("labels"),
                      std::string_view{m.key().data(), m.key().size()}.substr(
                        0, bounds::label_name_bytes)),
          "a label is a name of 1 to 64 bytes and a string of at most 256"));
      else
        labels.emplace(m.key(), view(*s));
    }
  return labels;
}

void read_requirements(json::reader& in, run_request& r) {
  if (auto* v = in.member("pip_requirements"); v && !v->is_null()) {
    auto list = parse_pip_list(*v, in.pointer_to("pip_requirements"));
    if (list)
      r.pip_requirements = std::move(*list);
    else
      in.absorb(list.error());
  }
  if (auto* v = in.member("npm_requirements"); v && !v->is_null()) {
    auto list = parse_npm_list(*v, in.pointer_to("npm_requirements"));
    if (list)
      r.npm_requirements = std::move(*list);
    else
      in.absorb(list.error());
  }
}

void read_policy(json::reader& in, run_request& r) {
  if (auto* o = in.member_object("limits")) {
    auto limits = parse_limits(*o, in.pointer_to("limits"));
    if (limits)
      r.limits = *limits;
    else
      in.absorb(limits.error());
  }
  if (auto* v = in.member("network"); v && !v->is_null()) {
    auto policy = parse_network(*v, in.pointer_to("network"));
    if (policy)
      r.network = std::move(*policy);
    else
      in.absorb(policy.error());
  }
  if (auto text = in.text("isolation"))
    r.isolation = value_or_complain(in, "isolation", parse_isolation(*text));
  if (auto text = in.text("backend"))
    r.backend = value_or_complain(in, "backend", parse_backend(*text));
  r.config = checked_id<config_id>(in, "sandbox_config_id");
}

} // namespace

std::string plain_text(json::reader& in, std::string_view name,
                       std::size_t longest) {
  auto text = in.text(name, {.max = longest}).value_or("");
  if (text.find('\0') != text.npos)
    in.complain(name, "has a NUL character", "remove it");
  return text;
}

std::vector<std::string> read_argv(json::reader& in) {
  auto argv = read_texts(in, "argv", bounds::argv_items, bounds::command_bytes);
  for (std::size_t i = 0; i < argv.size(); ++i)
    if (argv[i].find('\0') != std::string::npos)
      in.absorb(bad_field(json::child(in.pointer_to("argv"), i),
                          "has a NUL character", "remove it"));
  return argv;
}

language read_language(json::reader& in) {
  auto text = in.text("language");
  return text ? value_or_complain(in, "language", parse_language(*text))
              : language::python;
}

std::string object_text(json::reader& in, std::string_view name) {
  auto* o = in.member_object(name);
  return o == nullptr ? std::string{} : json::to_text(*o);
}

void read_common_parts(json::reader& in, run_request& r) {
  if (auto* args = in.member_object("args"))
    r.args_json = json::exact_text(*args);
  r.env = read_environment(in, "env");
  r.agent_env = read_environment(in, "agent_env");
  r.agent_id = plain_text(in, "agent_id", bounds::foreign_id_bytes);
  r.project_id = plain_text(in, "project_id", bounds::foreign_id_bytes);
  r.agent_state_json = object_text(in, "agent_state");
  read_requirements(in, r);
  r.return_char_limit = static_cast<std::uint32_t>(
    in.integer("return_char_limit", 1, max_return_char_limit).value_or(0));
  read_policy(in, r);
  r.idempotent = in.boolean("idempotent").value_or(false);
  r.priority = static_cast<std::int32_t>(
    in.integer("priority", bounds::lowest_priority, bounds::highest_priority)
      .value_or(0));
  if (auto* v = in.member("deadline_seconds"); v && !v->is_null()) {
    auto t = parse_duration(*v, in.pointer_to("deadline_seconds"));
    if (t)
      r.deadline = *t;
    else
      in.absorb(t.error());
  }
  r.labels = read_labels(in);
}

void write_common_parts(json::object& o, const run_request& r) {
  auto verbatim = [&](std::string_view name, const std::string& text) {
    if (!text.empty())
      o[name] = text;
  };
  if (!r.env.empty())
    o["env"] = plain(r.env);
  if (!r.agent_env.empty())
    o["agent_env"] = plain(r.agent_env);
  verbatim("agent_id", r.agent_id);
  verbatim("project_id", r.project_id);
  if (!r.pip_requirements.empty())
    o["pip_requirements"] = to_json(r.pip_requirements);
  if (!r.npm_requirements.empty())
    o["npm_requirements"] = to_json(r.npm_requirements);
  if (r.return_char_limit != 0)
    o["return_char_limit"] = r.return_char_limit;
  if (r.limits != limit_overrides{})
    o["limits"] = to_json(r.limits);
  if (r.network)
    o["network"] = to_json(*r.network);
  if (r.isolation)
    o["isolation"] = to_string(*r.isolation);
  if (r.backend)
    o["backend"] = to_string(*r.backend);
  verbatim("sandbox_config_id", r.config.str());
  if (r.idempotent)
    o["idempotent"] = true;
  if (r.priority != 0)
    o["priority"] = r.priority;
  if (r.deadline.count() != 0)
    o["deadline_seconds"] = static_cast<double>(r.deadline.count()) / 1e3;
  if (!r.labels.empty()) {
    json::object labels;
    for (auto& [name, value] : r.labels)
      labels[name] = value;
    o["labels"] = std::move(labels);
  }
}

} // namespace troupe::codec
