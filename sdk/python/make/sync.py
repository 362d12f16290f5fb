#!/usr/bin/env python3
"""sync.py [--check]: makes troupe/_sync of troupe/_async, so that there is one
source. With --check it only says whether that was done."""
import os
import re
import sys

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../troupe")
NOTE = "# Made of ../_async/%s by make/sync.py: do not edit.\n"
WORDS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync([A-Z]\w*)", r"\1"),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bimport asyncio\n(?=(.*\n)*?import time\n)", ""),
    (r"\.\._streams\b", ".._sockets"),
    (r"The client for asyncio\. .*\.", "The client without asyncio."),
]


def synchronous(text):
    for pattern, instead in WORDS:
        text = re.sub(pattern, instead, text)
    return text


def main():
    stale = []
    for name in sorted(os.listdir(os.path.join(PACKAGE, "_async"))):
        if not name.endswith(".py"):
            continue
        with open(os.path.join(PACKAGE, "_async", name), encoding="utf-8") as file:
            text = NOTE % name + synchronous(file.read())
        path = os.path.join(PACKAGE, "_sync", name)
        try:
            with open(path, encoding="utf-8") as file:
                same = file.read() == text
        except FileNotFoundError:
            same = False
        if not same:
            stale.append(name)
            if "--check" not in sys.argv:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if stale and "--check" in sys.argv:
        print("make/sync.py was not run since these have changed:",
              ", ".join(stale))
        sys.exit(1)


main()
