#!/usr/bin/env python3
"""`neap tokenizer` as its users meet it.

usage: tokenizer_tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
import tool_case  # noqa: E402
from tool_case import DATA, OK, OUTPUT, TEXT, USAGE, ToolCase  # noqa: E402


class TokenizerToolTest(ToolCase):
    def good(self, *arguments):
        status, output, errors = self.run_tool("tokenizer", *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return output

    def refused(self, status, *arguments, says=""):
        found, _, errors = self.run_tool("tokenizer", *arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def trained(self):
        out = self.folder / "tokenizer.json"
        self.good("train", self.write_text(), "--vocab", 300, "--out", out,
                  "--special", "<s>", "--special", "</s>")
        return out

    def test_a_tokenizer_goes_there_and_back(self):
        file = self.trained()
        ids = self.good("encode", "--load", file, self.write_text())
        self.assertEqual(ids.count("\n"), 1)
        self.assertLess(len(ids.split()), len(TEXT) / 2)
        self.assertEqual(self.good("decode", "--load", file, "--text", ids), TEXT)

    def test_what_is_trained_is_a_tokenizer_json(self):
        content = json.loads(self.trained().read_text())
        self.assertEqual([token["content"] for token in content["added_tokens"]],
                         ["<s>", "</s>"])
        self.assertEqual(content["model"]["vocab"]["</s>"], 1)
        same = self.good("train", self.write_text(), "--vocab", 300,
                         "--special", "<s>", "--special", "</s>")
        self.assertEqual(json.loads(same), content)

    def test_lines_are_texts_of_their_own(self):
        file = self.trained()
        lines = self.folder / "lines"
        lines.write_text("the tide\n\nlow")
        ids = self.good("encode", "--load", file, "--lines", lines).split("\n")
        self.assertEqual(len(ids), 4)
        self.assertEqual(ids[1], "")
        self.assertEqual(ids[2] + "\n",
                         self.good("encode", "--load", file, "--text", "low"))

    def test_special_tokens_are_shown_where_asked(self):
        file = self.trained()
        self.assertEqual(self.good("decode", "--load", file, "--text", "0, [1]",
                                   "--plain"), "<s></s>")
        self.assertEqual(self.good("decode", "--load", file, "--text", "0 1"), "")

    def test_what_does_not_fit_together_is_refused(self):
        text = self.write_text()
        for arguments, says in (
                ((), "ACTION"), (("other",), "other"), (("train",), "--text"),
                (("train", text), "--vocab"), (("encode", text), "--load"),
                (("train", text, "--vocab", 0), "--vocab"),
                (("encode", text, "--load", text, "--vocab", 9), "for train"),
                (("decode", text, "--load", text, "--lines"), "--lines"),
                (("train", text, "--vocab", 300, "--out", text), "--out")):
            self.refused(USAGE, *arguments, says=says)

    def test_damaged_files_are_refused(self):
        text = self.write_text()
        file = self.trained()
        self.refused(DATA, "encode", "--load", text, text, says="text.txt")
        self.refused(DATA, "encode", "--load", file, self.folder / "none",
                     says="none")
        self.refused(DATA, "decode", "--load", file, "--text", "1 x", says="'x'")
        self.refused(DATA, "decode", "--load", file, "--text", "99999",
                     says="99999")
        bad = self.folder / "bad"
        bad.write_bytes(b"\xff\n")
        self.refused(DATA, "train", bad, "--vocab", 300, says="UTF-8")
        self.refused(OUTPUT, "train", text, "--vocab", 300, "--out",
                     self.folder / "none" / "x.json", says="none")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
