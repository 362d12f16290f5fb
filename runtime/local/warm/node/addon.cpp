#include "runtime/local/warm/memory/libc_heap.hpp"
#include "runtime/local/warm/memory/memory_layout.hpp"
#include "runtime/local/warm/memory/memory_map.hpp"
#include "runtime/local/warm/node/node_interpreter.hpp"
#include "runtime/local/warm/node/random_generator.hpp"
#include "runtime/local/warm/process/file_in_memory.hpp"
#include "runtime/local/warm/process/run_process.hpp"
#include "runtime/local/warm/process/start_strings.hpp"
#include "runtime/local/warm/process/zygote.hpp"
#include "runtime/model/warm_optimizations.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace troupe::zygote {

namespace {

node_interpreter* living = nullptr;
random_generator generator;

std::string_view bytes_of(napi_env env, napi_value buffer) {
  void* data = nullptr;
  size_t size = 0;
  if (!buffer || napi_get_buffer_info(env, buffer, &data, &size) != 0)
    return {};
  return {static_cast<const char*>(data), size};
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto done = write(fd, bytes.data(), bytes.size());
    if (done <= 0)
      return;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
}

struct arguments {
  arguments(napi_env env, napi_callback_info info) : env_{env} {
    if (napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr) != 0)
      count_ = 0;
  }
  int32_t number(size_t index) const {
    int32_t n = -1;
    if (index < count_)
      napi_get_value_int32(env_, values_[index], &n);
    return n;
  }
  napi_value value(size_t index) const {
    return index < count_ ? values_[index] : nullptr;
  }

private:
  static constexpr size_t most = 4;
  napi_env env_;
  napi_value values_[most] = {};
  size_t count_ = most;
};

/// V8 marks its heap as not to be inherited, for those who fork to execute.
void inherit_memory() {
  char room[map_room];
  map_reader maps{room};
  for (mapping m; maps.next(m);)
    madvise(reinterpret_cast<void*>(m.begin), m.size(), MADV_DOFORK);
}

/// Our own file is the host's: a run would see its path in /proc, if it is not
/// in memory by now.
void hide_module() {
  Dl_info about{};
  struct stat file {};
  if (dladdr(&living, &about) == 0 || stat(about.dli_fname, &file) != 0)
    return;
  std::string_view path = about.dli_fname;
  path.remove_prefix(path.rfind('/') + 1);
  move_into_memory(file.st_ino, path, "interpreter");
}

memory_report prepare_memory(const warm_optimizations& on) {
  memory_report made;
  const void* const used[] = {dlsym(RTLD_DEFAULT, "uv_loop_fork"),
                              dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"),
                              dlsym(RTLD_DEFAULT, "gnu_get_libc_version")};
  made.huge_pages = static_cast<std::uint64_t>(
    lay_out_memory({.used = used,
                    .huge_text = on.huge_text,
                    .joined_libraries = on.joined_libraries,
                    .gathered_pages = on.gathered_pages}));
  if (on.huge_heap)
    made.huge_pages += static_cast<std::uint64_t>(collapse_libc_heap());
  hide_module();
  return made;
}

/// serve(control, tricks, plays): forks slots until the control socket
/// ends; `plays` are to be rehearsed. Returns in a run's process: 1 with its
/// run, 2 when it shall `wait` for it.
napi_value serve(napi_env env, napi_callback_info info) {
  const arguments given{env, info};
  const int control = given.number(0);
  uv_loop_s* loop = nullptr;
  if (control < 0 || napi_get_uv_event_loop(env, &loop) != 0)
    return nullptr;
  static node_interpreter node{loop};
  living = &node;
  inherit_memory();
  const auto made = prepare_memory(only_named(bytes_of(env, given.value(1))));
  serve_zygote(node, control, made, bytes_of(env, given.value(2)));
  napi_value answer = nullptr;
  napi_create_int32(env, node.is_preforked() ? 2 : 1, &answer);
  return answer;
}

