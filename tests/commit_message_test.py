#!/usr/bin/env python3
"""Tests of commit_message.py, and of the hook that `./dev hooks` installs."""
import os
import shutil
import subprocess
import tempfile
import unittest

from commit_message import mistakes

HERE = os.path.dirname(os.path.abspath(__file__))
FINE = "storage: verify checksums on restore"


class Messages(unittest.TestCase):
    def refused(self, message, lines, words):
        found = mistakes(message, lines)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_accepts_a_small_change_without_a_body(self):
        self.assertEqual(mistakes(FINE + "\n", 100), [])

    def test_demands_a_body_above_100_lines(self):
        self.refused(FINE + "\n\n# a comment of git\n", 101, "add a body")
        self.assertEqual(mistakes(FINE + "\n\nIt was not checked.\n", 5000), [])

    def test_does_not_take_the_diff_of_a_verbose_commit_for_a_body(self):
        scissors = "\n# ------------------------ >8 ------------------------\n"
        self.refused(FINE + scissors + "diff --git a/a b/a\n", 101, "add a body")

    def test_bounds_the_subject_to_72_columns(self):
        self.assertEqual(mistakes("net: " + "x" * 67, 1), [])
        self.refused("net: " + "x" * 68, 1, "73 columns")

    def test_demands_a_room(self):
        for subject in ("Verify checksums", "storage : verify", "storage:verify"):
            self.refused(subject, 1, "room: what")
        self.assertEqual(mistakes("runtime/local: cut idle slots", 1), [])

    def test_refuses_two_ideas_in_one_subject(self):
        self.refused("net: bound bodies; rename the router", 1, "two ideas")

    def test_refuses_a_full_stop_and_a_second_line(self):
        self.refused(FINE + ".", 1, "full stop")
        self.refused(FINE + "\nand more", 1, "second line")

    def test_leaves_subjects_of_git_alone(self):
        for subject in ("Merge branch 'words'", 'Revert "x; y"', "fixup! x."):
            self.assertEqual(mistakes(subject, 5000), [])


class Hook(unittest.TestCase):
    """In a repository of its own, with this checker and ./dev."""

    def git(self, *words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org",
             *words], cwd=self.place, text=True, capture_output=True)

    def setUp(self):
        self.place = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.place)
        os.mkdir(os.path.join(self.place, "tests"))
        for name in ("dev", "tests/commit_message.py"):
            shutil.copy(os.path.join(HERE, "..", name),
                        os.path.join(self.place, name))
        self.assertEqual(self.git("init", "-q").returncode, 0)
        made = subprocess.run(["./dev", "hooks"], cwd=self.place, text=True,
                              capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.git("add", "-A")

    def test_counts_the_staged_lines(self):
        refused = self.git("commit", "-m", "dev: begin")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("add a body", refused.stderr)
        fine = self.git("commit", "-m", "dev: begin", "-m", "There was nothing.")
        self.assertEqual(fine.returncode, 0, fine.stderr)
        self.git("mv", "dev", "dev2")
        moved = self.git("commit", "-m", "dev: move the script")
        self.assertEqual(moved.returncode, 0, moved.stderr)

    def test_is_not_put_in_the_place_of_another_one(self):
        hook = os.path.join(self.place, ".git", "hooks", "commit-msg")
        with open(hook, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        again = subprocess.run(["./dev", "hooks"], cwd=self.place, text=True,
                               capture_output=True)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("commit-msg", again.stderr)


if __name__ == "__main__":
    unittest.main()
