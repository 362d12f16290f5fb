// sandbox_info, sandbox_create and sandbox_delete.
#include "runtime/json/writer.hpp"
#include "runtime/model/codec/codec.hpp"
#include "runtime/toolkit/text_budget.hpp"
#include "runtime/toolkit/toolkit_call.hpp"

namespace troupe::toolkit {

namespace {

void answer_data(const call_ptr& call, std::string data) {
  outcome what;
  what.text = what.data = std::move(data);
  call->answer(std::move(what));
}

// -- sandbox_info -------------------------------------------------------------

void describe(const call_ptr& call, const sandbox_record* r) {
  json::object_writer out;
  out.text("session", call->where().session)
    .text("binding", call->where().how)
    .text("state", r ? to_string(r->state) : "none")
    .text("workspace", call->workspace());
  if (r) {
    out.text("sandbox_id", r->id.str())
      .text("backend", to_string(r->place))
      .text("isolation", to_string(r->isolation))
      .text("network", to_string(r->network.mode))
      .number("memory_bytes", r->resources.memory_bytes)
      .text("created_at", to_text(r->created_at));
    if (r->ends_at)
      out.text("expires_at", to_text(*r->ends_at));
    out.number("idle_ttl_s", r->idle_timeout.count() / 1'000);
  }
  answer_data(call, out.finish());
}

/// Makes none: without one its state is "none".
void sandbox_info(const call_ptr& call) {
  describe(call, call->record().get());
}

// -- sandbox_create -----------------------------------------------------------

void sandbox_create(const call_ptr& call) {
  sandbox_spec what;
  what.session = make_session_id();
  what.template_name = call->text("template");
  what.timeout = call->rules().longest_life;
  what.auto_resume = true;
  if (call->argument("idle_ttl_s"))
    what.idle_timeout = std::chrono::seconds{call->integer("idle_ttl_s", 0)};
  if (const auto backend = call->text("backend"); !backend.empty()) {
    auto place = parse_backend_name(backend);
    if (!place)
      return call->refuse("backend: there is no " + plain_text(backend) + ".");
    what.place = *place;
  }
  const auto session = what.session;
  call->engine().create(call->who(), std::move(what),
                        call->or_fail<sandbox_record_ptr>(
                          [call, session](const sandbox_record_ptr& made) {
                            json::object_writer out;
                            out.text("session_id", session)
                              .text("template", made->template_name)
                              .text("backend", to_string(made->place))
                              .text("expires_at",
                                    made->ends_at ? to_text(*made->ends_at)
                                                  : std::string{});
                            answer_data(call, out.finish());
                          }));
}

// -- sandbox_delete -----------------------------------------------------------

void sandbox_delete(const call_ptr& call) {
  if (call->sandbox().empty())
    return call->answer("There was no sandbox. The next call makes one.");
  call->engine().remove(
    call->who(), call->sandbox(), [call](sandbox_result<void> gone) {
      if (call->over())
        return;
      if (!gone && gone.error().code != ec::not_found)
        return call->fail(gone.error());
      call->memory().forget();
      call->answer("Deleted the sandbox with its files and processes. The next "
                   "call makes a fresh one.");
    });
}

} // namespace

std::vector<tool_entry> sandbox_tools() {
  return {
    {"sandbox_info", "Describe the sandbox", "system",
     "Says what this sandbox is: where it runs, its workspace, network, "
     "limits, "
     "and when it ends.",
     "RI", "{}", "[]", sandbox_info,
     R"({"type":"object","properties":{"session":{"type":"string"},"binding":{"type":"string"},"state":{"type":"string"},"workspace":{"type":"string"},"sandbox_id":{"type":"string"},"backend":{"type":"string"},"isolation":{"type":"string"},"network":{"type":"string"},"memory_bytes":{"type":"integer"},"created_at":{"type":"string"},"expires_at":{"type":"string"},"idle_ttl_s":{"type":"integer"}},"required":["session","binding","state","workspace"]})",
     false},
    {"sandbox_create", "Make another sandbox", "sandbox",
     "Makes a second sandbox and returns its session_id, which the other tools "
     "take. It ends when nothing has used it for a while. You always have one "
     "without this.",
     "O",
     R"({"template":{"type":"string"},
"backend":{"type":"string","enum":["local","e2b","daytona","aio","modal"]},
"idle_ttl_s":{"type":"integer","minimum":60,"maximum":86400}})",
     "[]", sandbox_create,
     R"({"type":"object","properties":{"session_id":{"type":"string"},"template":{"type":"string"},"backend":{"type":"string"},"expires_at":{"type":"string"}},"required":["session_id","template","backend","expires_at"]})",
     false},
    {"sandbox_delete",
     "Delete a sandbox",
     "sandbox",
     "Deletes a sandbox with its files and processes. Without session_id the "
     "current one; the next call then gets a fresh one.",
     "DI",
     "{}",
     "[]",
     sandbox_delete,
     {},
     false},
  };
}

} // namespace troupe::toolkit
