// An interpreter that is saved, and one that begins from that.
#include "runtime/json/json.hpp"
#include "runtime/local/sandbox/images/image_file.hpp"
#include "runtime/local/sandbox/living_kernel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace troupe {

namespace {

/// Of what an interpreter says is lost; what is more is left out.
constexpr std::size_t most_lost = 100;
constexpr std::size_t longest_lost = 300;

} // namespace

result<void> living_kernel::ask_for_image(save_answers told) {
  if (over_ || !channel_.is_open())
    return fail(ec::unavailable, "the interpreter has ended");
  if (is_busy_ || save_answers_ || !is_ready_)
    return fail(ec::conflict, "a cell runs in it");
  if (!can_be_saved_)
    return fail(ec::conflict, "only one of python can be");
  save_answers_ = std::move(told);
  const auto code = images::code();
  unwritten_ += encode(kernels::frame{"image",
                                      {{"entry", std::to_string(code.entry)},
                                       {"code", std::string{code.bytes}}}});
  write_later();
  return {};
}

/// A byte, with the descriptor beside it or without. Nothing else is on the
/// way there: it waits for this one alone.
bool living_kernel::give_file(const unique_fd& file) {
  if (!channel_.is_open() || !unwritten_.empty())
    return false;
  char byte = 'f';
  iovec piece{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr m{};
  m.msg_iov = &piece;
  m.msg_iovlen = 1;
  if (file) {
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    auto* head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = file.get();
    std::memcpy(CMSG_DATA(head), &number, sizeof number);
  }
  return ::sendmsg(channel_.native_handle(), &m, MSG_NOSIGNAL) == 1;
}

void living_kernel::end_save() {
  save_answers_ = nullptr;
}

void living_kernel::go_on(const std::map<std::string, std::string>& env) {
  std::string text;
  for (const auto& [name, value] : env)
    text.append(name).append("=").append(value).push_back('\0');
  unwritten_ += encode(kernels::frame{"resume", {{"env", std::move(text)}}});
  write_later();
}

bool living_kernel::obey_about_image(const kernels::frame& from) {
  if (from.word != "take" && from.word != "saved" && from.word != "kept")
    return false;
  if (!save_answers_)
    return false; // nothing was asked: such an interpreter is given up
  auto told = save_answers_; // it may end this
  told(from);
  return true;
}

/// One per line.
void living_kernel::read_lost(const kernels::frame& ready) {
  auto rest = ready.part("lost");
  while (!rest.empty() && lost_.size() < most_lost) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.empty())
      lost_.push_back(
        json::repair_utf8(std::string{line.substr(0, longest_lost)}));
  }
}

} // namespace troupe
