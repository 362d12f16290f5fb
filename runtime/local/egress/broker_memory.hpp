#pragma once

#include "runtime/base/error.hpp"
#include "runtime/base/unique_fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

namespace troupe::network {

/// What the brokers of one organization have used together. Every broker of it
/// maps the same one; the engine takes back what a dead one still held.
struct account {
  // Two budgets that fill up with time: a moment of the steady clock, in
  // nanoseconds, until which everything is paid for.
  std::atomic<std::int64_t> time_paid_until{0};
  std::atomic<std::int64_t> sockets_paid_until{0};
  // Two levels.
  std::atomic<std::int64_t> held_bytes{0};
  std::atomic<std::int64_t> waiting_calls{0};
};

/// What the engine and one broker tell each other without waiting. Runs of a
/// slot are numbered; a broker serves one after another.
struct broker_page {
  /// From the engine: the orders for this run have been sent.
  std::atomic<std::uint32_t> serves{0};
  /// From the broker: the last run that made a call; whose `record` this is.
  std::atomic<std::uint32_t> used{0};
  /// From the broker: nothing waits of the runs up to this one.
  std::atomic<std::uint32_t> ended{0};
  std::atomic<std::uint32_t> dropped{0};     // decisions beyond the record
  std::atomic<std::uint32_t> record_size{0}; // bytes, whole entries
  /// The broker's part of its organization's levels.
  std::atomic<std::int64_t> held_bytes{0};
  std::atomic<std::int64_t> waiting_calls{0};
  char record[128u << 10]; // room for 256 decisions with the longest of names
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(
  std::is_standard_layout_v<account> && std::is_standard_layout_v<broker_page>);

/// Memory behind a descriptor whose size nobody can change: what maps it is
/// never killed for looking at it.
class mapped_memory {
public:
  static result<mapped_memory> make(const char* name, std::size_t size);
  /// Somebody's of at least this size.
  static std::optional<mapped_memory> map(unique_fd memory, std::size_t size);

  mapped_memory(mapped_memory&& other) noexcept;
  mapped_memory& operator=(mapped_memory&& other) = delete;
  ~mapped_memory();

  void* data() const noexcept { return data_; }
  const unique_fd& file() const noexcept { return file_; }
  /// Whoever is to map it has it.
  void close_file() noexcept { file_.reset(); }

private:
  mapped_memory(unique_fd file, void* data, std::size_t size)
      : file_{std::move(file)}, data_{data}, size_{size} {}

  unique_fd file_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// One `T` in such memory. New memory is zeroes, which is what a `T` begins
/// with.
template <class T>
class shared {
public:
  static result<std::shared_ptr<shared>> make(const char* name) {
    auto memory = mapped_memory::make(name, sizeof(T));
    if (!memory)
      return memory.error();
    return std::make_shared<shared>(std::move(*memory));
  }
  static std::shared_ptr<shared> map(unique_fd file) {
    auto memory = mapped_memory::map(std::move(file), sizeof(T));
    return memory ? std::make_shared<shared>(std::move(*memory)) : nullptr;
  }

  explicit shared(mapped_memory memory) : memory_{std::move(memory)} {}
  T* operator->() const noexcept { return static_cast<T*>(memory_.data()); }
  T& operator*() const noexcept { return *operator->(); }
  const unique_fd& file() const noexcept { return memory_.file(); }
  void close_file() noexcept { memory_.close_file(); }

private:
  mapped_memory memory_;
};

} // namespace troupe::network
