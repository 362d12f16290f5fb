"""What is written by scripts is up to date, and nothing is forgotten."""
import json
import os
import re
import subprocess
import sys
import unittest

from support import HERE

SDK = os.path.join(HERE, "../..")
# Not for programs that run tools; bytes of a port instead of HTTP; and what
# POST /v1/runs does as well.
LEFT_OUT = {"livez", "readyz", "metrics", "openapi", "docs", "showProblem",
            "tunnelToSandboxPort", "runTool"}


class Tree(unittest.TestCase):
    def run_script(self, *script):
        done = subprocess.run([sys.executable, *script, "--check"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_data_types_are_those_of_the_interface(self):
        self.run_script(os.path.join(SDK, "make_types.py"))

    def test_the_synchronous_client_is_made_of_the_other(self):
        self.run_script(os.path.join(HERE, "../make/sync.py"))

    def test_every_operation_of_the_interface_is_used(self):
        with open(os.path.join(SDK, "../net/api/openapi.json"),
                  encoding="utf-8") as file:
            paths = json.load(file)["paths"]
        for folder in ("python/troupe/_async", "typescript/src"):
            with self.subTest(folder):
                self.assertEqual(self.unused(paths, os.path.join(SDK, folder)), [])

    @staticmethod
    def unused(paths, folder):
        source = ""
        for name in os.listdir(folder):
            if name.endswith((".py", ".ts")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    source += file.read()
        missing = []
        for path, item in paths.items():
            # The last word of a path that is not a variable.
            word = [s for s in path.split("/") if s and "{" not in s][-1]
            for method, operation in item.items():
                if not isinstance(operation, dict) or \
                        operation.get("operationId") in LEFT_OUT:
                    continue
                if not re.search(r"[/\"]%s\b" % re.escape(word), source):
                    missing.append(f"{method} {path}")
        return missing


if __name__ == "__main__":
    unittest.main()
