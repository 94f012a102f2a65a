#!/usr/bin/env python3
"""Messages of commits: a subject of at most 72 characters, which is not a
sentence with a full stop; where more than 50 lines change, a body with the
reason, and the figure where it is about speed or bytes.

usage: check_commits.py [BASE]         the commits from BASE to HEAD
       check_commits.py --message FILE  of what is staged: as git's commit-msg hook
"""

import subprocess
import sys

from sources import finish

LONGEST_SUBJECT = 72
MOST_LINES_WITHOUT_BODY = 50


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, text=True,
                          capture_output=True).stdout


def changed_lines(numstat):
    """The sum of the lines added and removed; binary files count none."""
    columns = (line.split("\t")[:2] for line in numstat.splitlines() if line)
    return sum(int(n) for row in columns for n in row if n.isdigit())


def faults(message, lines):
    subject, _, body = message.strip().partition("\n")
    if len(subject) > LONGEST_SUBJECT:
        yield (f"a subject of {len(subject)} characters; {LONGEST_SUBJECT} "
               "are the most")
    if subject.endswith("."):
        yield "a subject that ends with a full stop"
    if body and not body.startswith("\n"):
        yield "no empty line below the subject"
    if lines > MOST_LINES_WITHOUT_BODY and not body.strip():
        yield f"{lines} lines changed and no body: say why"


def check_staged(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().split("\n# ------------------------ >8", 1)[0]
    message = "\n".join(line for line in text.splitlines()
                        if not line.startswith("#"))
    staged = changed_lines(git("diff", "--cached", "--numstat"))
    return [f"commit message: {fault}" for fault in faults(message, staged)]


def check_history(base):
    found = []
    for commit in git("rev-list", "--no-merges", f"{base}..HEAD").split():
        message = git("show", "-s", "--format=%B", commit)
        lines = changed_lines(git("show", "--format=", "--numstat", commit))
        found += [f"{commit[:9]}: {fault}" for fault in faults(message, lines)]
    return found


def main(arguments):
    if arguments[:1] == ["--message"]:
        finish("commits", check_staged(arguments[1]), "the message")
    base = arguments[0] if arguments else "HEAD~1"
    finish("commits", check_history(base), f"{base[:9]}..HEAD")


if __name__ == "__main__":
    main(sys.argv[1:])
