#!/usr/bin/env python3
"""Does a name that was given up stand in the sources again? old_words.txt has
them, each with the one to use."""
import os
import re
import subprocess
import sys

CODE = (".cpp", ".hpp")
TEXTS = CODE + (".md", ".ini", ".json", ".html", ".py", ".mjs", ".cjs", ".sh",
                ".service")
NO_TEXTS = ("CHANGELOG.md", "tests/old_words.txt")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    instead = dict(line.split() for line in open("tests/old_words.txt")
                   if line.strip() and not line.startswith("#"))
    public = [name for name in instead
              if not name.isidentifier() or name.startswith("troupe_")]
    shown = re.compile(r"(?<![\w-])(?:%s)(?![\w-])"
                       % "|".join(map(re.escape, sorted(public))))
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True, text=True, capture_output=True).stdout.splitlines()
    files = [path for path in files if path.endswith(TEXTS)
             and path not in NO_TEXTS and os.path.isfile(path)]
    found = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words = shown.findall(line)
                if path.endswith(CODE):
                    words += [word for word in re.findall(r"\b[a-z]\w*\b", line)
                              if word in instead and word not in public]
                for word in words:
                    found += 1
                    print(f"{path}:{number}: {word} is {instead[word]} now")
    print(f"old words: {found} in {len(files)} files, of {len(instead)}")
    sys.exit(1 if found else 0)


main()
