"""The examples of the documents do what their comments say."""
import contextlib
import io
import os
import re
import tempfile
import unittest
from unittest import mock

from support import HERE, engine

ROOT = os.path.join(HERE, "../../..")
DOCUMENTS = ["README.md", "sdk/python/README.md", "docs/guides/sdks.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
# What a line of an example prints.
EXPECTED = re.compile(r"^\s*(?:\S.*: )?print\(.*\)  # (.*)$", re.M)


class Documents(unittest.TestCase):
    def run_document(self, name, directory):
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        self.assertTrue(blocks, name + " has no examples")
        names = {"__name__": "example"}
        for number, block in enumerate(blocks):
            path = os.path.join(directory, "example_%d.py" % number)
            with open(path, "w", encoding="utf-8") as file:
                file.write(block)  # `@tool` reads its source there
            said = io.StringIO()
            with self.subTest(name, number=number), \
                    contextlib.redirect_stdout(said):
                exec(compile(block, path, "exec"), names)
            lines = said.getvalue().splitlines()
            for expected in EXPECTED.findall(block):
                self.assertIn(expected.strip(), lines, block)

    def test_their_examples_work(self):
        with mock.patch.dict(os.environ, TROUPE_SERVER=engine().url), \
                tempfile.TemporaryDirectory() as directory:
            for name in DOCUMENTS:
                if os.path.exists(os.path.join(ROOT, name)):
                    self.run_document(name, directory)


if __name__ == "__main__":
    unittest.main()
