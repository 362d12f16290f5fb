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
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
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
        pid = libc.syscall(ctypes.c_long(56), ctypes.c_long(flags), 0, 0, 0, 0)
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
