// What E2B's own client makes of the stand-in that our tests talk to: as far as
// both agree on every answer, our tests talk to something like E2B.
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'

const url = process.argv[2]
const where = {
  apiKey: process.argv[3],
  apiUrl: url,
  sandboxUrl: url,
  validateApiKey: false,
}

const box = await Sandbox.create('code-interpreter-v1', {
  ...where,
  timeoutMs: 120_000,
  metadata: { troupe: '1', troupe_lease: 'tag' },
  envs: { NAME: `it's "here"` },
  allowInternetAccess: true,
  network: { allowPublicTraffic: false },
})

const code = await box.runCode(`import os\nprint(os.environ['NAME'])`)
assert.equal(code.logs.stdout.join(''), `it's "here"\n`)
assert.equal(code.error, undefined)

const script = await box.runCode('console.log(6 * 7)', { language: 'js' })
assert.equal(script.logs.stdout.join(''), '42\n')

const said = await box.commands.run('echo out; echo err >&2')
assert.equal(said.stdout, 'out\n')
assert.equal(said.stderr, 'err\n')
assert.equal(said.exitCode, 0)

const failed = await box.commands.run('exit 3').catch((why) => why)
assert.equal(failed.exitCode, 3)

const cat = await box.commands.run('cat', { background: true, stdin: true })
await box.commands.sendStdin(cat.pid, 'given')
await box.commands.closeStdin(cat.pid)
assert.equal((await cat.wait()).stdout, 'given')

const list = Sandbox.list({ ...where, query: { metadata: { troupe: '1' } } })
const found = await list.nextItems()
assert.deepEqual(found.map((each) => each.sandboxId), [box.sandboxId])

assert.equal(await box.kill(), true)
assert.equal(await box.kill(), false)
console.log('ok')
