// What E2B's own client makes of the stand-in that our tests talk to: as far as
// both agree on every answer, our tests talk to something like E2B.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'

const [url, apiKey, envd] = process.argv.slice(2)
const where = {
  apiKey,
  apiUrl: url,
  sandboxUrl: url,
  validateApiKey: false,
}

const box = await Sandbox.create('code-interpreter-v1', {
  ...where,
  timeoutMs: 120_000,
  metadata: { troupe: '1', troupe_lease: 'tag' },
  allowInternetAccess: true,
  network: { allowPublicTraffic: false },
})

const code = await box.runCode('print(6 * 7)')
assert.equal(code.logs.stdout.join(''), '42\n')
assert.equal(code.error, undefined)

const script = await box.runCode('console.log(6 * 7)', { language: 'js' })
assert.equal(script.logs.stdout.join(''), '42\n')

const said = await box.commands.run('echo "$NAME"; echo err >&2', {
  envs: { NAME: `it's "here"` },
})
assert.equal(said.stdout, `it's "here"\n`)
assert.equal(said.stderr, 'err\n')
assert.equal(said.exitCode, 0)

const failed = await box.commands.run('exit 3').catch((why) => why)
assert.equal(failed.exitCode, 3)

if (envd === 'old') {
  // It cannot be told that an input ends: so that comes as a file.
  await box.files.write('/tmp/troupe-their-input', 'given')
  const cat = await box.commands.run('cat < /tmp/troupe-their-input')
  assert.equal(cat.stdout, 'given')
} else {
  const cat = await box.commands.run('cat', { background: true, stdin: true })
  await box.commands.sendStdin(cat.pid, 'given')
  await box.commands.closeStdin(cat.pid)
  assert.equal((await cat.wait()).stdout, 'given')
}
assert.equal(await box.isRunning(), true)

// What `troupe backend test` does beside runs.
const folder = `/tmp/troupe-their-trial-${process.pid}`
await box.files.makeDir(folder)
await box.files.write([
  { path: `${folder}/a file.txt`, data: 'text\n' },
  { path: `${folder}/deeper/b.bin`, data: 'more' },
])
await box.files.write(`${folder}/a file.txt`, 'text\n')
const names = (await box.files.list(folder)).map((each) => each.name)
assert.deepEqual(names.sort(), ['a file.txt', 'deeper'])
assert.equal(await box.files.read(`${folder}/a file.txt`), 'text\n')
assert.equal((await box.files.getInfo(`${folder}/a file.txt`)).size, 5)
await box.files.rename(`${folder}/a file.txt`, `${folder}/deeper/c.txt`)
assert.equal(await box.files.exists(`${folder}/a file.txt`), false)
await box.files.remove(folder)
assert.equal(await box.files.makeDir('/tmp'), false)

await box.setTimeout(120_000)
assert.equal((await box.getInfo()).state, 'running')

const sleeper = await box.commands.run('exec sleep 86398', { background: true })
const running = await box.commands.list()
assert.ok(running.some((each) => each.pid === sleeper.pid))
assert.equal(await box.commands.kill(sleeper.pid), true)
await sleeper.wait().catch(() => {}) // over, however that is told
assert.equal(await box.commands.kill(sleeper.pid), false)

const context = await box.createCodeContext({ language: 'python', cwd: '/tmp' })
await box.runCode('kept = 41', { context })
const kept = await box.runCode('print(kept + 1)', { context })
assert.equal(kept.logs.stdout.join(''), '42\n')
assert.equal((await box.listCodeContexts()).length, 1)
await box.restartCodeContext(context)
assert.ok((await box.runCode('print(kept + 1)', { context })).error)
await box.removeCodeContext(context)

await box.pause()
assert.equal((await Sandbox.getInfo(box.sandboxId, where)).state, 'paused')
await box.connect({ timeoutMs: 120_000 })
assert.equal((await box.getInfo()).state, 'running')

const list = Sandbox.list({
  ...where,
  query: { metadata: { troupe: '1' }, state: ['running', 'paused'] },
  limit: 100,
})
const found = []
while (list.hasNext) found.push(...(await list.nextItems()))
assert.deepEqual(found.map((each) => each.sandboxId), [box.sandboxId])

assert.equal(await box.kill(), true)
assert.equal(await box.kill(), false)
console.log('ok')
