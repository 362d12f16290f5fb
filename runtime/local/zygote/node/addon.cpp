#include "runtime/local/zygote/module/inherited_maps.hpp"
#include "runtime/local/zygote/module/libc_heap.hpp"
#include "runtime/local/zygote/module/run_process.hpp"
#include "runtime/local/zygote/module/zygote.hpp"
#include "runtime/local/zygote/node/node_guest.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <initializer_list>

namespace troupe::zygote {

namespace {

node_guest* living = nullptr;

int first_argument(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value value = nullptr;
  int32_t number = -1;
  if (napi_get_cb_info(env, info, &count, &value, nullptr, nullptr) == 0
      && count == 1)
    napi_get_value_int32(env, value, &number);
  return number;
}

/// V8 marks its heap as not to be inherited, for those who fork to execute.
void inherit_memory() {
  auto* maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return;
  char line[4096];
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) == 2)
      madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DOFORK);
  }
  fclose(maps);
}

/// serve(control): forks slots until the control socket ends. Returns in a
/// run's process: 1 with its run, 2 when it shall warm itself and `wait`.
napi_value serve(napi_env env, napi_callback_info info) {
  const int control = first_argument(env, info);
  uv_loop_s* loop = nullptr;
  if (control < 0 || napi_get_uv_event_loop(env, &loop) != 0)
    return nullptr;
  static node_guest node{loop};
  living = &node;
  inherit_memory();
  const int huge_pages = collapse_libc_heap();
  for (const char* name : {"uv_loop_fork", "_ZNSt8ios_base4InitC1Ev", "malloc"})
    inherit_maps(dlsym(RTLD_DEFAULT, name)); // node, libstdc++, libc
  serve_zygote(node, control, static_cast<std::uint64_t>(huge_pages));
  napi_value answer = nullptr;
  napi_create_int32(env, node.is_armed() ? 2 : 1, &answer);
  return answer;
}

/// pid(): as it is in this process. Node remembers its parent's.
napi_value pid(napi_env env, napi_callback_info) {
  napi_value answer = nullptr;
  napi_create_int32(env, getpid(), &answer);
  return answer;
}

/// random(): 31 bits of the kernel's, never 0. Asking OpenSSL would make it
/// seed itself first.
napi_value random_number(napi_env env, napi_callback_info) {
  uint32_t bits = 0;
  while ((bits & 0x7fffffff) == 0)
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
      _exit(could_not_start);
  napi_value answer = nullptr;
  napi_create_int32(env, static_cast<int32_t>(bits & 0x7fffffff), &answer);
  return answer;
}

/// pipe(reads): a descriptor of a pipe, its reading end first; for warm-ups.
napi_value pipe_end(napi_env env, napi_callback_info info) {
  static int ends[2] = {-1, -1};
  const bool reads = first_argument(env, info) != 0;
  if (reads && pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  napi_value answer = nullptr;
  napi_create_int32(env, ends[reads ? 0 : 1], &answer);
  return answer;
}

/// wait(): until the run is there.
napi_value wait(napi_env, napi_callback_info) {
  if (living)
    living->wait_for_run();
  return nullptr;
}

/// exit(status): at once. Node's own would wait for threads that a fork has
/// left behind.
napi_value leave(napi_env env, napi_callback_info info) {
  _exit(first_argument(env, info));
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
  add("pid", pid);
  add("wait", wait);
  add("exit", leave);
  return exports;
}
