#!/usr/bin/env python3
"""Do all includes of ours exist, and do folders look only where arrows.txt lets
them? Fails for each that does not, with its file. No exception is known.

Libraries have rooms of their own, too: see LIBRARIES."""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">\n]+)[">]', re.MULTILINE)
ROOMS = ("runtime", "storage", "net", "actors", "app", "include")
# What a library's headers begin with, and the folders that may include them.
LIBRARIES = {
    "caf/": ("actors/", "app/", "include/"),
    "rocksdb/": ("storage/",),
    "boost/beast": ("net/", "actors/", "app/"),
    "boost/asio": ("runtime/", "net/", "actors/", "app/", "include/",
                   "storage/adapters/"),
    "cryptopp/": ("storage/sealing/",),
    "re2/": ("runtime/model/schema/",),
}


def read_table(path):
    direct, closed = {}, set()
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, arrow, *targets = line.split()
        direct[folder] = set(targets)
        if arrow == "=>":
            closed.add(folder)
    return direct, closed


def reachable(folder, direct, closed):
    if folder in closed:
        return direct[folder]
    found, left = set(), list(direct[folder])
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += direct.get(one, ())
    return found


def find(path, kind, target):
    """The file of ours that an include means, or None."""
    places = [target, "include/" + target]
    if kind == '"':
        places.insert(0, os.path.normpath(
            os.path.join(os.path.dirname(path), target)))
    return next((p for p in places if os.path.isfile(p)), None)


def problems(path, allowed):
    folder = os.path.dirname(path)
    text = open(path, encoding="utf-8").read()
    for kind, target in INCLUDE.findall(text):
        for library, folders in LIBRARIES.items():
            if target.startswith(library) and not path.startswith(folders):
                yield f"{path} includes {target}: {library} is not for it"
        found = find(path, kind, target)
        if not found:
            if kind == '"' or target.startswith(tuple(r + "/" for r in ROOMS)):
                yield f"{path} includes {target}, which is nowhere"
            continue
        to = os.path.dirname(found)
        if to != folder and to not in allowed.get(folder, ()):
            yield f"{path} includes {found}: {folder} does not look there"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    direct, closed = read_table("tests/arrows.txt")
    allowed = {f: reachable(f, direct, closed) for f in direct}
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         *(f"{room}/*.{ending}" for room in ROOMS for ending in ("cpp", "hpp"))],
        check=True, text=True, capture_output=True).stdout.splitlines()
    files = [f for f in files if os.path.isfile(f)]
    wrong = [f"{f} has no line in tests/arrows.txt"
             for f in sorted({os.path.dirname(f) for f in files})
             if f not in direct]
    wrong += [f"{f} may include {t}, and {t} may include {f}"
              for f, to in allowed.items() for t in to
              if f in allowed.get(t, ()) and f < t]
    for path in files:
        wrong += problems(path, allowed)
    print("\n".join(wrong))
    print(f"arrows: {len(wrong)} wrong of {len(files)} files")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
