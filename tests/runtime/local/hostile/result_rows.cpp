// Against the result, and against who carries it: forged and broken answers,
// values that are hostile to whoever turns them into JSON, errors that are
// hostile to whoever describes them, and a runner that was tampered with.
#include "tests/runtime/local/hostile/attack_cases.hpp"

#include <array>

namespace troupe::test {

namespace {

using namespace allowing;

// A frame that the runner could have written itself.
#define PYTHON_FRAME(head, body)                                               \
  "import os, sys, time\n  _f = sys.modules['troupe_runner.frame']\n"          \
  "  good = _f.encode(2, (" head ", " body ", b'', b'', b''))\n  "
#define PYTHON_ANSWER PYTHON_FRAME("b'{\"status\":\"success\"}'", "b'42'")
#define PYTHON_VALUE(body)                                                     \
  PYTHON_FRAME("b'{\"status\":\"success\"}'", body)                            \
  "os.write(3, good); os._exit(0)"
#define NODE_ANSWER                                                            \
  "const fs = require('fs'), c = require('zlib').crc32 || (() => 0);"          \
  "const parts = ['{\"status\":\"success\"}', '42', '', '', '']"               \
  ".map((t) => Buffer.from(t)); const h = Buffer.alloc(32);"                   \
  "h.writeUInt32LE(0x5052547f, 0); h[4] = 1; h[5] = 2;"                        \
  "parts.forEach((p, i) => h.writeUInt32LE(p.length, 8 + 4 * i));"             \
  "let s = c(h.subarray(0, 28), 0); for (const p of parts) s = c(p, s);"       \
  "h.writeUInt32LE(s >>> 0, 28); const good = Buffer.concat([h, ...parts]);"

constexpr std::array all_of_results{
  // -- the channel
  behaviour{"answers_by_itself", "P9", any, "=42", "",
            PYTHON_ANSWER "os.write(3, good); os._exit(0)",
            NODE_ANSWER "fs.writeSync(3, good); process.reallyExit(0)", ""},
  behaviour{"answers_and_stays", "P9", little_time, "wall_timeout", "",
            PYTHON_ANSWER "os.write(3, good); time.sleep(1000)",
            NODE_ANSWER "fs.writeSync(3, good); for (;;);", ""},
  behaviour{"answers_and_eats_memory", "P9", little_memory, "memory_limit",
            "memory_limit",
            PYTHON_ANSWER "os.write(3, good); return len(bytearray(1 << 30))",
            NODE_ANSWER "fs.writeSync(3, good); const all = []; for (;;) "
                        "all.push(Buffer.alloc(8 << 20, 1))",
            ""},
  behaviour{"answers_twice", "P9", any, "=42", "",
            PYTHON_ANSWER "os.write(3, good); return 1",
            NODE_ANSWER "fs.writeSync(3, good); return 1", ""},
  behaviour{"lets_a_grandchild_answer", "P9", any, "=42", "",
            PYTHON_ANSWER "if os.fork() == 0:\n    os.setsid()\n"
                          "    if os.fork() == 0: os.write(3, good)\n"
                          "    else: os.wait()\n    os._exit(0)\n"
                          "  os.wait(); return 1",
            "", ""},
  behaviour{"lets_a_grandchild_spoil_the_answer", "P9", any, "exited", "",
            "import os\n  if os.fork() == 0:\n    if os.fork() == 0:"
            " os.write(3, b'x')\n    else: os.wait()\n    os._exit(0)\n"
            "  os.wait(); return 1",
            "require('fs').writeSync(3, 'x'); return 1", ""},
  behaviour{"promises_more_than_it_sends", "P9", any, "exited", "",
            PYTHON_ANSWER "os.write(3, good[:-1]); os._exit(0)",
            NODE_ANSWER "fs.writeSync(3, good.subarray(0, -1));"
                        " process.reallyExit(0)",
            ""},
  behaviour{"promises_four_gigabytes", "P9", any, "exited", "",
            PYTHON_ANSWER "bad = bytearray(good); bad[12:16] = b'\\xff' * 4\n"
                          "  os.write(3, bad); os._exit(0)",
            "", ""},
  behaviour{"answers_as_if_it_were_the_engine", "P9", any, "exited", "",
            "import os, sys; f = sys.modules['troupe_runner.frame']\n"
            "  os.write(3, f.encode(1, (b'{}', b'', b'', b'', b'')))\n"
            "  os._exit(0)",
            "", ""},
  behaviour{"tells_its_own_end", "P9", any, "=42", "",
            PYTHON_FRAME("b'{\"status\":\"success\",\"reason\":\"cancelled\","
                         "\"exit_code\":7,\"run_id\":\"other\","
                         "\"usage\":{\"wall\":1}}'",
                         "b'42'") "os.write(3, good); os._exit(0)",
            "", ""},
  behaviour{"fails_without_a_shape", "P9", any, "exited", "",
            PYTHON_FRAME("b'{\"status\":\"error\",\"error\":{\"name\":[1],"
                         "\"message\":{},\"traceback\":7}}'",
                         "b''") "os.write(3, good); os._exit(0)",
            "", ""},
  behaviour{"has_a_head_too_deep", "P9", any, "exited", "",
            PYTHON_FRAME("b'[' * 50000", "b'42'") "os.write(3, good);"
                                                  " os._exit(0)",
            "", ""},
  behaviour{"puts_its_output_on_the_channel", "P9", any, "exited", "",
            "import os; os.dup2(3, 1); print('x' * 100); return 1", "", ""},
  behaviour{"puts_its_output_over_the_channel", "P9", any, "exited", "",
            "import os; os.dup2(1, 3); return 1", "", ""},
  behaviour{"puts_a_file_over_the_channel", "P9", any, "exited", "",
            "import os; os.dup2(os.open('/tmp/x', os.O_CREAT | os.O_RDWR), 3);"
            " return 1",
            "", ""},
  behaviour{"shuts_the_channel", "P9", any, "exited", "",
            "import os, socket\n"
            "  socket.socket(fileno=os.dup(3)).shutdown(2); return 1",
            "", ""},
  behaviour{"reads_from_the_channel", "P9", any, "=1", "",
            "import os, socket\n  s = socket.socket(fileno=os.dup(3))\n"
            "  try: s.recv(1, socket.MSG_DONTWAIT)\n"
            "  except BlockingIOError: return 1",
            "", ""},
  // -- values that are no JSON
  behaviour{"answers_nan", "P9", any, "exited", "", PYTHON_VALUE("b'NaN'"), "",
            ""},
  behaviour{"answers_infinity", "P9", any, "exited", "",
            PYTHON_VALUE("b'[1,-Infinity]'"), "", ""},
  behaviour{"answers_a_broken_text", "P9", any, "exited", "",
            PYTHON_VALUE("b'\"\\xff\\xfe\"'"), "", ""},
  behaviour{"answers_half_a_document", "P9", any, "exited", "",
            PYTHON_VALUE("b'{\"a\":'"), "", ""},
  behaviour{"answers_two_documents", "P9", any, "exited", "",
            PYTHON_VALUE("b'1 2'"), "", ""},
  behaviour{"answers_levels_without_end", "P9", any, "exited", "",
            PYTHON_VALUE("b'[' * 100000 + b']' * 100000"), "", ""},
  behaviour{"answers_a_pickle", "P9", any, "exited", "",
            PYTHON_VALUE("__import__('pickle').dumps(print)"), "", ""},
  behaviour{"answers_nothing_at_all", "P9", any, "exited", "",
            PYTHON_VALUE("b''"), "", ""},
  // -- values that bite
  behaviour{"returns_nan", "P9", any, R"(=["NaN","Infinity","-Infinity"])", "",
            "i = float('inf'); return [i - i, i, -i]",
            "return [NaN, Infinity, -Infinity]", ""},
  behaviour{"returns_half_a_character", "P9", any, "=*", "",
            "return ['\\ud800', {'\\udfff': '\\udc00\\ud800'}]",
            "return ['\\ud800', {'\\udfff': '\\udc00\\ud800'}]", ""},
  behaviour{"returns_a_giant_number", "P9", any, "=*", "",
            "return -(7 ** 20000)", "return -(7n ** 20000n)", ""},
  behaviour{"returns_itself", "P9", any, "=*", "",
            "x = {}; x['x'] = [x]; return x",
            "const x = {}; x.x = [x]; return x", ""},
  behaviour{"returns_an_endless_generator", "P9", any, "exited|output_limit",
            "", "import itertools; return itertools.count()",
            "return (function* () { for (;;) yield 1 })()", ""},
  behaviour{"returns_a_lie_about_its_class", "P9", any, "exited|=*", "",
            "class X:\n    __class__ = property(lambda self: str)\n"
            "  return [X()]",
            "return new Proxy({}, {getPrototypeOf() { throw 1 },"
            " ownKeys() { throw 2 }, get() { throw 3 }})",
            ""},
  behaviour{"returns_what_ends_when_it_is_shown", "P9", any, "exited", "",
            "import os\n  class X:\n    def __str__(self): os._exit(0)\n"
            "    __repr__ = __str__\n  return X()",
            "return {toJSON() { process.exit(0) }}", ""},
  behaviour{"returns_what_raises_when_it_is_shown", "P9", any, "exited|=*", "",
            "class X:\n    def __str__(self): raise SystemExit\n"
            "    __repr__ = __str__\n  return X()",
            "return {get x() { throw new Error('no') }}", ""},
  behaviour{"returns_what_is_new_at_every_look", "P9", any, "exited|=*", "",
            "class X(dict):\n    def items(self): return [(1, X())]\n"
            "  return X(a=1)",
            "const make = () => ({toJSON: make}); return make()", ""},
  behaviour{"returns_a_promise_that_lies", "P9", any, "exited", "", "",
            "return {then(yes, no) { throw new Error('never') }}", ""},
  // -- errors that bite
  behaviour{"raises_what_cannot_be_shown", "P9", any, "exited", "",
            "class X(Exception):\n"
            "    def __str__(self): return self.__str__()\n  raise X()",
            "throw {get message() { throw 1 }, get stack() { throw 2 }}", ""},
  behaviour{"raises_a_lie_about_its_class", "P9", any, "exited", "",
            "class M(type):\n"
            "    __name__ = property(lambda c: 1 / 0)\n"
            "  class X(Exception, metaclass=M): pass\n  raise X()",
            "throw Object.assign(new Error('x'), {name: {}, stack: []})", ""},
  behaviour{"raises_a_library", "P9", any, "exited", "",
            "raise ValueError('x' * (8 << 20))",
            "throw new Error('x'.repeat(8 << 20))", ""},
  behaviour{"raises_half_a_character", "P9", any, "exited", "",
            "raise ValueError('\\ud800\\0\\x1b[31m')",
            "throw new Error('\\ud800\\0\\x1b[31m')", ""},
  behaviour{"raises_a_long_chain", "P9", any, "exited", "",
            "e = None\n  for i in range(3000):\n    n = ValueError(i)\n"
            "    n.__cause__ = e\n    e = n\n  raise e",
            "let e; for (let i = 0; i < 3000; ++i) e = new Error('x',"
            " {cause: e}); throw e",
            ""},
  behaviour{"raises_what_ends_it", "P9", any, "exited", "",
            "import os\n  class X(Exception):\n"
            "    def __str__(self): os._exit(0)\n  raise X()",
            "throw {get message() { process.reallyExit(0) }}", ""},
  behaviour{"recurses_without_end", "P9", any, "exited|signaled|memory_limit",
            "",
            "import sys; sys.setrecursionlimit(1 << 30)\n"
            "  def g(): return g()\n  return g()",
            "const g = () => g() + 1; return g()", ""},
  // -- the runner itself
  behaviour{"traces_everything", "P9", any, "exited|=1", "",
            "import sys\n  def t(*a): raise ValueError('traced')\n"
            "  sys.settrace(t); sys.setprofile(t); return 1",
            "process.on('exit', () => { for (;;); }); return 1", ""},
  behaviour{"replaces_what_writes_the_answer", "P9", any, "exited", "",
            "import sys; m = sys.modules\n"
            "  for name in ('frame', 'serve', 'values'):\n"
            "    vars(m['troupe_runner.' + name]).clear()\n  return 1",
            "", ""},
  behaviour{"replaces_what_ends_it", "P9", any, "=1", "",
            "import os; os._exit = os.write = print; return 1",
            "process.reallyExit = process.exit = () => {};"
            " require('fs').closeSync = () => {}; return 1",
            ""},
  behaviour{"replaces_the_builtins", "P9", any, "exited|=1", "",
            "import builtins\n"
            "  for n in ('len', 'isinstance', 'memoryview', 'map', 'type'):\n"
            "    setattr(builtins, n, None)\n  return 1",
            "for (const c of [Array, Object, Buffer, Promise]) c.prototype."
            "constructor = null; Object.prototype.toJSON = () => 7; return 1",
            ""},
  behaviour{"stays_for_the_exit", "P5", any, "=1", "",
            "import atexit, time; atexit.register(time.sleep, 1000); return 1",
            "process.on('beforeExit', () => { for (;;); }); return 1", ""},
  behaviour{"leaves_threads", "P5", any, "=1", "",
            "import threading, time\n  for i in range(5): threading.Thread("
            "target=time.sleep, args=(1000,)).start()\n  return 1",
            "const {Worker} = require('worker_threads'); new Worker("
            "'for (;;);', {eval: true}); setInterval(() => {}, 1); return 1",
            ""},
  behaviour{"writes_over_itself", "P9", any, "signaled|exited", "",
            "import ctypes\n  ctypes.memset(id(len), 255, 4096); return len(1)",
            "", ""},
  behaviour{"asks_to_be_woken_and_ended", "P9", any, "signaled|=1", "",
            "import signal; signal.setitimer(0, 0.001)\n  while True: pass", "",
            "(sleep 0.01; kill -ALRM $$) & wait; while :; do :; done"},
};

#undef PYTHON_FRAME
#undef PYTHON_ANSWER
#undef PYTHON_VALUE
#undef NODE_ANSWER

} // namespace

std::span<const behaviour> result_behaviours() {
  return all_of_results;
}

} // namespace troupe::test
