"""Living sandboxes, at a real engine."""
import unittest

from support import engine
import troupe


class Sandboxes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.t = troupe.Troupe(engine().url)
        cls.addClassCleanup(cls.t.close)
        cls.sandbox = cls.t.sandboxes.create(timeout=120, env={"GREETING": "hi"})
        cls.addClassCleanup(cls.sandbox.delete)

    def test_programs_run_to_their_end(self):
        done = self.sandbox.exec("echo $GREETING $0; cat", stdin="in")
        self.assertEqual((done.ok, done.stdout), (True, "hi /bin/sh\nin"))
        done = self.sandbox.exec(["sh", "-c", "exit 3"], cwd="/tmp")
        self.assertEqual((done.ok, done.exit_code), (False, 3))
        with self.assertRaises(troupe.CommandFailed) as caught:
            self.sandbox.exec("echo bad >&2; exit 4", check=True)
        self.assertEqual(caught.exception.exit_code, 4)
        self.assertIn("bad", str(caught.exception))

    def test_processes_run_beside_each_other(self):
        process = self.sandbox.start("read x; echo got $x", open_stdin=True)
        with self.assertRaises(troupe.WaitTimeout):
            process.wait(0.05)
        process.send("this\n")
        self.assertEqual("".join(process), "got this\n")
        self.assertEqual(process.wait(10).exit_code, 0)
        self.assertEqual(process.read(offset=4).data, "this\n")
        reader = self.sandbox.start("cat; echo end", open_stdin=True)
        reader.close_stdin()
        self.assertEqual("".join(reader), "end\n")
        sleeper = self.sandbox.start(["sleep", "60"], tag="sleeper")
        sleeper.signal("TERM")
        self.assertEqual(sleeper.wait(10).signal, 15)
        self.assertIn("sleeper", [p.info.tag for p in self.sandbox.processes()])
        sleeper.kill()
        with self.assertRaises(troupe.NotFound):
            sleeper.refresh()

    def test_files_are_written_and_read(self):
        files = self.sandbox.files
        files.write("/tmp/there/a b%.txt", "grüße")
        self.assertEqual(files.read("/tmp/there/a b%.txt"), "grüße")
        self.assertEqual([e.name for e in files.list("/tmp/there")], ["a b%.txt"])
        files.move("/tmp/there/a b%.txt", "/tmp/there/c")
        self.assertEqual(files.read_bytes("/tmp/there/c"), "grüße".encode())
        self.assertEqual(files.stat("/tmp/there/c").bytes, 7)
        files.mkdir("/tmp/more/of/it")
        files.remove("/tmp/there")
        self.assertFalse(files.exists("/tmp/there"))
        with self.assertRaises(troupe.NotFound):
            files.read("/tmp/there/c")

    def test_cells_keep_what_they_define(self):
        self.sandbox.run("x = 20")
        heard = []
        cell = self.sandbox.run("print('out')\nx + 1", on_stdout=heard.append)
        self.assertEqual((cell.ok, cell.text, cell.stdout), (True, "21", "out\n"))
        self.assertEqual("".join(heard), "out\n")
        failed = self.sandbox.run("1/0", on_stderr=heard.append)
        self.assertEqual((failed.status, failed.error.name),
                         ("error", "ZeroDivisionError"))

    def test_contexts_are_apart(self):
        context = self.sandbox.contexts.create("python", name="mine")
        context.run("y = 1")
        self.assertEqual(self.sandbox.contexts.get(context.id).run("y").text, "1")
        for event in context.stream("print(1)\nimport time\ntime.sleep(60)"):
            if event.type == "stdout":
                self.assertTrue(context.interrupt())
        self.assertEqual((event.status, event.state), ("interrupted", "kept"))
        self.assertEqual(self.sandbox.run("y").error.name, "NameError")
        self.assertEqual([e.type for e in context.stream("print(2)\n3")],
                         ["stdout", "result", "end"])
        context.restart()
        self.assertEqual(context.run("y").error.name, "NameError")
        self.assertIn("mine", [c.info.name for c in self.sandbox.contexts.list()])
        context.delete()

    def test_a_server_inside_is_asked_from_outside(self):
        self.sandbox.files.write("/tmp/web/hello.txt", "hello")
        server = self.sandbox.start("python3 -m http.server 8123", cwd="/tmp/web")
        self.sandbox.ports.wait(8123)
        answer = self.sandbox.ports.request(8123, "/hello.txt")
        self.assertEqual((answer.status, answer.body), (200, b"hello"))
        self.assertIn("troupe_token=", self.sandbox.ports.url(8123))
        opened = self.sandbox.ports.open(8123, expires_in=60)
        self.assertNotIn(opened.token, repr(opened))
        self.sandbox.ports.close(8123)
        server.kill()

    def test_a_sandbox_is_found_by_its_labels_and_renewed(self):
        with self.t.sandboxes.create(metadata={"of": "labels"}) as sandbox:
            found = self.t.sandboxes.list(metadata={"of": "labels"}).all()
            self.assertEqual([one.id for one in found], [sandbox.id])
            self.assertEqual(sandbox.renew("10m").timeout, 600)
            self.assertEqual(sandbox.change(metadata={"a": "b"}).metadata["a"], "b")
            self.assertEqual(self.t.sandboxes.get(sandbox.id).id, sandbox.id)
        with self.assertRaises(troupe.Gone):
            sandbox.refresh()
        sandbox.delete()  # a second time nothing happens

    def test_it_is_paused_and_resumed(self):
        with self.t.sandboxes.create() as sandbox:
            sandbox.run("z = 5")
            self.assertEqual(sandbox.pause().state, "paused")
            self.assertEqual(sandbox.resume().state, "running")
            sandbox.pause()
            self.assertEqual(self.t.sandboxes.connect(sandbox.id).info.state,
                             "running")
            self.assertEqual(sandbox.run("z").text, "5")
            states = [e.state for e in sandbox.events() if e.type == "state"]
            self.assertIn("paused", states)
            follow = sandbox.events(follow=True)
            self.assertEqual(next(follow).number, 1)
            sandbox.delete()
            self.assertEqual([e.state for e in follow if e.type == "state"][-1],
                             "deleted")

    def test_its_files_are_kept_forked_and_put_back(self):
        with self.t.sandboxes.create() as sandbox:
            sandbox.files.write("/tmp/a", "1")
            snapshot = sandbox.snapshot("first")
            self.addCleanup(self.t.snapshots.delete, snapshot.id)
            sandbox.files.write("/tmp/a", "2")
            copies = sandbox.fork(2)
            self.assertEqual([copy.files.read("/tmp/a") for copy in copies],
                             ["2", "2"])
            for copy in copies:
                copy.delete()
            sandbox.rollback("first")
            self.assertEqual(sandbox.files.read("/tmp/a"), "1")
            with self.t.sandboxes.create(snapshot="first") as other:
                self.assertEqual(other.files.read("/tmp/a"), "1")
            self.assertEqual(self.t.snapshots.get("first").id, snapshot.id)
            self.assertIn(snapshot, self.t.snapshots.list())


if __name__ == "__main__":
    unittest.main()
