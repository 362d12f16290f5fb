#!/usr/bin/env python3
"""Checks a commit message: subject `room: what` in at most 72 columns, one
idea, and a body that says why if the change is large. `./dev hooks` installs
this as git's commit-msg hook. Usage: commit_message.py FILE"""
import re
import subprocess
import sys

SUBJECT_COLUMNS = 72
LINES_WITHOUT_BODY = 100
SCISSORS = "# ------------------------ >8 ------------------------"
# git writes these subjects itself, or a rebase replaces them.
GENERATED = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")


def mistakes(message, changed_lines):
    """What is wrong with a message for a change of so many lines."""
    message = message.split(SCISSORS)[0]
    lines = [line.rstrip() for line in message.splitlines()
             if not line.startswith("#")]
    while lines and not lines[0]:
        lines.pop(0)
    if not lines:
        return []  # git itself refuses an empty message
    subject, body = lines[0], lines[1:]
    if subject.startswith(GENERATED):
        return []
    found = []
    if not re.match(r"[a-z][\w./-]*: \S", subject):
        found.append("the subject must read 'room: what', such as "
                     "'storage: verify checksums on restore'")
    if len(subject) > SUBJECT_COLUMNS:
        found.append(f"the subject has {len(subject)} columns, at most "
                     f"{SUBJECT_COLUMNS} are allowed")
    if ";" in subject:
        found.append("the subject joins two ideas with ';': make two commits")
    if subject.endswith("."):
        found.append("the subject must not end with a full stop")
    if body and body[0]:
        found.append("the second line must be empty")
    if changed_lines > LINES_WITHOUT_BODY and not any(body):
        found.append(f"the change has {changed_lines} lines: add a body that "
                     "says what was wrong, what is true now, and what was "
                     "measured")
    return found


def staged_lines():
    """Lines that the index adds and deletes; a moved file counts as nothing."""
    stat = subprocess.run(["git", "diff", "--cached", "-M", "--numstat"],
                          check=True, text=True, capture_output=True).stdout
    return sum(int(number) for line in stat.splitlines()
               for number in line.split("\t")[:2] if number.isdigit())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = mistakes(file.read(), staged_lines())
    for mistake in found:
        print("commit message:", mistake, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
