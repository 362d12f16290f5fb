"""What a type checker knows of the client. It is never run: mypy --strict reads
it, and says so if a mistake that is marked here is none to it."""
from typing import Dict, List, Optional

from troupe import AsyncTroupe, Process, RunResult, Sandbox, Troupe, tool


@tool(timeout=5, tags=["math"])
def power(base: int, exponent: int = 2) -> int:
    return int(base ** exponent)


@tool
def shout(word: str) -> str:
    return word.upper()


@tool
async def count(word: str) -> int:
    return len(word)


def tools() -> None:
    length: int = count.remote("a")
    count.remote(1)  # type: ignore[call-overload]
    number: int = power.remote(3, exponent=2)
    again: int = power(3)
    word: str = shout.remote("a")
    wrong: str = power.remote(3)  # type: ignore[assignment]
    power.remote("3")  # type: ignore[arg-type]
    power.remote(3, exponents=2)  # type: ignore[call-arg]
    print(length, number, again, word, wrong)


def runs(t: Troupe) -> None:
    result: RunResult = t.run("1", timeout=5, labels={"a": "b"}, network="off")
    t.run("1", timeouts=5)  # type: ignore[call-arg]
    t.run("1", timeout=[5])  # type: ignore[arg-type]
    text: str = result.stdout
    code: Optional[int] = result.exit_code
    names: List[str] = [run.id for run in t.runs.list()]
    ids: Dict[int, Optional[RunResult]] = {
        item.index: item.result for item in t.batch([{"code": "1"}])}
    result.status = "success"  # type: ignore[misc]
    print(text, code, names, ids)


def sandboxes(t: Troupe) -> None:
    with t.sandboxes.create(timeout=60, network=["example.org:443"]) as sandbox:
        here: Sandbox = sandbox
        process: Process = here.start(["sleep", "1"])
        code: Optional[int] = process.wait().exit_code
        kept: str = here.run("1").state
        here.files.write("/tmp/a", 1)  # type: ignore[arg-type]
        print(code, kept)


async def later(t: AsyncTroupe) -> None:
    text: str = (await t.run("1")).stdout
    async for event in t.stream("1"):
        print(event.sequence + 1, text)
