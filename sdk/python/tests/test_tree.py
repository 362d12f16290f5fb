"""What is written by scripts is up to date."""
import os
import re
import subprocess
import sys
import unittest

from support import HERE

SDK = os.path.join(HERE, "../..")


class Tree(unittest.TestCase):
    def run_script(self, *script):
        done = subprocess.run([sys.executable, *script, "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_data_types_are_those_of_the_interface(self):
        self.run_script(os.path.join(SDK, "make_types.py"))

    def test_the_synchronous_client_is_made_of_the_other(self):
        self.run_script(os.path.join(HERE, "../make/sync.py"))

    def test_the_version_is_that_of_the_engine(self):
        pattern = {"../CMakeLists.txt": r"project\(troupe VERSION (\S+)",
                   "python/pyproject.toml": r'^version = "(.*)"',
                   "python/troupe/_version.py": r'__version__ = "(.*)"',
                   "typescript/package.json": r'^  "version": "(.*)"',
                   "typescript/package-lock.json": r'^  "version": "(.*)"',
                   "typescript/README.md": r"troupe-sdk-(\d.*)\.tgz"}
        found = {}
        for name, wanted in pattern.items():
            with open(os.path.join(SDK, name), encoding="utf-8") as file:
                found[name] = re.search(wanted, file.read(), re.M)[1]
        self.assertEqual(len(set(found.values())), 1, found)


if __name__ == "__main__":
    unittest.main()
