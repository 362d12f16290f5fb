#include "app/embed/stored_items.hpp"

#include "app/embed/public_conversions.hpp"
#include "net/api/tool_body.hpp"
#include "runtime/model/bounds.hpp"

#include <memory>

namespace troupe {

namespace {

using stored_future = std::future<api::stored>;

/// Answered once, on any thread.
class answer_of_change {
public:
  stored_future future() { return promise_->get_future(); }
  void set(result<std::string> id) const {
    if (id)
      promise_->set_value(std::move(*id));
    else
      promise_->set_value(failure_from(id.error()));
  }
  /// For a change whose reply is of no interest beyond that it is done.
  handler<change_reply> with(std::string id) const {
    return [self = *this, id = std::move(id)](result<change_reply> done) {
      self.set(done ? result<std::string>{id} : done.error());
    };
  }

private:
  std::shared_ptr<std::promise<api::stored>> promise_
    = std::make_shared<std::promise<api::stored>>();
};

json::array to_array(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

/// As a body over HTTP says it, and so held to the same bounds.
result<tool> tool_from(const api::tool& what) {
  json::object body{{"source_code", what.source},
                    {"source_type", what.language},
                    {"tags", to_array(what.tags)},
                    {"pip_requirements", to_array(what.pip)},
                    {"npm_requirements", to_array(what.npm)}};
  if (!what.name.empty())
    body["name"] = what.name;
  if (!what.description.empty())
    body["description"] = what.description;
  if (!what.schema.empty()) {
    auto schema = json::parse_object(what.schema);
    if (!schema)
      return std::move(schema).error().within("schema");
    body["json_schema"] = std::move(*schema);
  }
  json::reader in{body};
  in.required_text("source_code", {.min = 1, .max = bounds::source_bytes});
  auto read = net::read_tool(in, {}, {});
  if (auto bad = in.finish())
    return *bad;
  return read;
}

/// The config of a kind of backends, which is made where there is none.
void with_config(engine& core, const caller& who, const std::string& backend,
                 const answer_of_change& answer,
                 std::function<void(const config_id&)> then) {
  auto kind = parse_backend(backend);
  if (!kind)
    return answer.set(kind.error());
  core.change(who, default_config{*kind},
              [answer, then = std::move(then)](result<change_reply> made) {
                if (made)
                  then(made->config->id);
                else
                  answer.set(made.error());
              });
}

} // namespace

stored_future put_tool_of(engine& core, const caller& who,
                          const api::tool& what) {
  answer_of_change answer;
  auto value = tool_from(what);
  if (!value) {
    answer.set(value.error());
    return answer.future();
  }
  auto future = answer.future();
  net::complete_tool(
    core, who, std::move(*value), [&core, who, answer](result<tool> full) {
      if (!full)
        return answer.set(full.error());
      core.change(who, put_tool{std::move(*full)},
                  [answer](result<change_reply> done) {
                    answer.set(done ? result<std::string>{done->tool->id.str()}
                                    : done.error());
                  });
    });
  return future;
}

stored_future delete_tool_of(engine& core, const caller& who,
                             const std::string& name) {
  answer_of_change answer;
  auto future = answer.future();
  const auto all = core.snapshot();
  const auto* mine = all->find(who.organization);
  if (!mine || !mine->tools_by_name.contains(name)) {
    answer.set(fail(ec::not_found, "there is no tool '" + name + "'"));
    return future;
  }
  const auto id = mine->tools_by_name.at(name);
  core.change(who, delete_tool{id}, answer.with(id.str()));
  return future;
}

stored_future set_variable_of(engine& core, const caller& who,
                              const std::string& backend, std::string name,
                              std::string value) {
  answer_of_change answer;
  auto future = answer.future();
  if (auto ok = check_variable_name(name, "name"); !ok) {
    answer.set(ok.error());
    return future;
  }
  if (auto ok = check_variable_value(value, "value"); !ok) {
    answer.set(ok.error());
    return future;
  }
  put_variable change;
  change.key = std::move(name);
  change.value = secret{std::move(value)};
  with_config(
    core, who, backend, answer,
    [&core, who, answer,
     change = std::move(change)](const config_id& of) mutable {
      change.config = of;
      core.change(who, std::move(change), [answer](result<change_reply> done) {
        answer.set(done ? result<std::string>{done->variable->about.id.str()}
                        : done.error());
      });
    });
  return future;
}

stored_future delete_variable_of(engine& core, const caller& who,
                                 const std::string& backend,
                                 const std::string& name) {
  answer_of_change answer;
  auto future = answer.future();
  with_config(core, who, backend, answer,
              [&core, who, answer, name](const config_id& of) {
                const auto all = core.snapshot();
                const auto* mine = all->find(who.organization);
                if (!mine || !mine->variables.contains(of)
                    || !mine->variables.at(of).contains(name))
                  return answer.set(
                    fail(ec::not_found, "there is no variable '" + name + "'"));
                const auto id = mine->variables.at(of).at(name)->about.id;
                core.change(who, delete_variable{id}, answer.with(id.str()));
              });
  return future;
}

stored_future put_config_of(engine& core, const caller& who,
                            const std::string& backend,
                            const std::string& config,
                            const config_defaults& defaults) {
  answer_of_change answer;
  auto future = answer.future();
  auto kind = parse_backend(backend);
  auto payload = json::parse_object(config);
  if (!kind || !payload) {
    answer.set(kind ? payload.error() : kind.error());
    return future;
  }
  auto normal
    = normalize_config(*kind, *payload, defaults, unknown_members::refuse);
  if (!normal) {
    answer.set(normal.error());
    return future;
  }
  core.change(who, put_config{*kind, std::move(*normal)},
              [answer](result<change_reply> done) {
                answer.set(done ? result<std::string>{done->config->id.str()}
                                : done.error());
              });
  return future;
}

stored_future refused(error why) {
  answer_of_change answer;
  answer.set(std::move(why));
  return answer.future();
}

} // namespace troupe
