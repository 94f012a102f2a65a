#!/usr/bin/env python3
"""What a traced step could read of the world outside, and what becomes of it.

A compiled step must not go on with old values of what it read while it was
traced. So every thread-local, every field of the two contexts, every mutable global,
every public function without arguments that returns something, every public class
and, of those whose objects change, every const member stands in
scripts/surroundings.txt with what tracing does about it: a guard compares it at
each call, a refusal throws, or it is none of a step's business, with the reason. A
new one that the table does not name is a finding, and so is a row that names
nothing. The library's own code, which runs while a step is traced, must not ask by
a function that is refused: it has another for that.
"""

import re

from sources import finish, read, tracked

TABLE = "scripts/surroundings.txt"
WAYS = ("guard", "refused", "live", "none", "members")
COMMENT = re.compile(r"//[^\n]*")
THREAD_LOCAL = re.compile(r"\bthread_local\s+(?:const\s+)?([\w:<>*\s]+?)[\s*&]"
                          r"(\w+)\s*(?:[=;({])")
GLOBAL = re.compile(r"^(?:static\s+|inline\s+)?constinit\s+(?!const\b)"
                    r"(?:std::atomic<[^;=]*>|std::array<[^;=]*>|[\w:]+)\s*"
                    r"\*?\s*(\w+)\s*[;={(]", re.MULTILINE)
FIELD = re.compile(r"^  [\w:]+(?:\s*\*)?\s+(\w+)\s*(?:=[^;]*|\{\})?;",
                   re.MULTILINE)
GETTER = re.compile(r"^\s+(?:virtual\s+)?[\w:&<>*, ]+[ &]((?!operator\b)\w+|operator\[\])"
                    r"\([^;{]*\)\s*const\b", re.MULTILINE)
CLASS = re.compile(r"^class\s+(?:NEAP_API\s+)?(\w+)(?:\s+final)?"
                   r"(?:\s*:[^;{]*)?\s*\{", re.MULTILINE)
SITE = re.compile(r"(?:const\s+)?(?:base::)?CallSite&?\s+\w+\s*=\s*"
                  r"(?:base::)?CallSite::here\(\)")
FUNCTION = re.compile(r"^(?:NEAP_API|inline)\s+(?!void\b)[\w:<>&*, ]+?[ &*](\w+)"
                      r"\(\s*\)\s*(?:noexcept)?\s*[;{]", re.MULTILINE)
# Public classes whose objects change: each const member has a row.
STATEFUL = {
    "BucketSampler": "neap/data/fields/bucket_sampler.hpp",
    "Compiled": "neap/compile/compile.hpp",
    "CompiledStep": "neap/compile/compiled_step.hpp",
    "Composite": "neap/memory/composite.hpp",
    "Decoder": "neap/models/decoder.hpp",
    "Domain": "neap/memory/domain.hpp",
    "Ema": "neap/optim/ema.hpp",
    "FieldLoader": "neap/data/fields/field_loader.hpp",
    "Generator": "neap/tensor/generator.hpp",
    "Growth": "neap/report/growth.hpp",
    "ImageSet": "neap/data/image_set.hpp",
    "Loader": "neap/data/loader.hpp",
    "MetricsLog": "neap/train/metrics.hpp",
    "Module": "neap/nn/module.hpp",
    "Optimizer": "neap/optim/optimizer.hpp",
    "ReduceOnPlateau": "neap/optim/plateau.hpp",
    "Sampler": "neap/data/sampler.hpp",
    "Scope": "neap/memory/scope.hpp",
    "Sequential": "neap/nn/sequential.hpp",
    "Storage": "neap/tensor/storage.hpp",
    "Tensor": "neap/tensor/tensor.hpp",
    "Trainer": "neap/train/trainer.hpp",
    "Watch": "neap/nn/watch.hpp",
}
# What the library's own code asks by another function.
ASKED = re.compile(r"memory::context\(\)|\bexecution\(\)|\.identity\(\)|"
                   r"\.is_sole_owner\(\)|\.has_sole_handle\(\)|"
                   r"external_bytes\(\)|generator\(?\)?_?\.state\(\)")


def plain(name):
    return COMMENT.sub("", read(name))


def block(text, head):
    start = text.index(head)
    return text[start:text.index("\n};", start)]


def found():
    """(kind, file, name) of everything that the table must name."""
    for name in tracked("neap/*.cpp", "neap/*.hpp"):
        if re.search(r"_(test|bench)\.|_for_test|/test_|neap/testing/", name):
            continue
        text = plain(name)
        for match in THREAD_LOCAL.finditer(text):
            yield "thread-local", name, match.group(2)
        for match in GLOBAL.finditer(text):
            if "thread_local" not in match.group(0):
                yield "global", name, match.group(1)
    for kind, name in (("context", "neap/memory/context.hpp"),
                       ("execution", "neap/tensor/execution.hpp")):
        head = f"struct {kind.capitalize()} {{"
        for match in FIELD.finditer(block(plain(name), head)):
            yield kind, name, match.group(1)
    for kind, name in STATEFUL.items():
        text = plain(name)
        head = re.search(rf"^class (?:NEAP_API )?{kind}\b[^;]*?\{{", text,
                         re.MULTILINE).group(0)
        public = block(text, head)
        ends = [public.index(end) for end in (" protected:", " private:")
                if end in public]
        for match in GETTER.finditer(public[:min(ends, default=None)]):
            yield kind, name, match.group(1)
    yield from found_public()


def found_public():
    """Classes and functions of the public headers."""
    for name in read("cmake/public_headers.txt").split():
        text = plain(name)
        for match in CLASS.finditer(text):
            yield "class", name, match.group(1)
        for match in FUNCTION.finditer(SITE.sub("", text)):
            yield "function", name, match.group(1)


def own_questions():
    """(file, text) of the library's own code that a trace would refuse."""
    for name in tracked("neap/*.cpp", "neap/*.hpp", "bindings/*.cpp"):
        if re.search(r"_(test|bench)\.|_for_test|neap/testing/|/tests/", name):
            continue
        for match in ASKED.finditer(plain(name)):
            if "Background::" not in match.string[match.start() - 12:match.end()]:
                yield name, match.group(0)


def rows():
    for line in read(TABLE).splitlines():
        line = line.split("#")[0].strip()
        if line:
            kind, names, way, reason = (part.strip()
                                        for part in line.split("|", 3))
            for name in names.split():
                yield kind, name, way, reason


def main():
    findings = []
    table = {}
    for kind, name, way, reason in rows():
        if way not in WAYS or not reason:
            findings.append(f"{TABLE}: {kind} {name}: one of {WAYS}, and why")
        table[(kind, name)] = way
    seen = set()
    for kind, file, name in found():
        seen.add((kind, name))
        if (kind, name) not in table:
            findings.append(
                f"{file}: {kind} '{name}' is not in {TABLE}: say what a step "
                "that is traced does about it")
    for file, text in own_questions():
        findings.append(f"{file}: {text} in code of the library's own, which a "
                        "trace refuses: ask by the function for rooms")
    for kind, name in sorted(set(table) - seen):
        findings.append(f"{TABLE}: {kind} '{name}' is nowhere any more")
    finish("surroundings", findings, f"{len(seen)} of them")


if __name__ == "__main__":
    main()
