#!/usr/bin/env python3
"""Does a name that was given up stand in the code again? old_words.txt has them,
each with the one to use."""
import os
import re
import subprocess
import sys


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    instead = dict(line.split() for line in open("tests/old_words.txt")
                   if line.strip() and not line.startswith("#"))
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard",
         "*.cpp", "*.hpp"],
        check=True, text=True, capture_output=True).stdout.splitlines()
    found = 0
    for path in filter(os.path.isfile, files):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                for word in re.findall(r"\b[a-z]\w*\b", line):
                    if word in instead:
                        found += 1
                        print(f"{path}:{number}: {word} is {instead[word]} now")
    print(f"old words: {found} in {len(files)} files, of {len(instead)}")
    sys.exit(1 if found else 0)


main()
