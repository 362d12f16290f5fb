// Interpreters of this machine as files, from which others begin.
#include "runtime/local/sandbox/local_images.hpp"

#include "runtime/local/sandbox/images/image_file.hpp"
#include "runtime/local/sandbox/images/image_format.hpp"
#include "runtime/local/sandbox/living_kernel.hpp"
#include "runtime/local/sandbox/local_sandboxes.hpp"

#include <sys/stat.h>

#include <charconv>
#include <cstring>

namespace troupe {

namespace asio = boost::asio;

namespace {

/// Beside what it says that it needs: tables, and what it writes meanwhile.
constexpr std::uint64_t spare_bytes = 4u << 20;

error cannot(std::string_view why) {
  return fail(
    ec::conflict,
    "the context cannot be branched: "
      + std::string{why.empty() ? "its interpreter did not say why" : why});
}

/// What it said last, and the wait for that.
struct conversation {
  kernels::frame said;
  std::shared_ptr<call_wait> heard;
};

std::uint64_t number_of(std::string_view text) {
  std::uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

error why_not(const kernels::frame& said) {
  if (said.word == "kept")
    return cannot(said.part("why").substr(0, 2'000));
  return cannot(said.word.empty() ? "its interpreter has ended"
                                  : "its interpreter says something else");
}

} // namespace

result<kernels::program> local_image::program() {
  return kernels::program{{"/proc/self/fd/0"}, {}};
}

unique_fd local_image::open(const kernel_image_ptr& image) {
  const auto* ours = dynamic_cast<const local_image*>(image.get());
  return ours ? images::reopen(ours->file_) : unique_fd{};
}

std::string local_image::why_ended(int exit_code) {
  switch (exit_code) {
  case images::image_unreadable:
    return ": its image is not one";
  case images::kernel_differs:
    return ": the kernel's own pages cannot be put where they were";
  case images::file_differs:
    return ": a file that its memory comes from is not in this sandbox";
  case images::memory_refused:
    return ": its memory cannot be mapped";
  default:
    return {};
  }
}

bool local_image::needs_another(int exit_code) {
  return exit_code == images::same_number;
}

asio::awaitable<result<void>>
local_sandboxes::make_room(const sandbox_handle& sandbox, std::uint64_t bytes,
                           call_scope scope) {
  auto found = find(sandbox);
  if (!found)
    co_return found.error();
  warden::message m;
  m.what = warden::word::lend;
  m.of = (*found)->number;
  std::vector<unique_fd> none;
  std::function<void(bool)> heard;
  const auto said = co_await ask_warden(std::move(m), std::move(none), scope,
                                        std::move(heard));
  if (!said.failure.ok())
    co_return fail(ec::unavailable, "the sandbox's memory is not known");
  const auto most = (*found)->limits.memory_bytes;
  const auto used = said.peak_memory_bytes + spare_bytes;
  if (bytes > most || used > most - bytes)
    co_return fail(ec::exhausted,
                   "memory_limit: a copy of the context takes "
                     + std::to_string((bytes >> 20) + 1)
                     + " MiB, and the sandbox has no room for that; delete "
                       "what is not needed, or make one with more memory");
  co_return result<void>{};
}

asio::awaitable<result<kernel_image_ptr>>
local_sandboxes::save_kernel(const sandbox_handle& sandbox,
                             std::shared_ptr<sandbox_kernel> kernel,
                             call_scope scope) {
  auto self = shared_from_this();
  auto ours = std::dynamic_pointer_cast<living_kernel>(kernel);
  if (!ours || !images::available())
    co_return cannot("this machine saves no interpreters of its kind");
  auto talk = std::make_shared<conversation>();
  talk->heard = std::make_shared<call_wait>(executor_);
  auto asked = ours->ask_for_image([talk](const kernels::frame& said) {
    talk->said = said;
    talk->heard->tell();
  });
  if (!asked)
    co_return cannot(asked.error().text);
  const std::shared_ptr<living_kernel> asking{
    ours.get(), [ours](living_kernel* k) { k->end_save(); }};
  auto heard = talk->heard;
  bool told = co_await heard->wait(scope);
  if (told && talk->said.word != "take")
    co_return why_not(talk->said);
  unique_fd file = images::new_image();
  result<void> room;
  if (told)
    room
      = co_await make_room(sandbox, number_of(talk->said.part("bytes")), scope);
  const bool goes = told && room && file;
  talk->heard = heard = std::make_shared<call_wait>(executor_);
  const unique_fd nothing;
  const bool given = told && ours->give_file(goes ? file : nothing);
  if (!room)
    co_return room.error();
  if (told && !file)
    co_return fail(ec::exhausted, "no descriptors are left for an image");
  if (given && goes)
    tell_begun(scope);
  if (given)
    told = co_await heard->wait(scope);
  if (!given || !told) { // what it does now cannot be known
    ours->kill();
    co_return not_in_time(scope, "saving a context");
  }
  if (talk->said.word != "saved")
    co_return why_not(talk->said);
  struct stat about {};
  if (!images::seal(file) || ::fstat(file.get(), &about) != 0)
    co_return cannot("its image is still being written to");
  co_return kernel_image_ptr{std::make_shared<const local_image>(
    std::move(file), static_cast<std::uint64_t>(about.st_blocks) * 512)};
}

} // namespace troupe
