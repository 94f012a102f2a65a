"""What the checks share: the project's files and how to report findings."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tracked(*patterns):
    """Paths of existing files that git tracks or would (not ignored)."""
    command = ["git", "ls-files", "-z", "--cached", "--others",
               "--exclude-standard", "--", *patterns]
    listing = subprocess.run(command, cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    names = sorted(set(filter(None, listing.split("\0"))))
    return [name for name in names if (ROOT / name).is_file()]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="surrogateescape")


def finish(check, findings, summary):
    """Prints the findings and exits: 1 if there are any."""
    for finding in findings:
        print(finding)
    state = f"{len(findings)} findings" if findings else "good"
    print(f"{check}: {state} ({summary})")
    sys.exit(1 if findings else 0)
