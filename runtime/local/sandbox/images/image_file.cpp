#include "runtime/local/sandbox/images/image_file.hpp"

#include "runtime/local/sandbox/images/image_format.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#if defined(__x86_64__)
extern "C" {
// The linker's names for the two ends of that section.
extern const char __start_process_image[];
extern const char __stop_process_image[];
void image_save();
void image_start();
}
#endif

namespace troupe::images {

namespace {

#if defined(__x86_64__)

std::size_t place_of(void (*function)()) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(function)
                                  - __start_process_image);
}

std::string_view section() {
  return {
    __start_process_image,
    static_cast<std::size_t>(__stop_process_image - __start_process_image)};
}

Elf64_Ehdr file_header() {
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = EV_CURRENT;
  h.e_type = ET_EXEC;
  h.e_machine = EM_X86_64;
  h.e_version = EV_CURRENT;
  h.e_entry = program_at + page_bytes + place_of(&image_start);
  h.e_phoff = sizeof h;
  h.e_ehsize = sizeof h;
  h.e_phentsize = sizeof(Elf64_Phdr);
  h.e_phnum = 2;
  return h;
}

/// Two headers in the first page, then the code.
std::string program() {
  Elf64_Phdr text{};
  text.p_type = PT_LOAD;
  text.p_flags = PF_R | PF_X;
  text.p_vaddr = text.p_paddr = program_at;
  text.p_filesz = text.p_memsz = page_bytes + section().size();
  text.p_align = page_bytes;
  Elf64_Phdr stack{};
  stack.p_type = PT_GNU_STACK;
  stack.p_flags = PF_R | PF_W;
  stack.p_align = 16;
  const auto head = file_header();
  std::string out(page_bytes, '\0');
  std::memcpy(out.data(), &head, sizeof head);
  std::memcpy(out.data() + sizeof head, &text, sizeof text);
  std::memcpy(out.data() + sizeof head + sizeof text, &stack, sizeof stack);
  return out.append(section());
}

#else

std::string program() {
  return {};
}

#endif

constexpr unsigned executable = 0x10; // MFD_EXEC, newer than some headers

} // namespace

#if defined(__x86_64__)

bool available() {
  return page_bytes + section().size() <= table_at;
}

saving_code code() {
  return {section(), place_of(&image_save)};
}

#else

bool available() {
  return false;
}

saving_code code() {
  return {};
}

#endif

unique_fd new_image() {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  unique_fd image{::memfd_create("context", flags | executable)};
  if (!image && errno == EINVAL) // before Linux 6.3
    image.reset(::memfd_create("context", flags));
  const auto text = program();
  if (image
      && (::pwrite(image.get(), text.data(), text.size(), 0)
            != static_cast<ssize_t>(text.size())
          || ::ftruncate(image.get(), static_cast<off_t>(data_at)) != 0))
    image.reset();
  return image;
}

bool seal(const unique_fd& image) {
  constexpr int seals
    = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  constexpr int modes = 0x20; // F_SEAL_EXEC, newer than some headers
  return ::fcntl(image.get(), F_ADD_SEALS, seals | modes) == 0
    || (errno == EINVAL && ::fcntl(image.get(), F_ADD_SEALS, seals) == 0);
}

unique_fd reopen(const unique_fd& image) {
  const auto path = "/proc/self/fd/" + std::to_string(image.get());
  return unique_fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
}

} // namespace troupe::images
