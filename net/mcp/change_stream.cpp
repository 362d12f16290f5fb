// Streams on which clients hear that the list of tools has changed.
#include "net/mcp/change_stream.hpp"

#include "net/mcp/methods.hpp"
#include "net/mcp/tool_list.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/json/writer.hpp"

#include <memory>

namespace troupe::net::mcp {

namespace {

constexpr std::chrono::seconds between_looks{1};

/// One stream, from its head until its client goes away. It looks whether the
/// catalog is another one, and then whether that shows in its list.
class change_stream : public std::enable_shared_from_this<change_stream> {
public:
  change_stream(std::shared_ptr<service> home, exchange_ptr ex,
                std::shared_ptr<void> place, std::string event,
                std::string last, bool tells_tools)
      : home_{std::move(home)}, ex_{std::move(ex)}, place_{std::move(place)},
        event_{std::move(event)}, last_{std::move(last)},
        wish_{list_wish::of(ex_->in())}, tells_tools_{tells_tools} {}

  void start(std::string_view first) {
    version_ = version();
    seen_ = tells_tools_ ? digest() : sha256_digest{};
    ex_->on_disconnect([weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->gone_ = true;
    });
    ex_->open(event_stream_head(), event_heartbeat);
    if (!first.empty())
      ex_->write(first);
    wait();
  }

private:
  std::uint64_t version() const {
    const auto current = home_->core.snapshot();
    return current ? current->version : 0;
  }
  sha256_digest digest() const {
    sha256_hasher all;
    for (const auto& each : tool_list(*home_, ex_->who(), wish_, true))
      all.add(each);
    return all.end();
  }
  void wait() {
    ex_->after(between_looks, [self = shared_from_this()] { self->look(); });
  }
  void look() {
    if (gone_)
      return;
    if (home_->is_stopping()) {
      if (!last_.empty())
        ex_->write(last_);
      return ex_->finish();
    }
    const auto now = version();
    if (tells_tools_ && now != version_) {
      version_ = now;
      const auto fresh = digest();
      if (fresh != seen_ && !ex_->write(event_))
        return;
      seen_ = fresh;
    }
    wait();
  }

  const std::shared_ptr<service> home_;
  const exchange_ptr ex_;
  const std::shared_ptr<void> place_;
  const std::string event_; // as it is written
  const std::string last_;  // before the server ends it; "": nothing
  const list_wish wish_;
  const bool tells_tools_;
  std::uint64_t version_ = 0;
  sha256_digest seen_{};
  std::atomic<bool> gone_{false};
};

std::shared_ptr<void> enter(service& home, const caller& who) {
  return home.streams.enter(who, home.options.streams_at_once,
                            home.options.streams);
}

constexpr std::string_view too_many
  = "There are as many streams as there may be: close one, or try again later";

} // namespace

void open_legacy_stream(const std::shared_ptr<service>& home,
                        const exchange_ptr& ex, protocol_session_ptr session) {
  auto refuse = [&](int status, std::string_view text) {
    response r;
    r.status = status;
    r.body
      = error_text({}, {status, codes::invalid_request, std::string{text}});
    if (status == 429)
      r.fields.emplace_back("retry-after", "5");
    ex->answer(std::move(r));
  };
  if (!session->take_stream())
    return refuse(409, "This session has a stream already: close it first");
  // Gives both places back when the stream has gone.
  auto counted = enter(*home, ex->who());
  std::shared_ptr<void> place{
    nullptr, [session, counted](void*) { session->give_stream_back(); }};
  if (!counted)
    return refuse(429, too_many);
  std::make_shared<change_stream>(
    home, ex, std::move(place),
    "event: message\ndata: "
      + notification_text("notifications/tools/list_changed", "{}") + "\n\n",
    std::string{}, true)
    ->start({});
}

void listen(request_call& call) {
  const auto* wanted = call.message().params.if_contains("notifications");
  if (!wanted || !wanted->is_object())
    return call.fail(
      {200, codes::invalid_params, "params.notifications must be an object"});
  auto place = enter(call.home(), call.who());
  if (!place)
    return call.fail({429, codes::invalid_request, std::string{too_many}});
  const auto* tools = wanted->get_object().if_contains("toolsListChanged");
  const bool tells_tools = tools && tools->is_bool() && tools->get_bool();
  const auto meta = R"("_meta":{"io.modelcontextprotocol/subscriptionId":)"
    + call.message().id + "}";
  const std::string honoured
    = tells_tools ? R"({"toolsListChanged":true})" : "{}";
  const auto first
    = notification_text("notifications/subscriptions/acknowledged",
                        "{" + meta + ",\"notifications\":" + honoured + "}");
  const auto event
    = notification_text("notifications/tools/list_changed", "{" + meta + "}");
  const auto last = result_text(call.message().id,
                                R"({"resultType":"complete",)" + meta + "}");
  std::make_shared<change_stream>(call.shared_home(), call.shared_http(),
                                  std::move(place), "data: " + event + "\n\n",
                                  "data: " + last + "\n\n", tells_tools)
    ->start("data: " + first + "\n\n");
}

} // namespace troupe::net::mcp
