#!/usr/bin/env python3
"""`neap train|plan|eval|fit --from DIR --data jsonl` as its users meet them.

usage: line_tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import math
import pathlib
import random
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

# pylint: disable=wrong-import-position
import plain_models  # noqa: E402
import tool_case  # noqa: E402
from small_folders import BERT, bert, read_weights, write_model  # noqa: E402
from tool_case import DATA, OK, USAGE, ToolCase  # noqa: E402

WORDS = {"calm": "the tide was low and the water still".split(),
         "rough": "a gale broke over high rocks at night".split()}


def lines_of(count=40):
    """Texts of words of their label, of several lengths."""
    rng = random.Random(3)
    for index in range(count):
        label = ("calm", "rough")[index % 2]
        words = [rng.choice(WORDS[label]) for _ in range(1 + index * 7 % 9)]
        yield {"text": " ".join(words), "label": label}


class LineToolTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.model = self.write_bert()
        self.lines = self.folder / "lines.jsonl"
        self.write_lines(lines_of())

    def write_bert(self, has_pooler=True, **changes):
        config = {**BERT, **changes}
        folder = write_model(self.folder / "bert", config,
                             bert(config, has_pooler))
        shutil.copy(HERE.parent / "text/golden/bert.json",
                    folder / "tokenizer.json")
        return folder

    def write_lines(self, lines):
        self.lines.write_text("".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n"
            for line in lines))

    def options(self):
        return ("--from", self.model, "--data", "jsonl", "--path", self.lines,
                "--block", 32, "--threads", 1)

    def good(self, *arguments):
        status, output, errors = self.run_tool(*arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return output

    def refused(self, status, *arguments, says=""):
        found, _, errors = self.run_tool(*arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def train(self, *arguments, batch=8):
        return json.loads(self.good("train", *self.options(), "--batch", batch,
                                    "--progress", "none", "--json", "-",
                                    *arguments))

    def plan(self, *arguments, batch=8):
        return json.loads(self.good("plan", *self.options(), "--batch", batch,
                                    "--json", "-", *arguments))

    def measured(self, *arguments):
        return json.loads(self.good("eval", *self.options(), "--json", "-",
                                    *arguments))


class RunTest(LineToolTest):
    def test_it_learns_to_tell_texts_apart(self):
        run = self.folder / "run.safetensors"
        few = self.train("--steps", 1)
        summary = self.train("--steps", 80, "--lr", 1e-2, "--save", run)
        self.assertEqual(summary["live_bytes_at_exit"], 0)
        self.assertLess(summary["test_loss"], few["test_loss"] - 0.3)
        after = self.measured("--load", run)
        self.assertEqual(after["samples"], 40)
        self.assertGreater(after["accuracy"], 0.9)
        part = self.measured("--load", run, "--validation", 0.1)
        self.assertEqual(part["samples"], 4)
        self.assertAlmostEqual(part["loss"], summary["test_loss"], places=6)
        text = self.good("train", *self.options(), "--steps", 1, "--progress",
                         "none")
        self.assertIn("data     36 + 4 lines, 2 classes", text)
        self.assertIn(f"head     of 5 classes skipped: {self.lines} has 2\n",
                      text)

    def test_a_label_means_the_same_in_other_lines(self):
        run = self.folder / "run.safetensors"
        self.train("--steps", 60, "--lr", 3e-3, "--save", run)
        self.write_lines([{"text": "a gale at night", "label": "rough"}] * 3)
        self.assertEqual(self.measured("--load", run)["accuracy"], 1)
        for count in (3, 4):
            self.write_lines([{"text": "a tide", "label": index % count}
                              for index in range(40)])
            self.train("--steps", 1, "--save", run)
            self.write_lines([{"text": "a tide", "label": count - 1}])
            self.measured("--load", run)
        self.write_lines([{"text": "a tide", "label": label}
                          for label in (1, "1")])
        self.refused(DATA, "eval", *self.options(), "--load", run,
                     says="line 2: its label is not of the kind of the first")
        self.write_lines([{"text": "a gale at night", "label": "odd"}])
        self.refused(DATA, "eval", *self.options(), "--load", run,
                     says="line 1: the label odd is none that")

    def test_scores_are_those_of_the_formula_without_padding(self):
        self.write_bert(id2label={"0": "calm", "1": "rough"})
        weights = read_weights(self.model / "model.safetensors")
        losses, right = [], 0
        lines = list(lines_of(12))
        self.write_lines(lines)
        for line in lines:
            ids = self.good("tokenizer", "encode", "--load",
                            self.model / "tokenizer.json", "--text",
                            line["text"]).split()
            found = plain_models.bert_scores([int(i) for i in ids], weights,
                                             BERT)
            label = int(line["label"] == "rough")
            losses.append(-math.log(plain_models.softmax(found)[label]))
            right += found.index(max(found)) == label
        told = self.measured()
        self.assertAlmostEqual(told["loss"], sum(losses) / len(losses), places=5)
        self.assertAlmostEqual(told["accuracy"], right / len(losses))

    def test_what_pads_changes_nothing(self):
        run = self.folder / "run.safetensors"
        self.train("--steps", 1, "--save", run)
        lines = list(lines_of(6))
        alone = []
        for line in lines:  # which then has no padding
            self.write_lines([line])
            alone.append(self.measured("--load", run)["loss"])
        self.write_lines(lines)
        together = self.measured("--load", run)["loss"]
        self.assertAlmostEqual(together, sum(alone) / len(alone), places=6)
        config = json.loads((self.model / "config.json").read_text())
        for token in (7, 300):
            (self.model / "config.json").write_text(
                json.dumps({**config, "pad_token_id": token}))
            self.assertEqual(self.measured("--load", run)["loss"], together)

    def test_long_lines_are_cut(self):
        self.write_lines([*lines_of(20), {"text": "the tide " * 60,
                                          "label": "calm"}])
        text = self.good("train", *self.options(), "--steps", 1, "--progress",
                         "none")
        self.assertIn("padded to 32 tokens, where 1 lines were cut (--block)",
                      text)
        self.refused(DATA, "train", *self.options()[:-3], 2,
                     says="leaves no token beside the special ones")
        self.refused(DATA, "train", *self.options()[:-3], 64,
                     says="64 where it has 40 positions")

    def test_a_cut_line_ends_as_others_do(self):
        self.write_bert(id2label={"0": "calm", "1": "rough"})
        ids = self.good("tokenizer", "encode", "--load",
                        self.model / "tokenizer.json", "--text",
                        "the tide " * 60).split()
        ids = [int(i) for i in (*ids[:31], ids[-1])]
        weights = read_weights(self.model / "model.safetensors")
        self.write_lines([{"text": "the tide " * 60, "label": label}
                          for label in ("calm", "rough")])
        shares = plain_models.softmax(
            plain_models.bert_scores(ids, weights, BERT))
        self.assertAlmostEqual(self.measured()["loss"],
                               -sum(map(math.log, shares)) / 2, places=5)

    def test_what_is_said_beforehand_is_what_is_held(self):
        for more in ((), ("--prefetch", 2), ("--optimizer", "muon"),
                     ("--eval-every", 2), ("--adapter", "lora:2"),
                     ("--keep", "none"), ("--dropout", 0.1)):
            with self.subTest(more=more):
                plan = self.plan(*more)
                summary = self.train("--steps", 11, *more)
                self.assertEqual(summary["predicted_peak_bytes"],
                                 summary["peak_bytes"])
                if tool_case.SANITIZER:  # blocks, where a plan has pages
                    self.assertGreaterEqual(plan["peak_bytes"],
                                            summary["peak_bytes"])
                else:
                    self.assertEqual(plan["peak_bytes"], summary["peak_bytes"])
                    self.assertEqual(summary["heap_calls_per_step"], 0)

    def test_it_meets_a_budget_with_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("what the process itself holds differs by MiBs")
        self.write_lines(lines_of(80))
        plan = self.plan(batch=64)
        need = plan["peak_bytes"] + plan["external_bytes"]
        free = self.train("--steps", 2, batch=64)
        held = self.train("--steps", 2, "--budget",
                          f"{need - plan['arena_bytes'] // 4}B", batch=64)
        self.assertEqual(held["state_hash"], free["state_hash"])
        options = [*self.options()[:-1], 2, "--batch", 64, "--steps", 2,
                   "--progress", "none", "--json", "-"]
        found = json.loads(self.good("train", *options))
        self.assertEqual(found["state_hash"], free["state_hash"])
        self.assertEqual(self.train("--steps", 2, "--eager",
                                    batch=64)["state_hash"], free["state_hash"])
        status, _, errors = self.run_tool(
            "train", *self.options(), "--batch", 64, "--steps", 2, "--budget",
            f"{need - plan['arena_bytes']}B")
        self.assertEqual(status, tool_case.MEMORY)
        self.check_budget_refusal(errors)

    def test_a_curve_of_budgets_is_drawn(self):
        told = json.loads(self.good("fit", *self.options(), "--batch", 16,
                                    "--json", "-"))
        self.assertGreater(len(told["points"]), 0)

    def test_a_run_goes_on_where_it_was(self):
        options = ("--schedule", "constant", "--dropout", 0.1)
        whole = self.train("--steps", 7, *options)
        run = self.folder / "run.safetensors"
        self.train("--steps", 3, "--save", run, *options)
        resumed = self.train("--steps", 7, "--resume", run, *options)
        self.assertEqual(resumed["state_hash"], whole["state_hash"])
        self.write_lines([*lines_of(39), {"text": "tide", "label": "rough"}])
        self.refused(USAGE, "train", *self.options(), "--batch", 8, "--steps", 7,
                     *options, "--resume", run, says="data")

    def test_an_adapter_changes_nothing_but_itself_and_the_head(self):
        run, folder = self.folder / "run.safetensors", self.folder / "adapter"
        for has_pooler in (True, False):
            self.write_bert(has_pooler)
            self.train("--steps", 60, "--adapter", "lora:2", "--lr", 1e-2,
                       "--save", run, "--save-adapter", folder)
            before = read_weights(self.model / "model.safetensors")
            for name, values in read_weights(run).items():
                if name.startswith("optimizer.") or before.get(name) == values:
                    continue
                self.assertRegex(
                    name, r"\A(classifier\.|.*\.lora_[AB]\.weight\Z"
                    + ("" if has_pooler else r"|bert\.pooler\.") + ")")
            config = json.loads((folder / "adapter_config.json").read_text())
            self.assertEqual(config["modules_to_save"],
                             ["classifier"] + ["bert.pooler"] * (not has_pooler))
            self.assertEqual(config["task_type"], "SEQ_CLS")
            told = self.measured("--adapter", folder)
            self.assertGreater(told["accuracy"], 0.9)
            self.assertEqual(told, self.measured("--adapter", "lora:2", "--load",
                                                 run))

    def test_a_body_alone_gets_a_head(self):
        self.write_bert(has_pooler=False, architectures=["BertModel"])
        text = self.good("train", *self.options(), "--steps", 1, "--progress",
                         "none")
        self.assertIn("head     no pooler in ", text)
        self.refused(DATA, "eval", *self.options(), says="has no head, where")

    def test_a_head_of_another_order_is_not_measured(self):
        self.write_bert(id2label={"0": "rough", "1": "calm"})
        self.refused(DATA, "eval", *self.options(),
                     says="in another order: rough, calm; train it")
        self.train("--steps", 1)

    def test_a_byte_order_mark_is_no_part_of_the_first_line(self):
        plain = self.train("--steps", 2)
        self.lines.write_bytes(b"\xef\xbb\xbf" + self.lines.read_bytes())
        self.assertEqual(self.train("--steps", 2)["state_hash"],
                         plain["state_hash"])

    def test_numbers_are_labels_too(self):
        self.write_lines([{"label": index % 3 * 10 - 10, "text": "a tide",
                           "more": [{"x": 1}]} for index in range(30)])
        self.assertEqual(self.plan()["parameters"],
                         sum(math.prod(shape) for name, shape in bert(BERT)
                             if not name.startswith("classifier")) + 3 * 17)


class RefusedTest(LineToolTest):
    def refused_run(self, *arguments, says=""):
        for command in ("train", "plan", "fit"):
            self.refused(DATA, command, *self.options(), *arguments, says=says)

    def test_lines_that_do_not_do(self):
        good = {"text": "tide", "label": "calm"}
        for line, says in (
                ("tide,calm", "line 2: expected '{' at byte 0"),
                ("{", "line 2: "),
                ('{"text": "tide"}', 'line 2: has no "label"'),
                ('{"label": "calm"}', 'line 2: has no "text"'),
                ('{"text": 3, "label": "calm"}', "line 2: "),
                ('{"text": "tide", "label": 1.5}', "line 2: "),
                ('{"text": "tide", "label": null}',
                 "line 2: its label is null; give the line a label, or leave"),
                ('{"text": "tide", "label": true}',
                 'line 2: its label is true; a label is a text or a whole '
                 'number: write "true" in quotes in all lines, or 1 and 0'),
                ('{"label": false, "text": "tide"}', "its label is false; "),
                ('{"text": "tide", "label": ["a"]}', "its label is a list; "),
                ('{"text": "tide", "label": {}}', "its label is an object; "),
                ('{"text": "tide", "label": "a\\nb"}', "control character"),
                ('{"text": "a", "text": "b", "label": "calm"}', "twice"),
                ('{"text": "tide", "label": 1}', "is not of the kind of"),
                ('{"text": "tide", "label": "calm"} x', "line 2: "),
                (good, "has 1 different labels")):
            with self.subTest(line=line):
                self.write_lines([good, line])
                self.refused_run(says=says)
        for content in ("", "\n \n"):
            self.lines.write_text(content)
            self.refused_run(says="has no line")
        tokenizer = self.model / "tokenizer.json"
        whole = tokenizer.read_text()
        bare = {**json.loads(whole), "post_processor": None}
        tokenizer.write_text(json.dumps(bare))
        self.write_lines([good, {"text": "", "label": "rough"}])
        self.refused_run(says="line 2: its text has no token")
        tokenizer.write_text(whole)
        self.lines.write_bytes(b'{"text": "\xff", "label": 1}\n')
        self.refused_run(says="line 1: ")
        self.write_lines([good, {**good, "label": "rough"}])
        self.refused_run(says="leaves nothing for the test")
        self.lines.unlink()
        self.refused_run(says="lines.jsonl")

    def test_models_that_do_not_do(self):
        (self.model / "tokenizer.json").unlink()
        self.refused_run(says="tokenizer.json")
        self.write_bert(vocab_size=400)
        self.refused_run(says="its tokenizer has ids up to")
        self.write_bert(architectures=["BertForTokenClassification"])
        self.refused_run(says="BertForTokenClassification")
        (self.model / "config.json").write_text(json.dumps(
            {"architecture": "resnet18"}))
        self.refused_run(says="tells no texts apart; it is for --data images")

    def test_options_that_contradict_each_other(self):
        common = ("train", *self.options())
        for option in (("--symbols", "bytes"), ("--target", "x"), ("--augment",),
                       ("--no-augment",)):
            self.refused(USAGE, *common, *option, says=option[0])
        self.refused(USAGE, "train", "--data", "jsonl", "--path", self.lines,
                     says="--from must say")
        self.refused(USAGE, "train", "--from", self.model, "--data", "jsonl",
                     says="--path must say")
        self.refused(DATA, "train", "--from", self.model, "--data", "text",
                     "--path", self.lines, "--block", 16,
                     says="it is for --data jsonl --path FILE")
        self.refused(USAGE, *common, "--save", self.lines, says="--path")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
