#include "net/api/shared/run_stream.hpp"

#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_responses.hpp"

namespace troupe::net {

std::optional<stream_format> wanted_stream(const request& in) {
  if (accepts(in, stream_type(stream_format::sse)))
    return stream_format::sse;
  if (accepts(in, stream_type(stream_format::ndjson)))
    return stream_format::ndjson;
  return std::nullopt;
}

void open_stream(exchange& ex, stream_format format, response head) {
  head.type = stream_type(format);
  head.fields.emplace_back("x-accel-buffering", "no"); // for proxies
  ex.open(std::move(head), format == stream_format::sse ? ": alive\n\n" : "");
}

void run_stream::follow(std::uint64_t after) {
  {
    std::lock_guard lock{mutex_};
    last_ = after;
    following_ = true;
  }
  core_.subscribe(
    ex_->who(), run_, after,
    [self = shared_from_this()](const run_event& e) { return self->event(e); },
    [self = shared_from_this()](result<void> answer) {
      self->accepted(answer);
    });
}

void run_stream::open() {
  if (std::exchange(opened_, true))
    return;
  head_.fields.emplace_back("x-run-id", run_.str());
  open_stream(*ex_, format_, std::move(head_));
}

bool run_stream::event(const run_event& e) {
  std::lock_guard lock{mutex_};
  return write(e);
}

bool run_stream::write(const run_event& e) {
  if (lines_.ended())
    return false;
  if (!opened_ && e.result && e.result->replayed)
    mark_replayed_run(head_, e.result->id);
  open();
  if (!ex_->has_room()) {
    following_ = true;
    ex_->when_drained(
      [self = shared_from_this(), after = last_] { self->follow(after); });
    return false;
  }
  auto text = lines_.line(e);
  bool goes_on = text.empty() || ex_->write(text);
  last_ = e.sequence;
  if (lines_.ended())
    ex_->finish();
  return goes_on && !lines_.ended();
}

void run_stream::finished(result<std::shared_ptr<const run_result>> done) {
  std::lock_guard lock{mutex_};
  if (following_)
    return;
  if (!opened_ && !done) {
    opened_ = true;
    fail_run(core_, ex_, done.error(), run_);
    return;
  }
  run_event e;
  e.kind = run_event_kind::end;
  if (done)
    e.result = std::move(*done);
  else
    e.failure = std::make_shared<const error>(done.error());
  write(e); // nothing, if the end was told
}

void run_stream::accepted(const result<void>& answer) {
  std::lock_guard lock{mutex_};
  if (answer) {
    open();
  } else if (!opened_) {
    opened_ = true;
    ex_->fail(answer.error(), run_.str());
  } else {
    run_event e;
    e.kind = run_event_kind::end;
    e.failure = std::make_shared<const error>(answer.error());
    write(e);
  }
}

} // namespace troupe::net