/// elsewhere(function): the buffer that it returns, made by a fork of this
/// process, so that nothing of it is left here.
napi_value elsewhere(napi_env env, napi_callback_info info) {
  const arguments given{env, info};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  inherit_memory();
  const auto child = fork();
  if (child == 0) {
    napi_value self = nullptr, made = nullptr;
    napi_get_boolean(env, false, &self);
    if (napi_call_function(env, self, given.value(0), 0, nullptr, &made) == 0)
      write_all(ends[1], bytes_of(env, made));
    _exit(0);
  }
  close(ends[1]);
  std::string all;
  char part[16384];
  for (ssize_t got; child > 0 && (got = read(ends[0], part, sizeof part)) > 0;)
    all.append(part, static_cast<size_t>(got));
  close(ends[0]);
  if (child > 0)
    waitpid(child, nullptr, 0);
  napi_value answer = nullptr;
  napi_create_buffer_copy(env, all.size(), all.data(), nullptr, &answer);
  return answer;
}

/// showStartAs(arguments): each closed by a zero, in /proc from here on.
napi_value show_start(napi_env env, napi_callback_info info) {
  show_start_as(bytes_of(env, arguments{env, info}.value(0)));
  return nullptr;
}

/// pid(): as it is in this process. Node remembers its parent's.
napi_value pid(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_create_int32(env, getpid(), &answer);
  return answer;
}

/// 31 bits of the kernel's, never 0. Asking OpenSSL would make it seed itself
/// first.
int32_t draw() {
  uint32_t bits = 0;
  while ((bits & 0x7fffffff) == 0)
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
      _exit(could_not_start);
  return static_cast<int32_t>(bits & 0x7fffffff);
}

napi_value random_number(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_create_int32(env, draw(), &answer);
  return answer;
}

/// watch(): before something draws from V8's generator.
napi_value watch(napi_env, napi_callback_info) {
  generator.watch();
  return nullptr;
}

/// found(): afterwards; whether it can be given another state.
napi_value found(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_get_boolean(env, generator.find(), &answer);
  return answer;
}

/// reseed(): it gets one; false if V8 has to be told a seed in words.
napi_value reseed(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_get_boolean(env, generator.renew(), &answer);
  return answer;
}

/// pipe(reads): a descriptor of a pipe, its reading end first; for warm-ups.
napi_value pipe_end(napi_env env, napi_callback_info info) {
  static int ends[2] = {-1, -1};
  const bool reads = arguments{env, info}.number(0) != 0;
  if (reads && pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  napi_value answer = nullptr;
  napi_create_int32(env, ends[reads ? 0 : 1], &answer);
  return answer;
}

/// wait(): until the run is there, true; or there is time to warm up, false.
napi_value wait(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_get_boolean(env, !living || living->wait_for_run(), &answer);
  return answer;
}

/// exit(status): at once. Node's own would wait for threads that a fork has
/// left behind.
napi_value exit_now(napi_env env, napi_callback_info info) {
  leave(arguments{env, info}.number(0));
}

} // namespace

} // namespace troupe::zygote

extern "C" __attribute__((visibility("default"))) napi_value
napi_register_module_v1(napi_env env, napi_value exports) {
  using namespace troupe::zygote;
  const auto add = [&](const char* name, napi_callback call) {
    napi_value made = nullptr;
    constexpr auto whole = static_cast<size_t>(-1); // NAPI_AUTO_LENGTH
    if (napi_create_function(env, name, whole, call, nullptr, &made) == 0)
      napi_set_named_property(env, exports, name, made);
  };
  add("serve", serve);
  add("pipe", pipe_end);
  add("random", random_number);
  add("watch", watch);
  add("found", found);
  add("reseed", reseed);
  add("elsewhere", elsewhere);
  add("showStartAs", show_start);
  add("pid", pid);
  add("wait", wait);
  add("exit", exit_now);
  return exports;
}
