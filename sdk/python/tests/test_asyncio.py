"""The client for asyncio, at a real engine."""
import asyncio
import time
import unittest

from support import engine
import troupe


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.t = troupe.AsyncTroupe(engine().url)

    async def asyncTearDown(self):
        self.t.close()

    async def test_runs_go_side_by_side(self):
        results = await asyncio.gather(*(self.t.run(f"{i} + 1") for i in range(8)))
        self.assertEqual([r.value for r in results], list(range(1, 9)))

    async def test_a_cancelled_task_ends_its_run(self):
        task = asyncio.create_task(self.t.run("import time; time.sleep(60)",
                                              labels={"of": "task"}))
        while not await self.t.runs.list(labels={"of": "task"}).all():
            self.assertFalse(task.done())
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        until = time.monotonic() + 10
        while True:
            run, = await self.t.runs.list(labels={"of": "task"}).all()
            if run.phase == "ended":
                break
            self.assertLess(time.monotonic(), until)
        self.assertEqual(run.status, "cancelled")

    async def test_output_comes_while_it_runs(self):
        seen = [event async for event in self.t.stream("print(1)\n2")]
        self.assertEqual(seen[-1].result.value, 2)
        self.assertIn("1\n", [event.data for event in seen])

    async def test_a_sandbox_lives_as_long_as_its_block(self):
        async with await self.t.sandboxes.create() as sandbox:
            self.assertEqual((await sandbox.exec("echo hi")).stdout, "hi\n")
            self.assertEqual((await sandbox.run("1 + 1")).text, "2")
            process = await sandbox.start("echo out")
            self.assertEqual([text async for text in process], ["out\n"])
        with self.assertRaises(troupe.Gone):
            await sandbox.refresh()

    async def test_many_runs_come_as_they_end(self):
        items = [item async for item in self.t.batch(
            {"code": str(i)} for i in range(5))]
        self.assertEqual({item.index: item.result.value for item in items},
                         {i: i for i in range(5)})


class Loops(unittest.TestCase):
    def test_one_client_works_in_one_loop_after_the_other(self):
        client = troupe.AsyncTroupe(engine().url)

        async def once():
            result = await client.run("3")
            client.close()
            return result.value
        self.assertEqual([asyncio.run(once()), asyncio.run(once())], [3, 3])


if __name__ == "__main__":
    unittest.main()
