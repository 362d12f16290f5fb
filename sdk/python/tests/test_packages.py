"""What is installed is made by the standard library alone, twice the same."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import HERE

sys.path.insert(0, os.path.dirname(HERE))
import build_backend  # noqa: E402


def contents(path):
    with open(path, "rb") as file:
        return file.read()


class Packages(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.at = made.name

    def test_the_same_files_make_the_same_bytes(self):
        for make in (build_backend.build_wheel, build_backend.build_sdist):
            path = os.path.join(self.at, make(self.at))
            first = contents(path)
            os.remove(path)
            make(self.at)
            self.assertEqual(contents(path), first)

    def test_a_wheel_has_the_types_and_no_tests(self):
        path = os.path.join(self.at, build_backend.build_wheel(self.at))
        names = zipfile.ZipFile(path).namelist()
        self.assertTrue(any(name.endswith("/LICENSE") for name in names))
        self.assertIn("troupe/py.typed", names)
        self.assertIn("troupe/_sync/client.py", names)
        self.assertEqual([name for name in names if "test" in name], [])

    def test_it_is_installed_without_an_index(self):
        for package in (HERE + "/..",
                        os.path.join(self.at, build_backend.build_wheel(self.at)),
                        os.path.join(self.at, build_backend.build_sdist(self.at))):
            target = os.path.join(self.at, "target")
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                 "--disable-pip-version-check", "--upgrade", "--target", target,
                 package], capture_output=True, text=True)
            if "No module named pip" in done.stderr:
                self.skipTest("there is no pip here")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            said = subprocess.run(
                [sys.executable, "-c", "import troupe; print(troupe.__file__, "
                 "troupe.__version__)"], cwd=self.at, env={"PYTHONPATH": target},
                capture_output=True, text=True).stdout
            self.assertEqual(said.split(), [
                os.path.join(target, "troupe/__init__.py"),
                build_backend._version()])


if __name__ == "__main__":
    unittest.main()
