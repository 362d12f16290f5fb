#!/usr/bin/env python3
"""links.py BUILD: does what is linked follow tests/arrows.txt as well? A folder
may use what another one defines without including a header of it; the linker
finds that in any program that has both. Fails for each such use."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from arrows import reachable, read_table


def symbols(library):
    """What a static library defines, and what it leaves to others."""
    lines = subprocess.run(["nm", "--portability", library], check=True,
                           text=True, capture_output=True).stdout.splitlines()
    defined, used = set(), set()
    for line in lines:
        name, kind = (line.split() + ["", ""])[:2]
        if kind in ("U", "w", "v"):
            used.add(name)
        elif kind.isupper() and kind != "N":
            defined.add(name)
    return defined, used - defined


def main(build):
    here = os.path.dirname(os.path.abspath(__file__))
    direct, closed = read_table(os.path.join(here, "arrows.txt"))
    folders = {"libtroupe_" + f.replace("/", "_") + ".a": f for f in direct}
    defined, used = {}, {}
    for at, _, files in os.walk(build):
        for file in files:
            if file in folders:
                folder = folders[file]
                defined[folder], used[folder] = symbols(os.path.join(at, file))
    places = {}
    for folder, names in defined.items():
        for name in names:
            places.setdefault(name, set()).add(folder)
    wrong = []
    for folder, names in sorted(used.items()):
        allowed = reachable(folder, direct, closed)
        for name in sorted(names):
            where = places.get(name, set())
            if where and not where & allowed:
                wrong.append(f"{folder} uses {name} of {', '.join(sorted(where))}"
                             ", where it does not look")
    print("\n".join(wrong[:50]))
    print(f"links: {len(wrong)} wrong of {len(defined)} libraries")
    sys.exit(1 if wrong or not defined else 0)


main(sys.argv[1])
