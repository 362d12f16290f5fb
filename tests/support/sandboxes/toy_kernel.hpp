#pragma once

#include "runtime/engine/sandbox_kernel.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace troupe::test {

/// An interpreter without a process. Its language:
///
///     set X      remembers X              get       the value is what that was
///     say X      prints X                 raise     fails
///     wait       until it is interrupted  stubborn  until it is killed
///     exit       ends the interpreter
///
/// On one executor.
struct toy_image final : kernel_image {
  explicit toy_image(std::string text) : kept{std::move(text)} {}
  std::uint64_t bytes() const override { return kept.size(); }
  std::string kept;
};

class toy_kernel final : public sandbox_kernel,
                         public std::enable_shared_from_this<toy_kernel> {
public:
  toy_kernel(boost::asio::any_io_executor executor, kernel_events events,
             const kernel_image_ptr& from = {})
      : executor_{std::move(executor)}, events_{std::move(events)} {
    if (from)
      kept_ = dynamic_cast<const toy_image&>(*from).kept;
  }
  kernel_image_ptr save() const { return std::make_shared<toy_image>(kept_); }
  std::vector<std::string> lost() const override { return {"file /gone"}; }

  std::int32_t pid() const override { return 7; }

  result<void> run(const std::string& code) override {
    if (std::exchange(busy_, true))
      return fail(ec::conflict, "it is busy");
    boost::asio::post(
      executor_, [self = shared_from_this(), code] { self->carry_out(code); });
    return {};
  }
  void interrupt() override {
    if (busy_ && !stubborn_)
      boost::asio::post(executor_, [self = shared_from_this()] {
        self->end_cell(cell_status::interrupted);
      });
  }
  void kill() override {
    boost::asio::post(executor_, [self = shared_from_this()] {
      process_end how;
      how.signaled = true;
      how.signal = 9;
      self->end(how);
    });
  }

private:
  void carry_out(const std::string& code) {
    const auto word = code.substr(0, code.find(' '));
    const auto rest = code.substr(std::min(code.size(), word.size() + 1));
    if (word == "set")
      kept_ = rest;
    else if (word == "say")
      events_.output(output_stream::out, rest);
    else if (word == "get")
      tell(cell_event::kind::result, kept_);
    else if (word == "raise")
      tell(cell_event::kind::error, "raised");
    else if (word == "exit")
      return end({3, false, 0, {}});
    stubborn_ = word == "stubborn";
    if (word != "wait" && !stubborn_)
      end_cell(word == "raise" ? cell_status::error : cell_status::ok);
  }
  void tell(cell_event::kind what, const std::string& text) {
    if (!events_.told)
      return;
    cell_event e;
    e.what = what;
    e.name = text;
    e.data = {{"text/plain", text}};
    events_.told(std::move(e));
  }
  void end_cell(cell_status how) {
    if (std::exchange(busy_, false) && events_.done)
      events_.done({how, ++count_});
  }
  void end(process_end how) {
    auto events = std::exchange(events_, {});
    if (events.ended)
      events.ended(std::move(how));
  }

  boost::asio::any_io_executor executor_;
  kernel_events events_;
  std::string kept_;
  std::uint64_t count_ = 0;
  bool busy_ = false;
  bool stubborn_ = false;
};

} // namespace troupe::test
