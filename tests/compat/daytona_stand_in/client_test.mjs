// What Daytona's own client makes of the stand-in that our tests talk to: as
// far as both agree on every answer, our tests talk to something like Daytona.
import assert from 'node:assert/strict'
import { Daytona } from '@daytonaio/sdk'

const [apiUrl, apiKey] = process.argv.slice(2)
const daytona = new Daytona({ apiUrl, apiKey, useDeprecatedPolling: true })

const box = await daytona.create(
  {
    language: 'python',
    labels: { troupe: '1', troupe_lease: 'tag' },
    envVars: { NAME: `it's "here"` },
    public: false,
    networkBlockAll: true,
    autoStopInterval: 15,
    autoDeleteInterval: 0,
  },
  { timeout: 30 },
)
assert.equal(box.state, 'started')

await box.fs.uploadFile(Buffer.from('given'), '/tmp/troupe-input')
await box.process.createSession('troupe')
const begun = await box.process.executeSessionCommand('troupe', {
  command: 'cat < /tmp/troupe-input; echo "$NAME" >&2; exit 3',
  runAsync: true,
})
let command
do command = await box.process.getSessionCommand('troupe', begun.cmdId)
while (command.exitCode === undefined)
assert.equal(command.exitCode, 3)
const logs = await box.process.getSessionCommandLogs('troupe', begun.cmdId)
assert.equal(logs.stdout, 'given')
assert.equal(logs.stderr, `it's "here"\n`)

const found = []
for await (const each of daytona.list({ labels: { troupe: '1' } }))
  found.push(each.id)
assert.deepEqual(found, [box.id])

await box.delete()
await assert.rejects(daytona.get(box.id))
console.log('ok')
process.exit(0) // its telemetry would keep us waiting
