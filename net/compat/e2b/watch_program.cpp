#include "net/compat/e2b/watch_program.hpp"

#include "runtime/json/json.hpp"
#include "runtime/json/writer.hpp"

#include <array>

namespace troupe::net::e2b_facade {

namespace {

constexpr std::size_t read_at_once = 64u << 10;
constexpr std::size_t longest_line = 64u << 10;

/// inotify(7) by way of libc. Folders that come later are watched too, and what
/// is in them by then is told.
constexpr const char* script = R"(import ctypes, json, os, struct, sys
root, deep = sys.argv[1], sys.argv[2] == "deep"
if not os.path.lexists(root):
    sys.exit(4)
if not os.path.isdir(root):
    sys.exit(3)
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(os.O_CLOEXEC)
MODIFY, ATTRIB, FROM, TO, CREATE, DELETE = 2, 4, 0x40, 0x80, 0x100, 0x200
ONLY_FOLDERS, FOLDER, IGNORED = 0x1000000, 0x40000000, 0x8000
MASK = MODIFY | ATTRIB | FROM | TO | CREATE | DELETE | ONLY_FOLDERS
KINDS = ((CREATE | TO, "CREATE"), (MODIFY, "WRITE"), (DELETE, "REMOVE"),
         (FROM, "RENAME"), (ATTRIB, "CHMOD"))
names, known, arriving = {}, set(), {}
def tell(kind, name):
    sys.stdout.write(json.dumps({"type": kind, "name": name}) + "\n")
def watch(prefix, told):
    path = os.path.join(root, prefix)
    number = libc.inotify_add_watch(fd, os.fsencode(path), MASK)
    if number >= 0:
        names[number] = prefix
    try:
        inside = sorted(os.scandir(path), key=lambda e: e.name)
    except OSError:
        return
    for each in inside:
        name = os.path.join(prefix, each.name)
        known.add(name)
        if told:
            tell("CREATE", name)
        if deep and each.is_dir(follow_symlinks=False):
            watch(name, told)
def forget(prefix):
    for number, name in list(names.items()):
        if name == prefix or name.startswith(prefix + "/"):
            libc.inotify_rm_watch(fd, number)
            names.pop(number, None)
watch("", False)
tell("ready", "")
sys.stdout.flush()
while True:
    data = os.read(fd, 1 << 16)
    at = 0
    while at < len(data):
        number, mask, cookie, size = struct.unpack_from("iIII", data, at)
        raw = data[at + 16 : at + 16 + size].rstrip(b"\0")
        at += 16 + size
        if mask & IGNORED:
            names.pop(number, None)
            continue
        if number not in names or not raw:
            continue
        name = os.path.join(names[number], os.fsdecode(raw))
        # A file that is uploaded is written beside its place first.
        if raw.startswith(b".troupe-"):
            if mask & FROM:
                arriving[cookie] = True
            continue
        if mask & TO and arriving.pop(cookie, False):
            if name not in known:
                tell("CREATE", name)
            known.add(name)
            tell("WRITE", name)
            continue
        if mask & (CREATE | TO):
            known.add(name)
        elif mask & (DELETE | FROM):
            known.discard(name)
        for bits, kind in KINDS:
            if mask & bits:
                tell(kind, name)
        if deep and mask & FOLDER and mask & FROM:
            forget(name)
        if deep and mask & FOLDER and mask & (CREATE | TO):
            watch(name, True)
    sys.stdout.flush()
)";

constexpr std::array<std::string_view, 5> kinds
  = {"CREATE", "WRITE", "REMOVE", "RENAME", "CHMOD"};

} // namespace

std::vector<std::string> watch_command(const std::string& path,
                                       bool with_folders_below) {
  return {"python3",
          "-I",
          "-S",
          "-c",
          script,
          path,
          with_folders_below ? "deep" : "flat"};
}

std::optional<watch_line> parse_watch_line(std::string_view line) {
  const auto parsed = json::parse_object(line);
  if (!parsed)
    return std::nullopt;
  const auto* type = parsed->if_contains("type");
  const auto* name = parsed->if_contains("name");
  if (!type || !type->is_string() || !name || !name->is_string())
    return std::nullopt;
  const std::string_view said = type->get_string();
  watch_line out;
  out.ready = said == "ready";
  out.name = std::string{name->get_string()};
  if (out.ready)
    return out;
  for (const auto each : kinds)
    if (each == said) {
      out.type = "EVENT_TYPE_" + std::string{each};
      return out;
    }
  return std::nullopt;
}

std::string to_json(const watch_line& line) {
  json::object_writer out;
  out.text("name", line.name).text("type", line.type);
  return out.finish();
}

std::optional<watch_line> watch_reader::next() {
  for (;;) {
    if (const auto end = held_.find('\n'); end != held_.npos) {
      const auto line
        = parse_watch_line(std::string_view{held_}.substr(0, end));
      held_.erase(0, end + 1);
      if (line)
        return line;
      continue;
    }
    const auto piece
      = program_->read(output_stream::out, from_.out, read_at_once);
    from_.out = piece.next();
    lost_ |= piece.missed != 0;
    if (piece.bytes.empty() || held_.size() > longest_line)
      return std::nullopt;
    held_ += piece.bytes;
  }
}

} // namespace troupe::net::e2b_facade
