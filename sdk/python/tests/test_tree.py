"""What is written by scripts is up to date."""
import os
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


if __name__ == "__main__":
    unittest.main()
