#include "actors/protocol/wire.hpp"

namespace troupe {

namespace {

template <class T>
void take(result<std::shared_ptr<const T>> read, std::string_view what,
          std::shared_ptr<const T>& into,
          std::shared_ptr<const error>& unreadable) {
  if (read)
    into = std::move(*read);
  else
    unreadable
      = std::make_shared<const error>(std::move(read).error().within(what));
}

} // namespace

void read_text(const std::string& text,
               std::shared_ptr<const run_request>& request,
               std::shared_ptr<const error>& unreadable) {
  take(request_from_text(text), "read the request", request, unreadable);
}

void read_text(const std::string& text,
               std::shared_ptr<const run_result>& result,
               std::shared_ptr<const error>& unreadable) {
  take(result_from_text(text), "read the result", result, unreadable);
}

void read_text(const std::string& text, std::shared_ptr<const error>& failure) {
  take(error_from_text(text), "read the failure", failure, failure);
}

result<std::shared_ptr<const run_result>> result_of(result<run_answer> answer) {
  if (!answer)
    return std::move(answer.error());
  if (answer->result)
    return std::move(answer->result);
  // It ran: a request that could not be read has `invalid_request`, this not.
  return error{ec::internal,
               answer->unreadable ? answer->unreadable->text
                                  : "it sent an empty answer"};
}

// -- hello --------------------------------------------------------------------

hello hello_until_stop(std::string name) {
  hello us;
  us.name = std::move(name);
  us.ext["until"] = "stopping";
  return us;
}

bool waits_for_stop(const hello& them) {
  auto i = them.ext.find("until");
  return i != them.ext.end() && i->second == "stopping";
}

void say_stopping(hello& us) {
  us.ext["stopping"] = "yes";
}

bool is_stopping(const hello& them) {
  return them.ext.contains("stopping");
}

// -- records ------------------------------------------------------------------

run_status_message to_note(const run_record& record) {
  run_status_message note;
  note.id = record.id.str();
  note.organization = record.organization.str();
  note.phase = static_cast<std::uint8_t>(record.phase);
  note.backend = to_string(record.backend);
  note.tool_name = record.tool_name;
  note.created_at_us = record.created_at.time_since_epoch().count();
  if (record.ended_at)
    note.ended_at_us = record.ended_at->time_since_epoch().count();
  note.result = record.result;
  note.failure = record.failure;
  note.request = record.request;
  if (!record.agent_id.empty())
    note.ext["agent_id"] = record.agent_id;
  for (const auto& [name, value] : record.labels)
    note.ext["label." + name] = value;
  return note;
}

run_record to_record(const run_status_message& note) {
  run_record record;
  record.id = run_id{note.id};
  record.organization = organization_id{note.organization};
  record.phase = note.phase <= static_cast<int>(run_phase::ended)
    ? static_cast<run_phase>(note.phase)
    : run_phase::ended;
  if (auto name = recall_backend_name(note.backend))
    record.backend = *name;
  record.tool_name = note.tool_name;
  record.created_at = timestamp{std::chrono::microseconds{note.created_at_us}};
  if (note.ended_at_us != 0)
    record.ended_at = timestamp{std::chrono::microseconds{note.ended_at_us}};
  record.result = note.result;
  record.failure = note.failure;
  record.request = note.request;
  for (const auto& [name, value] : note.ext) {
    if (name == "agent_id")
      record.agent_id = value;
    else if (name.starts_with("label."))
      record.labels[name.substr(6)] = value;
  }
  return record;
}

// -- errors -------------------------------------------------------------------

caf::error to_caf(error e) {
  error_message note;
  auto code = static_cast<std::uint8_t>(e.code);
  note.what = std::make_shared<const error>(std::move(e));
  return {code, caf::atom("troupe"), caf::make_message(std::move(note))};
}

error from_caf(const caf::error& e) {
  if (e.category() == caf::atom("troupe")
      && e.context().match_elements<error_message>()) {
    const auto& note = e.context().get_as<error_message>(0);
    if (note.what)
      return *note.what;
  }
  if (e.category() == caf::atom("system")
      && e.code() == static_cast<std::uint8_t>(caf::sec::request_timeout))
    return {ec::timeout,
            "no answer in time; the request may have been executed"};
  // What CAF itself says: an actor that is gone, or going.
  if (e.category() == caf::atom("system") || e.category() == caf::atom("exit"))
    return {ec::unavailable,
            "a part of the engine failed before it answered and is restarting"};
  return {ec::internal, "an actor answered with an unknown error"};
}

} // namespace troupe
