"""Runs, at a real engine."""
import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from support import engine
import troupe


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.t = troupe.Troupe(engine().url)
        cls.addClassCleanup(cls.t.close)

    def test_a_snippet_has_a_value_and_output(self):
        result = self.t.run("print('hi')\n6 * 7", labels={"of": "snippet"})
        self.assertEqual((result.value, result.stdout, result.ok), (42, "hi\n", True))
        self.assertGreater(result.usage.wall_us, 0)
        self.assertIn(result.isolation.layers[0].state, ("enforced", "degraded"))
        labelled = self.t.runs.list(labels={"of": "snippet"}).all()
        self.assertEqual([run.id for run in labelled], [result.id])

    def test_a_failure_is_a_result(self):
        result = self.t.run("1 / 0")
        self.assertEqual((result.ok, result.reason), (False, "raised"))
        self.assertEqual(result.error.name, "ZeroDivisionError")

    def test_a_timeout_is_kept_by_the_engine(self):
        result = self.t.run("import time; time.sleep(60)", timeout=0.2)
        self.assertEqual(result.status, "timeout")

    def test_bytes_come_back_as_bytes(self):
        self.assertEqual(self.t.run(r"b'\x00\xff'").value, b"\x00\xff")
        self.assertEqual(self.t.run(r"{'a': [b'\xff']}").value, {"a": [b"\xff"]})

    def test_files_go_in_and_out(self):
        result = self.t.run(command="tr a-z A-Z <in.txt >out.txt",
                            files={"in.txt": b"hello"}, outputs=["out.txt"])
        self.assertEqual(result.files[0].content, b"HELLO")

    def test_a_large_file_is_fetched(self):
        result = self.t.run(command="head -c 3000000 /dev/zero >big",
                            outputs=["big"])
        file = result.files[0]
        self.assertIsNone(file.content)
        data = self.t.runs.get(result.id).file(file.name)
        self.assertEqual(len(data), file.size)

    def test_a_mistake_is_named_with_its_place(self):
        with self.assertRaises(troupe.Invalid) as caught:
            self.t.run(code="1", limits={"wall_seconds": "soon"})
        self.assertEqual(caught.exception.errors[0].pointer, "/limits/wall_seconds")
        self.assertIn("/limits/wall_seconds", str(caught.exception))

    def test_output_comes_while_it_runs(self):
        events = list(self.t.stream("for i in range(3): print(i, flush=True)"))
        text = "".join(e.data for e in events if e.type == "stdout")
        self.assertEqual(text, "0\n1\n2\n")
        self.assertEqual([e.type for e in events][-1], "end")
        self.assertTrue(events[-1].result.ok)

    def test_leaving_a_stream_ends_the_run(self):
        for event in self.t.stream("import time\nprint(1, flush=True)\ntime.sleep(60)",
                                   labels={"of": "left"}):
            if event.type == "stdout":
                break
        until = time.monotonic() + 10
        while True:
            run, = self.t.runs.list(labels={"of": "left"}).all()
            if run.phase == "ended":
                break
            self.assertLess(time.monotonic(), until)
        self.assertEqual(run.status, "cancelled")

    def test_a_run_can_go_on_by_itself(self):
        run = self.t.start("import time\nprint(1, flush=True)\ntime.sleep(0.3)\n5")
        with self.assertRaises(troupe.WaitTimeout):
            run.wait(0.01)
        self.assertEqual(run.wait().value, 5)
        self.assertEqual(run.get().phase, "ended")
        self.assertEqual(run.logs().stdout, "1\n")
        self.assertEqual([e.type for e in run.events()][-1], "end")
        self.assertEqual(run.rerun().wait(30).value, 5)
        self.assertIn("code", run.request())

    def test_a_run_can_be_cancelled(self):
        run = self.t.start("import time; time.sleep(60)")
        run.cancel()
        self.assertEqual(run.wait(10).status, "cancelled")

    def test_a_key_runs_nothing_twice(self):
        first = self.t.run("import random; random.random()", key="once-only")
        again = self.t.run("import random; random.random()", key="once-only")
        self.assertEqual((first.id, first.value), (again.id, again.value))

    def test_many_run_at_a_time_and_in_order(self):
        runs = ({"code": f"{i} * 2" if i != 3 else "1/0"} for i in range(12))
        items = list(self.t.batch(runs, concurrency=4, ordered=True))
        self.assertEqual([item.index for item in items], list(range(12)))
        self.assertEqual(items[11].result.value, 22)
        self.assertFalse(items[3].result.ok)

    def test_one_client_is_for_all_threads_and_for_processes_forked_off(self):
        with ThreadPoolExecutor(4) as threads:
            values = list(threads.map(lambda i: self.t.run(f"{i} + 1").value,
                                      range(12)))
        self.assertEqual(values, list(range(1, 13)))
        child = os.fork()
        if child == 0:  # with the connections of its parent
            code = 1
            try:
                code = 0 if self.t.run("'child'").value == "child" else 2
            finally:
                os._exit(code)
        self.assertEqual(self.t.run("'parent'").value, "parent")
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_lists_go_on_over_pages(self):
        for _ in range(3):
            self.t.run("1", labels={"of": "pages"})
        pages = self.t.runs.list(limit=1, labels={"of": "pages"})
        self.assertEqual(len(pages.all()), 3)
        self.assertLessEqual(len(pages.page().items), 1)

    def test_what_would_happen_is_explained(self):
        self.assertEqual(self.t.explain("1").candidates[0], "local")


class Tools(unittest.TestCase):
    SOURCE = ('def add(a: int, b: int = 1) -> int:\n    """Adds."""\n'
              '    return a + b\n')

    def setUp(self):
        self.t = troupe.Troupe(engine().url)
        self.addCleanup(self.t.close)

    def test_a_stored_tool_is_called_by_its_name(self):
        stored = self.t.tools.put(source_code=self.SOURCE, tags=["math"])
        self.assertEqual((stored.name, stored.description), ("add", "Adds."))
        with self.assertRaises(troupe.Conflict):
            self.t.tools.create(source_code=self.SOURCE)
        self.assertEqual(self.t.call("add", a=2, b=40), 42)
        self.assertEqual(self.t.options(timeout=5).call("add", a=1), 2)
        self.t.tools.put(source_code='def named(tool: str) -> str:\n'
                         '    "Names."\n    return tool\n')
        self.assertEqual(self.t.call("named", tool="a"), "a")
        self.assertEqual([tool.name for tool in self.t.tools.list(tag="math")],
                         ["add"])
        with self.assertRaises(troupe.Invalid):
            self.t.call("add", a="x" * 3)
        changed = self.t.tools.update("add", description="Sums.",
                                      revision=stored.revision)
        self.assertEqual(changed.description, "Sums.")
        with self.assertRaises(troupe.Conflict):
            self.t.tools.update("add", description="", revision=stored.revision)
        self.t.tools.delete("add")
        with self.assertRaises(troupe.NotFound):
            self.t.tools.get("add")

    def test_a_tool_that_fails_is_raised_with_its_result(self):
        self.t.tools.put(source_code="def broken():\n    '''Breaks.'''\n    raise KeyError('x')\n")
        with self.assertRaises(troupe.ToolFailed) as caught:
            self.t.call("broken")
        self.assertEqual(caught.exception.result.error.name, "KeyError")
        self.assertIn("KeyError", str(caught.exception))

    def test_a_schema_is_derived_without_storing(self):
        derived = self.t.tools.derive_schema(self.SOURCE)
        self.assertEqual(derived.schema["parameters"]["required"], ["a"])


if __name__ == "__main__":
    unittest.main()
