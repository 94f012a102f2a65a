"""Files and arguments that are made to harm end in one short harmless line."""

import json
import re
import struct
import sys
import time
import unittest

import tool_case
from tool_case import DATA, OK, SMALL_GPT, ToolCase, USAGE, idx

LONGEST = 1800  # of a line, with 80 characters for each piece of foreign text


class HostileFilesTest(ToolCase):
    def refused(self, status, *arguments, says=""):
        start = time.monotonic()
        found, output, errors = self.run_tool(*arguments)
        self.assertLess(time.monotonic() - start, 60 if tool_case.SANITIZER
                        else 20)
        self.assertEqual(found, status, errors[:500])
        self.assertEqual(output, "")
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertLess(len(errors), LONGEST)
        self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]",
                                    errors), errors)
        self.assertIn(says, errors)

    def config(self, text, status=USAGE, says=""):
        path = self.folder / "run.toml"
        path.write_text(text)
        self.refused(status, "train", "--config", path, says=says)

    def test_toml_that_nests_is_refused(self):
        depth = 50_000
        for text in ("a" + ".a" * depth + " = 1\n",
                     "[a" + ".a" * depth + "]\n",
                     "a = " + "[" * depth + "]" * depth + "\n",
                     "a = " + "{a=" * 20_000 + "1" + "}" * 20_000 + "\n",
                     "".join(f"[{'a.' * n}a]\n" for n in range(300)),
                     "a" + ".a" * 65 + " = 1\n", "[" * 60_000):
            self.config(text)

    def test_toml_that_nests_behind_a_long_string_is_refused(self):
        # A long string may end in four or five quotes.
        deep = ".b" * 32_700
        for quote in ('"', "'"):
            for more in range(3):
                self.config(f"t = {{a = {quote * 3}x{quote * (3 + more)} , "
                            f"b{deep} = 1}}\n", says="nest deeper")
            # Six are an empty string, and eight one of two quotes.
            for count in (6, 8):
                self.config(f"t = {{a = {quote * count} , b{deep} = 1}}\n",
                            says="nest deeper")
            # Content again, behind an end.
            self.config(f"t = {quote * 3}x{quote * 4}\nu = {quote * 3}"
                        f"{'.b' * 300}{quote * 3}\n", says="unknown key")

    def test_toml_of_settings_is_taken(self):
        path = self.folder / "run.toml"
        path.write_text("[train]\nhidden = [8, 8]  # [[[[[[[[[[[[[[[[[[[[[[[\n"
                        "lr = 0.001\nmetrics = '" + str(self.folder)
                        + "/a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.jsonl'\n"
                        'save = """' + str(self.folder) + '/x"""\n')
        status, _, errors = self.run_tool(
            "train", "--config", path, "--data", self.write_set(), "--steps",
            "1", "--progress", "none")
        self.assertEqual((status, errors), (OK, ""))

    def test_keys_and_values_of_toml_are_escaped_and_cut(self):
        long = "k" * 60_000
        self.config(f"{long} = 1\n", says="kkk...")
        self.config('"\\u001b[2J" = 1\n', says="\\x1b[2J")
        self.config(f'model = "{long}"\n', says="kkk...")
        self.config('model = "a\\nb\\u009b"\n', says="a\\nb\\u009b")
        self.config("x = \x1b[31m\n")

    def test_arguments_are_escaped_and_cut(self):
        long = "x" * 100_000
        for arguments in (("--steps", "1\x1b[2J"), ("--steps", long),
                          ("--" + long,), (long,), ("\x1b]0;title\x07",),
                          ("--model", "a\nneap: all is well"),
                          ("--kernels", "\x1b[2J" + "y" * 3000)):
            self.refused(USAGE, "train", *arguments)
        self.refused(USAGE, "sample", "--load", "x", "--length", long)
        self.refused(USAGE, long)
        self.refused(DATA, "pack", "no\x1b[2J\nfile")
        self.refused(DATA, "eval", "--load", "\u202ex\x1b[2J")

    def test_a_text_larger_than_memory_is_refused_before_it_is_read(self):
        path = self.folder / "sparse.txt"
        with path.open("wb") as file:
            try:
                file.truncate(1 << 44)
            except OSError:
                file.truncate((1 << 44) - (1 << 20))
        for symbols in ("characters", "bytes"):
            self.refused(DATA, "train", "--model", "gpt", "--data", "text",
                         "--path", path, "--symbols", symbols, says="memory")

    def table(self, text, says):
        path = self.folder / "table.csv"
        path.write_text(text)
        self.refused(DATA, "train", "--data", "csv", "--path", path, says=says)

    def test_other_separators_are_named(self):
        self.table("a;b;label\n1;2;0\n", "looks separated by ';'")
        self.table("a\tb\tlabel\n1\t2\t0\n", "looks separated by tab")
        path = self.folder / "problem.csv"
        path.write_text("lower;upper;size\n0;1;4\n")
        self.refused(DATA, "pack", path, says="looks separated by ';'")

    def test_cells_are_escaped_and_cut(self):
        self.table("a,\x1b[2J,label\n1,x\x9b31m,0\n", "\\x1b[2J")
        self.table("a,b,label\n1," + "9" * 400_000 + "x,0\n", "999...")
        path = self.folder / "problem.csv"
        path.write_text("lower,upper,size\n0,1," + "\x1b[2J" * 100_000 + "\n")
        self.refused(DATA, "pack", path, says="\\x1b[2J")

    def test_a_damaged_label_is_not_a_lack_of_memory(self):
        rows = "".join(f"{i},1.5,{i % 3}\n" for i in range(50))
        self.table("a,b,label\n" + rows + "1,2,2000000000\n" + rows,
                   "2000000000 is not a label")

    def test_a_damaged_header_is_not_a_lack_of_memory(self):
        lies = struct.pack(">HBB4I", 0, 8, 4, 2**31, 2**31, 4, 4)
        data = self.write_set(train_images=idx((), b"", lies))
        self.refused(DATA, "train", "--data", data)
        data = self.write_set(train_labels=idx((2**32 - 1,), bytes(9)))
        self.refused(DATA, "train", "--data", data)

    def test_names_of_tensors_are_escaped_and_cut(self):
        for name in ("\x1b[2J", "x" * 500_000, "\n", "\u202e"):
            header = json.dumps({name: {"dtype": "F32", "shape": [2],
                                        "data_offsets": [0, 4]}}).encode()
            path = self.folder / "x.safetensors"
            path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
            self.refused(DATA, "eval", "--load", path)

    def claim(self, path, **facts):
        """The saved model, which says other things of itself."""
        data = path.read_bytes()
        size, = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + size])
        known = header["__metadata__"]
        for key in [k for k in known if "xxh3" in k]:
            del known[key]
        for name, value in facts.items():
            key, = (k for k in known if k.split(".")[-1] == name)
            known[key] = value
        text = json.dumps(header).encode()
        claimed = path.with_suffix(".claimed")
        claimed.write_bytes(struct.pack("<Q", len(text)) + text
                            + data[8 + size:])
        return claimed

    def test_a_model_that_claims_to_be_huge_is_not_a_lack_of_memory(self):
        mlp = self.folder / "mlp.safetensors"
        data = self.write_set()
        self.run_tool("train", "--data", data, "--hidden", "8", "--steps", "1",
                      "--save", mlp, "--progress", "none")
        for hidden in ("9", "1000000", "8,8", "100000,100000"):
            self.refused(DATA, "eval", "--data", data, "--load",
                         self.claim(mlp, hidden=hidden))
        text = self.folder / "text.txt"
        text.write_text("the quick brown fox jumps over the lazy dog\n" * 99)
        gpt = self.folder / "gpt.safetensors"
        self.run_tool("train", "--model", "gpt", "--data", "text", "--path",
                      text, "--layers", "1", "--dim", "8", "--heads", "1",
                      "--block", "8", "--steps", "1", "--batch", "2", "--save",
                      gpt, "--progress", "none")
        for claim in ({"layers": "100000"}, {"layers": "2"}, {"dim": "65536"},
                      {"block": "60000"}):
            self.refused(DATA, "sample", "--load", self.claim(gpt, **claim))

    def test_a_model_that_cannot_be_is_the_fault_of_its_file(self):
        gpt = self.folder / "gpt.safetensors"
        self.run_tool("train", *SMALL_GPT, "--data", "text", "--path",
                      self.write_text(), "--steps", "1", "--batch", "2",
                      "--save", gpt, "--progress", "none")
        for claim in ({"heads": "3"}, {"heads": "32"}, {"characters": ""},
                      {"dim": "15"}):
            path = self.claim(gpt, **claim)
            self.refused(DATA, "sample", "--load", path, says=str(path))
            self.refused(DATA, "eval", "--data", "text", "--path",
                         self.folder / "text.txt", "--load", path,
                         says=str(path))

    def test_a_dash_for_json_prints_json_alone(self):
        status, output, errors = self.run_tool(
            "train", "--data", self.write_set(), "--json", "-", "--progress",
            "none", "--steps", "2", "--compile")
        self.assertEqual((status, errors), (OK, ""))
        self.assertEqual(json.loads(output)["steps"], 2)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
