#pragma once

#include <cstddef>
#include <cstdint>

/// A process as a file: a program that becomes that process when it is
/// executed. The engine writes the first part, the process itself all else, and
/// then nobody can write to it any more.
///
///     0          an ELF header, the code that saves and restores
///     table_at   `image_header`, regions, names of files
///     data_at    pages
namespace troupe::images {

using word = std::uint64_t;

inline constexpr word page_bytes = 4'096;
inline constexpr word table_at = 64u << 10;
inline constexpr word table_bytes = 1u << 20;
inline constexpr word data_at = table_at + table_bytes;
inline constexpr word max_regions = 12'000;
inline constexpr word names_at = 896u << 10; // within the table

/// Where the program lies while it restores: far from where any program, its
/// heap, its libraries or its stack are put.
inline constexpr word program_at = 0x2000'0000'0000;
inline constexpr word program_bytes = 256u << 20; // and works below that

inline constexpr word image_magic = 0x3165'6761'6d69'7274; // "trimage1"
inline constexpr word signal_count = 64;
inline constexpr word max_special = 8;

/// What the kernel's ABI calls a sigaction.
struct signal_action {
  word handler;
  word flags;
  word restorer;
  word mask;
};

struct registers {
  word rbx, rbp, r12, r13, r14, r15, rsp;
  std::uint32_t float_modes; // mxcsr
  std::uint16_t x87_modes;
  std::uint16_t unused;
};

enum class region_kind : std::uint32_t {
  empty = 1, // memory of its own, of zeros so far
  file,      // of the tree, private
  shared,    // of the tree, read-only, and shared
  data,      // pages of this image, over one of those
  special,   // of the kernel's: its position only
};

/// Beside a region's protection: a fork finds it empty.
inline constexpr std::uint32_t is_wiped = 0x100;

struct region {
  word start;
  word size;
  word offset; // in its file, or in the image
  word name;   // within the table: the file's
  word file_bytes;
  region_kind kind;
  std::uint32_t protection;
};

struct image_header {
  word magic;
  word regions;
  word bytes;  // of the whole image
  word resume; // where it goes on, with `order` as its argument
  word order;
  word thread_pointer;
  word thread_id_at;
  word robust_list;
  word robust_list_bytes;
  word restartable_at; // of rseq; 0: none
  word heap_end_at;    // where libc keeps it
  word signal_mask;
  word signal_stack[3]; // stack_t
  char name[16];        // of the process
  signal_action actions[signal_count];
};

/// What is asked of `save`, in memory of the process's own.
struct save_order {
  word file;             // descriptor: the image
  word scratch;          // memory to work in, which is not saved
  word scratch_bytes;    // at least `least_scratch`
  word restartable_from; // where libc has its __rseq_offset; 0: nowhere
  word heap_end_at;      // where it has its __curbrk
  word wiped;            // pairs of addresses: what a fork finds empty
  word wiped_count;
  word saved_bytes; // answer: of the image
  word culprit;     // answer, with an error: a region's address
  registers at;
};

inline constexpr word maps_bytes = 1u << 20;
inline constexpr word window_pages = 8'192;
inline constexpr word least_scratch
  = table_bytes + maps_bytes + window_pages * sizeof(word);

/// With which a program that cannot become the process ends: which step.
enum restore_exit : int {
  image_unreadable = 121,
  kernel_differs = 122, // its own pages lie otherwise
  file_differs = 123,
  memory_refused = 124,
  same_number = 125, // as a process that it was in: another one is needed
};

} // namespace troupe::images
