// What Daytona's own client makes of the stand-in that our tests talk to: as
// far as both agree on every answer, our tests talk to something like Daytona.
import assert from 'node:assert/strict'
import { Daytona } from '@daytonaio/sdk'

const [apiUrl, apiKey, organizationId] = process.argv.slice(2)

if (organizationId) {
  // With a token of an organization, from an image, to a few hosts.
  const daytona = new Daytona({
    apiUrl,
    jwtToken: apiKey,
    organizationId,
    target: 'eu',
    useDeprecatedPolling: true,
  })
  const box = await daytona.create({
    image: 'python:3.12-slim',
    labels: { troupe: '1' },
    envVars: { NAME: 'x' },
    public: false,
    networkAllowList: '10.0.0.0/8',
    domainAllowList: 'example.org',
    autoStopInterval: 15,
    autoDeleteInterval: 0,
  })
  await box.process.createSession('troupe')
  const { cmdId } = await box.process.executeSessionCommand('troupe', {
    command: 'true',
    runAsync: true,
  })
  let command
  do command = await box.process.getSessionCommand('troupe', cmdId)
  while (command.exitCode === undefined)
  await box.process.getSessionCommandLogs('troupe', cmdId)
  await box.delete()
  console.log('ok')
  process.exit(0)
}

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
await box.refreshActivity()

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

// What `troupe backend test` does beside runs.
const folder = '/tmp/troupe-their-trial'
const text = (path) => box.fs.downloadFile(path).then(String)
await box.fs.createFolder(folder, '755')
await box.fs.uploadFiles([
  { source: Buffer.from('hay\nneedle\n'), destination: `${folder}/a b.txt` },
  { source: Buffer.from('more'), destination: `${folder}/deeper/b.bin` },
])
assert.equal(await text(`${folder}/deeper/b.bin`), 'more')
const names = (await box.fs.listFiles(folder)).map((each) => each.name)
assert.deepEqual(names.sort(), ['a b.txt', 'deeper'])
assert.equal((await box.fs.getFileDetails(`${folder}/a b.txt`)).size, 11)
assert.equal((await box.fs.searchFiles(folder, '*.txt')).files.length, 1)
assert.equal((await box.fs.findFiles(folder, 'needle')).length, 1)
await box.fs.replaceInFiles([`${folder}/a b.txt`], 'needle', 'thread')
assert.equal(await text(`${folder}/a b.txt`), 'hay\nthread\n')
await box.fs.setFilePermissions(`${folder}/a b.txt`, { mode: '600' })
await box.fs.moveFiles(`${folder}/a b.txt`, `${folder}/deeper/c.txt`)
await box.fs.deleteFile(`${folder}/deeper/c.txt`)
await box.fs.deleteFile(`${folder}/deeper`, true)
await assert.rejects(box.fs.getFileDetails(`${folder}/deeper`))

const word = `it's "here"`
const ran = await box.process.executeCommand(
  'printf %s "$WORD"; exit 3',
  '/tmp',
  { WORD: word },
  30,
)
assert.equal(ran.exitCode, 3)
assert.equal(ran.result, word)
const code = await box.process.codeRun(
  `import os, sys\nprint(sys.argv[1] + os.environ['WORD'])`,
  { argv: ['x'], env: { WORD: word } },
  30,
)
assert.equal(code.result, `x${word}\n`)

const origin = `${folder}/origin.git`
const repository = `${folder}/repository`
await box.process.executeCommand(`git init -q --bare -b main ${origin}`)
const { git } = box
await git.clone(origin, repository, undefined, undefined, 'me', 'word')
await box.fs.uploadFile(Buffer.from('a\n'), `${repository}/a.txt`)
assert.equal((await git.status(repository)).fileStatus[0].name, 'a.txt')
await git.add(repository, ['a.txt'])
await git.commit(repository, 'a first one', 'Troupe', 'trial@example.org')
await git.push(repository, 'me', 'word')
await git.pull(repository, 'me', 'word')
await git.createBranch(repository, 'other')
assert.ok((await git.branches(repository)).branches.includes('other'))
await git.checkoutBranch(repository, 'other')
assert.equal((await git.status(repository)).currentBranch, 'other')
await git.checkoutBranch(repository, 'main')
await git.deleteBranch(repository, 'other')
await git.clone(origin, `${folder}/branch`, 'main')

assert.ok((await box.getPreviewLink(3000)).url.startsWith('https://'))
assert.ok((await box.getSignedPreviewUrl(3000, 60)).url.startsWith('https://'))
await box.setLabels({ ...box.labels, troupe_trial: '1' })
await box.setAutostopInterval(30)
await box.setAutoDeleteInterval(60)
await box.stop()
assert.equal(box.state, 'stopped')
await box.start()
assert.equal(box.state, 'started')

const found = []
for await (const each of daytona.list({ labels: { troupe: '1' }, limit: 100 }))
  found.push(each.id)
assert.deepEqual(found, [box.id])

await box.delete()
await assert.rejects(daytona.get(box.id))
console.log('ok')
process.exit(0) // its telemetry would keep us waiting
