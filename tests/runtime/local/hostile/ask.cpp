#include "tests/runtime/local/hostile/probes.hpp"

namespace troupe::test {

namespace {

const char* word_for(deed d) {
  switch (d) {
  case deed::read:
    return "read";
  case deed::list:
    return "list";
  case deed::write:
    return "write";
  case deed::remove:
    return "remove";
  case deed::make:
    return "make";
  case deed::link:
    return "link";
  case deed::rename:
    return "rename";
  case deed::widen:
    return "widen";
  case deed::signal0:
    return "signal0";
  }
  return "";
}

constexpr const char* python_deeds = R"(
import errno, os
def read(p):
    with open(p, 'rb', 0) as f: f.read(1)
def list_(p): os.listdir(p)
def write(p): os.close(os.open(p, os.O_WRONLY | os.O_CREAT, 0o644))
def remove(p): os.unlink(p)
def make(p): os.mkdir(p)
def link(p): os.link(p, '/tmp/linked-' + p.replace('/', '_'))
def rename(p): os.rename(p, p + '~')
def widen(p): os.chmod(p, 0o777)
def signal0(p): os.kill(int(p), 0)
def ask(g, p):
    try:
        g(p)
        return 'OK'
    except OSError as e:
        return errno.errorcode[e.errno]
)";

constexpr const char* node_deeds = R"(
const fs = require('fs');
const deeds = {
  read(p) {
    const fd = fs.openSync(p, 'r');
    try { fs.readSync(fd, Buffer.alloc(1), 0, 1, null); }
    finally { fs.closeSync(fd); }
  },
  list(p) { fs.readdirSync(p); },
  write(p) { fs.closeSync(fs.openSync(p, 'a', 0o644)); },
  remove(p) { fs.unlinkSync(p); },
  make(p) { fs.mkdirSync(p); },
  link(p) { fs.linkSync(p, '/tmp/linked-' + p.replaceAll('/', '_')); },
  rename(p) { fs.renameSync(p, p + '~'); },
  widen(p) { fs.chmodSync(p, 0o777); },
  signal0(p) { process.kill(Number(p), 0); },
};
function ask(g, p) {
  try { g(p); return 'OK'; } catch (e) { return e.code; }
}
)";

// What a shell knows of an errno is the sentence of its programs.
constexpr const char* shell_deeds = R"sh(
read_() { head -c 1 "$1" > /dev/null; }
list() { ls "$1" > /dev/null; }
write() { dd of="$1" count=0 conv=notrunc < /dev/null; }
remove() { rm "$1"; }
make() { mkdir "$1"; }
link_() { ln "$1" "/tmp/linked-$(echo "$1" | tr / _)"; }
rename_() { mv -n "$1" "$1~"; }
widen() { chmod 0777 "$1"; }
signal0() { /bin/kill -0 "$1"; }
ask() {
  if said=$(LC_ALL=C "$2" "$3" 2>&1); then echo "$1 OK"; return; fi
  case "$said" in
  *'No such file'*) echo "$1 ENOENT" ;;
  *'No such device'*) echo "$1 ENXIO" ;;
  *'Permission denied'*) echo "$1 EACCES" ;;
  *'not permitted'*) echo "$1 EPERM" ;;
  *'Read-only'*) echo "$1 EROFS" ;;
  *'ross-device'*) echo "$1 EXDEV" ;;
  *'No such process'*) echo "$1 ESRCH" ;;
  *) echo "$1 $(echo "$said" | tr -s ' \n' '__')" ;;
  esac
}
)sh";

std::string python(const std::vector<question>& all) {
  std::string source = std::string{python_deeds} + "def f():\n  seen = {}\n";
  for (const auto& q : all)
    source += "  seen['" + q.name + "'] = ask("
      + (q.what == deed::list ? "list_" : word_for(q.what)) + ", '" + q.target
      + "')\n";
  return source + "  return seen\n";
}

std::string node(const std::vector<question>& all) {
  std::string source
    = std::string{node_deeds} + "function f() {\n  const seen = {};\n";
  for (const auto& q : all)
    source += "  seen['" + q.name + "'] = ask(deeds." + word_for(q.what) + ", '"
      + q.target + "');\n";
  return source + "  return seen;\n}\n";
}

