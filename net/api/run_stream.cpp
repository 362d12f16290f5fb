#include "net/api/run_stream.hpp"

#include "net/api/input.hpp"

namespace troupe::net {

std::optional<stream_format> wanted_stream(const request& in) {
  if (accepts(in, stream_type(stream_format::sse)))
    return stream_format::sse;
  if (accepts(in, stream_type(stream_format::ndjson)))
    return stream_format::ndjson;
  return std::nullopt;
}

void run_stream::open() {
  if (opened_)
    return;
  opened_ = true;
  response head;
  head.type = stream_type(format_);
  head.fields.emplace_back("x-run-id", run_);
  head.fields.emplace_back("x-accel-buffering", "no"); // for proxies
  ex_->open(std::move(head),
            format_ == stream_format::sse ? ": alive\n\n" : "");
}

bool run_stream::event(const run_event& e) {
  std::lock_guard lock{mutex_};
  if (lines_.ended())
    return false;
  open();
  auto text = lines_.line(e);
  bool goes_on = text.empty() || ex_->write(text);
  if (lines_.ended())
    ex_->finish();
  return goes_on && !lines_.ended();
}

void run_stream::finished(result<std::shared_ptr<const run_result>> done) {
  {
    std::lock_guard lock{mutex_};
    if (!opened_ && !done) {
      opened_ = true;
      ex_->fail(done.error(), run_);
      return;
    }
  }
  run_event e;
  e.kind = run_event_kind::end;
  if (done)
    e.result = std::move(*done);
  else
    e.failure = std::make_shared<const error>(done.error());
  event(e); // nothing, if the end was told
}

void run_stream::accepted(result<void> answer) {
  std::lock_guard lock{mutex_};
  if (answer) {
    open();
  } else if (!opened_) {
    opened_ = true;
    ex_->fail(answer.error(), run_);
  } else if (!lines_.ended()) {
    run_event e;
    e.kind = run_event_kind::end;
    e.failure = std::make_shared<const error>(answer.error());
    ex_->write(lines_.line(e));
    ex_->finish();
  }
}

} // namespace troupe::net
