#include "tests/runtime/local/warm/node_table.hpp"

namespace troupe::test {

const std::map<std::string, std::string>& node_table() {
  static const std::map<std::string, std::string> table{
    {"a value", "exports.f = () => ({a: [1, 2.5, null, true, 'x']})"},
    {"nothing", "exports.f = () => {}"},
    {"both outputs",
     "exports.f = () => { console.log('o'); console.error('e') }"},
    {"raw outputs",
     "const fs = require('fs'); exports.f = () => {"
     " fs.writeSync(1, 'o'); fs.writeSync(2, 'e') }"},
    {"an exception",
     "exports.f = () => { function g() { throw new RangeError('bad') } g() }"},
    {"a rejected promise",
     "exports.f = async () => { await null; throw 'text' }"},
    {"an unhandled rejection",
     "exports.f = () => { Promise.reject(new Error('late'));"
     " return new Promise((r) => setTimeout(r, 50)) }"},
    {"an uncaught exception",
     "exports.f = () => new Promise(() =>"
     " setTimeout(() => { throw new Error('later') }, 5))"},
    {"a promise that never settles", "exports.f = () => new Promise(() => {})"},
    {"a syntax error", "exports.f = ("},
    {"syntax that is refused by its name",
     "class A { @log m() {} }\nexports.f = () => 1"},
    {"half a surrogate pair in an error",
     "exports.f = () => { throw new Error('a\\ud800b') }"},
    {"a first line for a shell",
     "#!/usr/bin/env node\nexports.f = () => { throw new Error('line 2') }"},
    {"a class instead of a function", "exports.f = class f {}"},
    {"no such function", "exports.g = () => 1"},
    {"an exit", "exports.f = () => process.exit(3)"},
    {"a signal",
     "exports.f = () => { process.kill(process.pid, 'SIGKILL');"
     " return new Promise(() => {}) }"},
    {"who it is",
     "const os = require('os'); exports.f = () => [process.getuid(),"
     " process.getgid(), process.getgroups(), process.cwd(), os.hostname()]"},
    {"its process",
     "const fs = require('fs'); exports.f = () => [process.argv.slice(1),"
     " process.execArgv, require.main && require.main.filename, process.title,"
     " String(process.pid) === fs.readlinkSync('/proc/self')]"},
    {"its environment", "exports.f = () => Object.entries(process.env).sort()"},
    {"its descriptors",
     "const fs = require('fs'); exports.f = () =>"
     " [0, 1, 2, 3].map((n) => fs.readlinkSync('/proc/self/fd/' + n)"
     ".replace(/\\d+/, '')).concat(fs.readdirSync('/proc/self/fd')"
     ".filter((n) => fs.existsSync('/proc/self/fd/' + n)"
     " && fs.readlinkSync('/proc/self/fd/' + n).startsWith('socket')).length)"},
    {"its rights",
     "const fs = require('fs'); exports.f = () =>"
     " fs.readFileSync('/proc/self/status', 'utf8').split('\\n').filter((l) =>"
     " /^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups)/.test(l))"},
    {"its signals",
     "const fs = require('fs'); exports.f = () =>"
     " fs.readFileSync('/proc/self/status', 'utf8').split('\\n').filter((l) =>"
     " /^(SigBlk|SigIgn)/.test(l))"},
    // As a set: a world of a strict slot has a /proc that covers another.
    {"its mounts",
     "const fs = require('fs'); exports.f = () => [...new Set("
     "fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\\n')"
     ".map((l) => l.split(' ').slice(4, 6).join(' ')))].sort()"},
    {"its places",
     "const fs = require('fs'); exports.f = () =>"
     " ['/', '/tmp', '/dev', '/etc', '/dev/shm'].map((d) => "
     "fs.readdirSync(d))"},
    {"denied files",
     "const fs = require('fs'); exports.f = () => ['/etc/shadow', '/root/x',"
     " '/proc/1/environ', '/sys/kernel'].map((p) => {"
     " try { fs.readFileSync(p); return p } catch (e) { return e.code } })"},
    {"a write beyond its place",
     "const fs = require('fs'); exports.f = () => {"
     " try { fs.writeFileSync('/usr/x', '') } catch (e) { return e.code } }"},
    {"a timer",
     "exports.f = () => new Promise((r) => {"
     " const t = Date.now(); setTimeout(() => r(Date.now() - t >= 99), 100) "
     "})"},
    {"the thread pool",
     "const {promises: fs} = require('fs'); exports.f = async () => {"
     " await fs.writeFile('/tmp/x', 'text'); return fs.readFile('/tmp/x',"
     " 'utf8') }"},
    {"hashing elsewhere",
     "const {pbkdf2} = require('crypto'); exports.f = () =>"
     " new Promise((r, no) => pbkdf2('p', 's', 10, 8, 'sha256', (e, k) =>"
     " e ? no(e) : r(k.toString('hex'))))"},
    {"packing elsewhere",
     "const {promisify} = require('util'); const z = require('zlib');"
     "exports.f = async () => (await promisify(z.gunzip)("
     "await promisify(z.gzip)('text'))).toString()"},
    {"a subprocess",
     "const {promisify} = require('util');"
     "const run = promisify(require('child_process').execFile);"
     "exports.f = async () => (await run('sh',"
     " ['-c', 'echo $HOME; ls /proc/self/fd | wc -l'])).stdout"},
    {"a subprocess, waited for",
     "const {execFileSync} = require('child_process');"
     "exports.f = () => execFileSync('sh', ['-c', 'echo x; exit 0'])"
     ".toString()"},
    {"a worker",
     "const {Worker} = require('worker_threads'); exports.f = () =>"
     " new Promise((r, no) => { const w = new Worker("
     "\"require('worker_threads').parentPort.postMessage(6 * 7)\","
     " {eval: true}); w.on('message', r); w.on('error', no) })"},
    {"web assembly",
     "exports.f = async () => { const m = await WebAssembly.compile("
     "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); return String(m) }"},
    {"an import",
     "import { basename } from 'node:path';\n"
     "export const f = () => basename('/a/b')"},
    {"a dynamic import",
     "exports.f = async () => (await import('node:os')).EOL"},
    {"much garbage",
     "exports.f = () => { let n = 0; for (let i = 0; i < 3e5; ++i)"
     " n += [i, String(i)].length; return n }"},
    {"hot code",
     "exports.f = () => { let n = 0; for (let i = 0; i < 3e6; ++i)"
     " n = (n + i * i) % 1000003; return n }"},
  };
  return table;
}

std::span<const narrow_run> node_limits() {
  static constexpr narrow_run all[]{
    {"exports.f = () => { const a = []; for (;;)"
     " a.push(Buffer.alloc(1 << 24, 1)) }",
     [](limits& l) { l.memory_bytes = 256u << 20; }, "memory_limit"},
    {"exports.f = () => { for (;;); }",
     [](limits& l) { l.cpu = std::chrono::milliseconds{1'000}; }, "cpu_clock"},
    {"exports.f = () => new Promise((r) => setTimeout(r, 60000))",
     [](limits& l) { l.wall = std::chrono::milliseconds{500}; }, "seccomp"},
    {"const {spawnSync} = require('child_process'); exports.f = () => {"
     " const r = spawnSync('sh', ['-c', 'for i in $(seq 40); do"
     " sleep 9 > /dev/null 2>&1 & done']); throw new Error(String(r.status)) }",
     [](limits& l) { l.processes = 16; }, "process_limit"},
    {"const fs = require('fs'); exports.f = () =>"
     " fs.writeFileSync('/tmp/x', Buffer.alloc(4 << 20))",
     [](limits& l) { l.disk_bytes = 1u << 20; }, "private_tree"},
    {"const fs = require('fs'); exports.f = () => {"
     " const a = []; for (;;) a.push(fs.openSync('/dev/null')) }",
     [](limits& l) { l.open_files = 64; }, "seccomp"},
    {"exports.f = () => console.log('x'.repeat(100000))",
     [](limits& l) { l.output_bytes = 1'000; }, "seccomp"},
    {"exports.f = () => 'x'.repeat(100000)",
     [](limits& l) { l.result_bytes = 10'000; }, "seccomp"},
  };
  return all;
}

} // namespace troupe::test
