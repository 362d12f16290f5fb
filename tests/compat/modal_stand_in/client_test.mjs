// What Modal's own client makes of the stand-in that our tests talk to: as far
// as both agree on every answer, our tests talk to something like Modal.
// MODAL_SERVER_URL and MODAL_SANDBOX_V2 come by the environment, as for users.
import assert from 'node:assert/strict'
import { ModalClient } from 'modal'

const [tokenId, tokenSecret] = process.argv.slice(2)
const modal = new ModalClient({ tokenId, tokenSecret })

const app = await modal.apps.fromName('troupe', { createIfMissing: true })
const image = modal.images
  .fromRegistry('python:3.12-slim-bookworm')
  .dockerfileCommands(['RUN python -m pip install requests'])
const box = await modal.sandboxes.create(app, image, {
  command: ['sleep', '120'],
  timeoutMs: 120_000,
  memoryMiB: 512,
  outboundCidrAllowlist: ['10.0.0.0/8'],
  outboundDomainAllowlist: ['example.org'],
  tags: { troupe: '1', troupe_lease: 'tag' },
  env: { NAME: `it's "here"` },
})

async function run(command, input = '') {
  const process = await box.exec(command, {
    timeoutMs: 30_000,
    workdir: '/tmp',
    env: { MORE: 'x' },
  })
  if (input) await process.stdin.writeText(input)
  await process.stdin.close()
  const [stdout, stderr, code] = await Promise.all([
    process.stdout.readText(),
    process.stderr.readText(),
    process.wait(),
  ])
  return { stdout, stderr, code }
}

assert.deepEqual(
  await run(['python3', '-c', `import os; print(os.environ['NAME'])`]),
  { stdout: `it's "here"\n`, stderr: '', code: 0 },
)
assert.deepEqual(await run(['sh', '-c', 'cat; echo err >&2; exit 3'], 'given'), {
  stdout: 'given',
  stderr: 'err\n',
  code: 3,
})
assert.equal(await box.poll(), null)
const found = []
for await (const each of modal.sandboxes.list({
  appId: app.appId,
  tags: { troupe: '1' },
}))
  found.push(each.sandboxId)
assert.deepEqual(found, [box.sandboxId])
await box.terminate()
modal.close()
console.log('ok')
