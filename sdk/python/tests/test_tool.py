"""`@tool`: what travels, what is refused, and what runs in the engine."""
import asyncio
import dataclasses
import math
import unittest

from support import engine
import troupe
from troupe import tool

LIMIT = 3


@tool(tags=["math"])
def power(base: int, exponent: int = 2) -> int:
    """A power.

    Args:
        base: What is multiplied.
        exponent: How often.
    """
    import math
    return int(math.pow(base, exponent))


def double(x: int) -> int:
    return 2 * x


@dataclasses.dataclass
class Point:
    x: int
    y: int


@tool(include=[double, math])
def quadruple(x: int) -> float:
    """Four times."""
    return math.floor(double(double(x)))


@tool
def fails(word: str) -> str:
    """Fails."""
    raise ValueError(word)


@tool
async def awaited(x: int) -> int:
    """Waits a moment."""
    import asyncio
    await asyncio.sleep(0)
    return x + 1


class Local(unittest.TestCase):
    def test_it_is_still_the_function(self):
        self.assertEqual(power(3), 9)
        self.assertEqual((power.__doc__ or "").splitlines()[0], "A power.")

    def test_its_source_has_no_decorator(self):
        self.assertTrue(power.source.startswith("def power("))
        self.assertTrue(quadruple.source.startswith("def double("))

    def test_what_cannot_travel_is_refused_with_the_reason(self):
        def uses_global():
            return LIMIT

        def positional(x, /):
            return x

        def variable(*xs):
            return xs
        outside = 5

        def closure():
            return outside
        for function, word in ((uses_global, "LIMIT"), (closure, "outside"),
                               (positional, "by name"), (variable, "by name"),
                               (lambda: 1, "lambda"), (len, "not a function")):
            with self.subTest(word), self.assertRaises(troupe.NotATool) as caught:
                tool(function)
            self.assertIn(word, str(caught.exception))

    def test_names_of_its_own_and_of_the_engine_are_no_names_from_outside(self):
        def fine(items: "List[int]") -> "Optional[int]":
            def inner(n):
                return n + start
            start = 1
            return max((inner(i) for i in items), default=None)
        self.assertIn("def fine", tool(fine).source)


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.t = troupe.Troupe(engine().url)
        cls.addClassCleanup(cls.t.close)

    def test_it_runs_in_the_engine(self):
        self.assertEqual(power.bind(self.t).remote(3, exponent=3), 27)
        self.assertEqual(quadruple.bind(self.t).remote(2), 8)
        self.assertEqual(asyncio.run(power.bind(self.t).remote_async(4)), 16)
        self.assertEqual(awaited.bind(self.t).remote(4), 5)
        self.assertEqual(power.bind(self.t).spawn(5).wait().value, 25)

    def test_a_failure_is_raised(self):
        with self.assertRaises(troupe.ToolFailed) as caught:
            fails.bind(self.t).remote("bad")
        self.assertEqual(caught.exception.result.error.name, "ValueError")

    def test_many_values_come_in_order(self):
        many = power.bind(self.t)
        self.assertEqual(list(many.map({"base": i} for i in range(5))),
                         [0, 1, 4, 9, 16])
        found = list(fails.bind(self.t).map([{"word": "a"}], on_error="return"))
        self.assertIsInstance(found[0], troupe.ToolFailed)

    def test_it_can_be_kept(self):
        stored = power.put(self.t)
        self.assertEqual((stored.name, stored.tags), ("power", ["math"]))
        self.assertEqual(self.t.call("power", base=2), 4)
        parameters = power.bind(self.t).schema["parameters"]
        self.assertEqual(parameters["properties"]["base"]["description"],
                         "What is multiplied.")
        self.t.tools.delete("power")


if __name__ == "__main__":
    unittest.main()