std::string shell_line(const std::vector<question>& all) {
  std::string source = shell_deeds;
  for (const auto& q : all) {
    std::string word = word_for(q.what);
    if (word == "read" || word == "link" || word == "rename")
      word += '_'; // taken
    source += "ask '" + q.name + "' " + word + " '" + q.target + "'\n";
  }
  return source;
}

constexpr const char* call_prelude = R"(
import ctypes, errno, os, socket, sys, types
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
# The numbers of x86-64: of some calls libc does not know them yet.
nr = types.SimpleNamespace(
    mmap=9, ioctl=16, madvise=28, shmget=29, socket=41, setsockopt=54,
    clone=56, fcntl=72, ptrace=101, syslog=103, capset=126, personality=135,
    vhangup=153, modify_ldt=154, pivot_root=155, prctl=157, adjtimex=159,
    chroot=161, sync=162, acct=163, settimeofday=164, mount=165, umount2=166,
    swapon=167, swapoff=168, reboot=169, sethostname=170, setdomainname=171,
    iopl=172, ioperm=173, init_module=175, delete_module=176, quotactl=179,
    io_setup=206, io_submit=209, lookup_dcookie=212, clock_settime=227,
    mbind=237, set_mempolicy=238, kexec_load=246, add_key=248, request_key=249,
    keyctl=250, ioprio_set=251, inotify_init=253, inotify_add_watch=254,
    migrate_pages=256, openat=257, unshare=272, vmsplice=278, move_pages=279,
    timerfd_create=283, inotify_init1=294, perf_event_open=298,
    fanotify_init=300, fanotify_mark=301, prlimit64=302, name_to_handle_at=303,
    open_by_handle_at=304, clock_adjtime=305, syncfs=306, setns=308,
    process_vm_readv=310, process_vm_writev=311, kcmp=312, finit_module=313,
    sched_setattr=314, seccomp=317, memfd_create=319, kexec_file_load=320,
    bpf=321, userfaultfd=323, io_uring_setup=425, io_uring_enter=426,
    io_uring_register=427, open_tree=428, move_mount=429, fsopen=430,
    fsconfig=431, fsmount=432, fspick=433, pidfd_open=434, clone3=435,
    openat2=437, pidfd_getfd=438, process_madvise=440, mount_setattr=442,
    quotactl_fd=443, memfd_secret=447, process_mrelease=448,
    set_mempolicy_home_node=450, map_shadow_stack=453, statmount=457,
    listmount=458, lsm_list_modules=459, open_tree_attr=467)
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_NEWCGROUP = 0x02000000
CLONE_FILES = 0x400
CLONE_NEWTIME = 0x80
def word(x):
    return ctypes.c_long(x) if isinstance(x, int) else x
def say(r):
    return 'OK' if r >= 0 else errno.errorcode[ctypes.get_errno()]
def call(number, *arguments):
    return say(libc.syscall(ctypes.c_long(number), *map(word, arguments)))
def call_for(number, *arguments):
    # For the number that it returns.
    return libc.syscall(ctypes.c_long(number), *map(word, arguments))
def attempt(f):
    try:
        f()
        return 'OK'
    except OSError as e:
        return errno.errorcode[e.errno]
    except ValueError:
        return 'ValueError'
def family(number, kind=socket.SOCK_STREAM):
    return attempt(lambda: socket.socket(number, kind).close())
def fresh():
    return ctypes.create_string_buffer(4096)
def in_child(f):
    # For calls that would change who the caller is.
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, f().encode())
        os._exit(0)
    os.close(w)
    said = os.read(r, 64).decode()
    os.close(r)
    os.waitpid(pid, 0)
    return said
def clone(flags):
    def there():
        pid = call_for(nr.clone, flags, 0, 0, 0, 0)
        if pid == 0: os._exit(0)
        return say(pid)
    return in_child(there)
pair = socket.socketpair()
buffer = fresh()
no = b'/no/such'
def f():
    seen = {}
)";

} // namespace

std::string ask_in(language lang, const std::vector<question>& all) {
  if (lang == language::python)
    return python(all);
  return lang == language::shell ? shell_line(all) : node(all);
}

std::string ask_calls(std::span<const call_row> rows, bool outside) {
  std::string source = call_prelude;
  for (const auto& r : rows)
    if (!outside || *r.outside != '\0')
      source += "    seen['" + std::string{r.name} + "'] = " + r.call + "\n";
  return source + "    return seen\n";
}

} // namespace troupe::test
