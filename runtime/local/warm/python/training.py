"""What an interpreter does before it is forked, so that it is warm."""

# Neutral work, like no tool in particular: what it touches is in memory
# afterwards, and the specialising interpreter has seen it.
WARM_SOURCE = '''
def summarize(items: list, scale: float = 1.5, label: str = "n"):
    """Adds things up.

    Args:
        items: numbers
        scale: a factor
        label: a name
    """
    total = 0
    seen = {}
    for index, item in enumerate(items):
        total += item * scale
        seen[f"{label}{index}"] = [item, str(item), item > 2]
    try:
        seen["missing"]
    except KeyError as problem:
        seen["problem"] = repr(problem)
    return {"total": round(total, 2), "seen": seen, "empty": None}
'''
WARM_HEAD = {
    "op": "call",
    "function": "summarize",
    "max_value": 1048576,
    "max_text": 50000,
}
# As the engine gives one to every run.
WARM_VARIABLES = {"LETTA_TOOL_ID": "tool-warm", "TROUPE_TOOL_ID": "tool-warm"}
WARM_ARGS = b'{"items": [1, 2.5, 3], "label": "k"}'
# The interpreter rewrites code that it has met often, some eight to twenty
# times, and then leaves it alone; a child that still had to do that would
# write to the pages of every function on its way.
WARM_RUNS = 40

# Everyday work of tools, one kind each. None is ever run in a zygote.
SOURCES = [
    """
import re
from datetime import datetime, timedelta

def work():
    text = "a=1, b=22; c=333"
    pairs = dict(re.findall(r"([a-z])=([0-9]+)", text))
    when = datetime(2024, 2, 29, 12, 30) + timedelta(days=1)
    clean = re.sub("[^a-z]+", "-", text.title().lower())
    return {"pairs": pairs, "when": when.isoformat(), "clean": clean}
""",
    """
import csv
import hashlib
import io
import json
import math

def work():
    rows = list(csv.DictReader(io.StringIO("x,y\\n1,2\\n3,4\\n")))
    rows.sort(key=lambda row: -int(row["x"]))
    text = json.dumps({"rows": rows, "root": math.sqrt(2)}, indent=1)
    print(text)
    return [hashlib.sha256(text.encode()).hexdigest(), json.loads(text)]
""",
    """
import os
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from enum import Enum

class Kind(Enum):
    ONE = 1

@dataclass
class Point:
    x: int
    y: float = 0.5

def work():
    groups = defaultdict(list)
    for n in range(9):
        groups[n % 3].append(Point(n))
    try:
        raise ValueError(os.path.join("a", "b"))
    except ValueError as problem:
        text = str(problem)
    return {"c": Counter(text), "p": asdict(groups[1][0]), "k": Kind.ONE, "t": text}
""",
    """
from typing import List, Optional
try:
    from pydantic import BaseModel
except ImportError:
    class BaseModel:
        def __init__(self, **values):
            self.__dict__.update(values)

def work():
    class Item(BaseModel):
        name: str
        price: Optional[float] = None
        tags: List[str] = []

    return Item(name="a", price="2.5", tags=["t"])
""",
    """
import asyncio
import base64
import random
import uuid

async def work():
    await asyncio.sleep(0)
    data = base64.urlsafe_b64encode(bytes(range(9))).decode()
    return [data, len(str(uuid.uuid4())), random.random() < 2]
""",
    """
def work():
    line = " b a c ".strip().upper()
    parts = line.split() + "x\\ny".splitlines() + list("p-q".partition("-"))
    parts.append("d"), parts.insert(0, "e"), parts.extend(["f"]), parts.reverse()
    parts.sort(key=len), parts.remove("d"), parts.pop(), parts.index("e")
    found = [line.find("A"), line.count("B"), line.startswith("B"), line.endswith("C")]
    text = ", ".join(parts).replace("e", "E").rstrip().lstrip().encode().decode()
    known = dict(zip(parts, range(9)))
    known.update(z=1), known.setdefault("y", 2), known.pop("z"), known.get("n")
    pairs = [(key, value) for key, value in known.items() if isinstance(value, int)]
    seen = set(known.keys()) | {"a"}
    seen.add("b"), seen.discard("c"), seen.update(map(str, known.values()))
    least = min(filter(None, range(3))) + max(1, 2) + sum(reversed([1, 2])) + abs(-1)
    ready = any(word.isdigit() for word in seen) or all(word.isalpha() for word in seen)
    return [text, found, pairs, sorted(seen), least, ready, "%s {}".format(1), f"{2:>3}"]
""",
]
