#include "runtime/local/warm/zygote_process.hpp"

#include "runtime/local/isolation/step.hpp"

#include <cerrno>
#include <cstring>

namespace troupe::zygote {

namespace {

std::string why_unfit(std::int32_t reason) {
  switch (static_cast<unfit_reason>(reason)) {
  case unfit_reason::threads:
    return "a preloaded module started a thread; remove it from local.preload";
  case unfit_reason::program:
    return "the interpreter is owned by the user of the engine, and this "
           "kernel cannot prevent runs from changing its mode; use one owned "
           "by root";
  }
  return "the preload failed";
}

} // namespace

zygote_process::zygote_process(boost::asio::any_io_executor executor,
                               unique_fd control)
    : born{std::chrono::steady_clock::now()}, control_{std::move(executor),
                                                       control.release()} {}

void zygote_process::listen(events told) {
  told_ = std::move(told);
  wait();
}

void zygote_process::wait() {
  control_.async_wait(
    boost::asio::posix::descriptor_base::wait_read,
    [self = shared_from_this()](const boost::system::error_code& bad) {
      if (bad)
        return;
      while (self->control_.is_open()) {
        packet in;
        descriptors with;
        const auto got
          = receive(self->control_.native_handle(), in, with, false);
        unique_fd pidfd{with.count > 0 ? std::exchange(with.fd[0], -1) : -1};
        with.close_all();
        if (got == received::nothing)
          return self->wait();
        if (got == received::closed)
          return self->end("the interpreter died");
        self->hear(in, std::move(pidfd));
      }
    });
}

void zygote_process::hear(const packet& in, unique_fd pidfd) {
  switch (in.what) {
  case word::ready:
    ready_ = true;
    pid_ = in.pid;
    huge_pages_ = in.huge_pages;
    hot_blocks_ = in.hot_blocks;
    ready_pages_ = in.ready_pages;
    if (told_.ready)
      told_.ready();
    break;
  case word::unfit:
    end(why_unfit(in.status));
    break;
  case word::slot_born: {
    auto node = starting_.extract(in.slot);
    if (node.empty())
      break;
    auto s = std::move(node.mapped());
    s->pid = in.pid;
    s->set_process(std::move(pidfd));
    if (const auto at = static_cast<isolation::step>(in.step);
        at != isolation::step::none && told_.slot_failed)
      told_.slot_failed(s, describe(in));
    else if (told_.slot_born)
      told_.slot_born(s);
    break;
  }
  default: // slot_gone: its socket has said so already
    break;
  }
}

result<void> zygote_process::make(std::shared_ptr<slot> s) {
  descriptors with;
  auto order = s->make_order(with);
  if (!order)
    return order.error();
  if (!control_.is_open()
      || !send(control_.native_handle(), *order, with.fd, with.count))
    return unavailable(std::string{"the interpreter accepts no commands: "}
                       + std::strerror(errno));
  s->hand_over();
  starting_.emplace(s->ticket(), std::move(s));
  return {};
}

void zygote_process::forget(const slot& s) {
  starting_.erase(s.ticket());
}

void zygote_process::end(std::string why) {
  auto ended = std::move(told_.ended);
  close();
  if (ended)
    ended(std::move(why));
}

void zygote_process::close() {
  boost::system::error_code ignored;
  if (control_.is_open())
    control_.close(ignored);
  ready_ = false;
  starting_.clear();
  told_ = {};
}

} // namespace troupe::zygote
