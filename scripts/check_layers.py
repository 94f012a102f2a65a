#!/usr/bin/env python3
"""Rooms include downward only, and so do the families of ops and kernels.

Reads the ranks from the block "# rooms" of ARCHITECTURE.md and checks, for each
room, every include and the ROOMS list of its CMakeLists.txt. The block
"# families" lists the folders of a room, each of which includes those before it
alone; files above the folders include any, and are included by any.
"""

import re

from sources import finish, read, tracked

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]neap/(\w+)/', re.MULTILINE)
FAMILY_INCLUDE = re.compile(
    r'^\s*#\s*include\s*"neap/(\w+)/(\w+)/[^"]*"', re.MULTILINE)
ROOM_CALL = re.compile(r"neap_room\((\w+)([^)]*)\)")
KEYWORDS = {"SOURCES", "ROOMS", "LIBRARIES", "PRIVATE_LIBRARIES"}


def read_table(text):
    """Returns {room: rank} and the pairs (from, to) allowed in one rank."""
    block = re.search(r"```text\n# rooms\n(.*?)```", text, re.DOTALL)
    if not block:
        raise SystemExit("ARCHITECTURE.md: no ```text block '# rooms'")
    ranks, allowed = {}, set()
    for line in block.group(1).splitlines():
        words = line.split()
        if line.startswith("allow "):
            allowed.add((words[1], words[3]))
        elif words:
            ranks.update({room: int(words[0]) for room in words[1:]})
    return ranks, allowed


def read_families(text):
    """Returns {room: its folders in order}."""
    block = re.search(r"```text\n# families\n(.*?)```", text, re.DOTALL)
    if not block:
        raise SystemExit("ARCHITECTURE.md: no ```text block '# families'")
    lines = (line.split(":") for line in block.group(1).splitlines())
    return {room: folders.split() for room, folders in lines}


def may_use(room, other, ranks, allowed):
    return (other == room or ranks[other] < ranks[room]
            or (room, other) in allowed)


def check_use(where, room, other, table):
    """Returns a finding, or None when room may use other."""
    ranks, allowed = table
    if other not in ranks:
        return f"{where}: '{other}' is not a room of ARCHITECTURE.md"
    if not may_use(room, other, ranks, allowed):
        return (f"{where}: {room} (rank {ranks[room]}) must not use "
                f"{other} (rank {ranks[other]})")
    return None


def listed_rooms(arguments):
    """The words after ROOMS in a neap_room call."""
    rooms, inside = [], False
    for word in re.sub(r"#.*", "", arguments).split():
        if word in KEYWORDS:
            inside = word == "ROOMS"
        elif inside:
            rooms.append(word)
    return rooms


def check_includes(table):
    for name in tracked("neap/*/*.hpp", "neap/*/*.cpp"):
        room = name.split("/")[1]
        if room not in table[0]:
            yield f"{name}: '{room}' is not a room of ARCHITECTURE.md"
            continue
        # A test may be given more rooms than its room sees, by name.
        if name.endswith(("_test.cpp", "_test.hpp", "_bench.cpp")):
            continue
        text = read(name)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.end()) + 1
            yield check_use(f"{name}:{line}", room, match.group(1), table)


def check_family(name, room, family, order):
    """Findings of one file of a family."""
    if family not in order:
        yield f"{name}: '{family}' is not a family of ARCHITECTURE.md"
        return
    text = read(name)
    for match in FAMILY_INCLUDE.finditer(text):
        other = match.group(2)
        if match.group(1) == room and other in order[order.index(family) + 1:]:
            line = text.count("\n", 0, match.end()) + 1
            yield f"{name}:{line}: {family} must not use {other}"


def check_families(families):
    for room, order in families.items():
        for name in tracked(f"neap/{room}/*/*.hpp", f"neap/{room}/*/*.cpp"):
            if not name.endswith(("_test.cpp", "_test.hpp", "_bench.cpp")):
                yield from check_family(name, room, name.split("/")[2], order)


def check_room_lists(table):
    for name in tracked("neap/*/CMakeLists.txt"):
        folder = name.split("/")[1]
        for room, arguments in ROOM_CALL.findall(read(name)):
            if room != folder:
                yield f"{name}: neap_room({room}) stands in neap/{folder}"
            elif room not in table[0]:
                yield f"{name}: '{room}' is not a room of ARCHITECTURE.md"
            else:
                for other in listed_rooms(arguments):
                    yield check_use(name, room, other, table)


def main():
    page = read("ARCHITECTURE.md")
    table = read_table(page)
    findings = [*check_includes(table), *check_room_lists(table),
                *check_families(read_families(page))]
    finish("layers", list(filter(None, findings)), f"{len(table[0])} rooms")


if __name__ == "__main__":
    main()
