#include "runtime/base/random.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <cstring>
#include <stdexcept>

namespace troupe {

namespace {

void ask_kernel(std::uint8_t* out, std::size_t size) {
  // Up to 256 bytes never come short; failure means there is no randomness.
  for (std::size_t done = 0; done < size;) {
    auto n = ::getrandom(out + done, size - done, 0);
    if (n <= 0)
      throw std::runtime_error("getrandom failed");
    done += static_cast<std::size_t>(n);
  }
}

/// One thread's. Its page is zeroed in a child, whichever way it was forked,
/// and zero means that nothing is left.
class pool {
public:
  pool() {
    auto* page = ::mmap(nullptr, sizeof(content), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      return;
    if (::madvise(page, sizeof(content), MADV_WIPEONFORK) == 0)
      all_ = static_cast<content*>(page);
    else
      ::munmap(page, sizeof(content));
  }
  ~pool() {
    if (all_)
      ::munmap(all_, sizeof(content));
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void take(std::span<std::uint8_t> out) {
    if (!all_ || out.size() > sizeof(all_->bytes))
      return ask_kernel(out.data(), out.size());
    if (all_->left < out.size()) {
      ask_kernel(all_->bytes, sizeof(all_->bytes));
      all_->left = sizeof(all_->bytes);
    }
    all_->left -= out.size();
    std::memcpy(out.data(), all_->bytes + all_->left, out.size());
    std::memset(all_->bytes + all_->left, 0, out.size());
  }

private:
  struct content {
    std::size_t left;
    std::uint8_t bytes[1'024]; // 64 ids
  };
  content* all_ = nullptr;
};

} // namespace

void random_bytes(std::span<std::uint8_t> out) {
  thread_local pool of_this_thread;
  of_this_thread.take(out);
}

} // namespace troupe
