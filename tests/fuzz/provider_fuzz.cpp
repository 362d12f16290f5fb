// Every parser of a provider's whole messages. The first byte picks one, so
// that a seed stays with its parser.
#include "net/client/retry.hpp"
#include "net/grpc/grpc_message.hpp"
#include "net/http/multipart.hpp"
#include "net/http/url.hpp"
#include "net/providers/aio/calls.hpp"
#include "net/providers/aio/messages.hpp"
#include "net/providers/daytona/calls.hpp"
#include "net/providers/daytona/messages.hpp"
#include "net/providers/daytona/replies.hpp"
#include "net/providers/e2b/calls.hpp"
#include "net/providers/e2b/messages.hpp"
#include "net/providers/modal/endpoint.hpp"
#include "net/providers/modal/messages.hpp"
#include "net/providers/provider_errors.hpp"
#include "net/providers/webhook/webhook.hpp"

#include <cstdlib>

using namespace troupe;
using namespace troupe::net;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

void e2b_answers(std::string_view text) {
  if (auto box = e2b::parse_creation(text)) {
    demand(is_e2b_sandbox_id(box->id)); // it becomes part of a host name
    (void)e2b::envd_of(*box);
  }
  if (auto all = e2b::parse_list(text))
    for (const auto& each : *all)
      demand(is_e2b_sandbox_id(each.sandbox) && !each.tag.empty());
  (void)e2b::parse_process_event(text);
  if (auto all = e2b::parse_entries(text))
    for (const auto& each : *all)
      demand(!each.name.empty());
  (void)e2b::parse_entry(text);
  (void)e2b::parse_state(text);
  (void)e2b::find_process(text, "sleep");
  if (auto id = e2b::parse_context(text))
    demand(!id->empty() && id->size() <= 128);
  (void)e2b::parse_contexts(text);
  if (auto cell = e2b::parse_cell_event(text))
    demand(cell->text.size() <= text.size() + 1'000);
}

void daytona_answers(std::string_view text) {
  if (auto box = daytona::parse_sandbox(text))
    demand(box->sandbox.id.find('/') == std::string::npos);
  (void)daytona::parse_list(text);
  if (auto id = daytona::parse_command_id(text))
    demand(id->find_first_of("/?#") == std::string::npos);
  (void)daytona::parse_command(text);
  (void)daytona::parse_logs(text);
  (void)daytona::parse_entries(text);
  (void)daytona::parse_entry(text);
  (void)daytona::parse_execution(text);
  (void)daytona::parse_labels(text);
  auto line = text.substr(0, text.find('\n'));
  auto rest = text.substr(line.size());
  if (auto form = parse_form(line, rest))
    for (const auto& part : *form)
      demand(part.content.empty()
             || (part.content.data() >= rest.data()
                 && part.content.data() + part.content.size()
                   <= rest.data() + rest.size()));
  (void)daytona::parse_download(line, rest);
}

void modal_answers(std::string_view bytes) {
  (void)modal::text_field(bytes, 1);
  (void)modal::builder_version_of(bytes);
  (void)modal::read_image(bytes);
  (void)modal::read_image_join(bytes);
  (void)modal::read_sandbox(bytes);
  (void)modal::read_router_access(bytes);
  (void)modal::read_list(bytes);
  (void)modal::read_task(bytes);
  (void)modal::has_ended(bytes);
  (void)modal::read_exec_wait(bytes);
  (void)modal::jwt_expiry(bytes);
  (void)parse_endpoint_answer(bytes);
  base_url here{true, "a--b.modal.run", 443, ""};
  if (auto target = waiting_target(here, bytes))
    demand(target->starts_with('/') && !target->starts_with("//"));
}

void other_answers(std::string_view text) {
  if (auto data = aio::unwrap(text, "try")) {
    (void)aio::parse_report(*data);
    (void)aio::parse_entries(*data);
    (void)aio::parse_printed(*data);
  }
  if (auto variables = parse_webhook_reply(text))
    demand(variables->size() <= text.size()); // names: the engine's to judge
  demand(reply_message(text).size() <= 800);  // 200 characters of UTF-8
  (void)parse_retry_after(text, std::chrono::system_clock::now());
  std::map<std::string, std::string> head{
    {"grpc-status", std::string{text.substr(0, 4)}},
    {"grpc-message", std::string{text}},
    {"grpc-status-details-bin", std::string{text}}};
  (void)read_grpc_status(head, 0);
  if (auto url = parse_base_url(text))
    demand(parse_base_url(url->text()).has_value());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0)
    return 0;
  std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  switch (data[0] % 4) {
  case 0:
    e2b_answers(bytes);
    break;
  case 1:
    daytona_answers(bytes);
    break;
  case 2:
    modal_answers(bytes);
    break;
  default:
    other_answers(bytes);
  }
  return 0;
}
