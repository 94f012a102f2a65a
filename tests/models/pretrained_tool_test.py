#!/usr/bin/env python3
"""`neap train|plan|eval|sample --from DIR` as its users meet them.

usage: pretrained_tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import math
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

# pylint: disable=wrong-import-position
import tool_case  # noqa: E402
from small_folders import write_weights  # noqa: E402
from tool_case import DATA, OK, TEXT, USAGE, ToolCase  # noqa: E402

VOCAB, DIM, HIDDEN, HEADS = 420, 16, 24, 4
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
          "vocab_size": VOCAB, "hidden_size": DIM, "intermediate_size": HIDDEN,
          "num_hidden_layers": 2, "num_attention_heads": HEADS,
          "num_key_value_heads": 2, "max_position_embeddings": 32,
          "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
          "torch_dtype": "float16"}


def shapes():
    yield "model.embed_tokens.weight", (VOCAB, DIM)
    for layer in range(CONFIG["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for name, out in (("q", DIM), ("k", DIM // 2), ("v", DIM // 2), ("o", DIM)):
            yield f"{at}self_attn.{name}_proj.weight", (out, DIM)
        yield f"{at}mlp.gate_proj.weight", (HIDDEN, DIM)
        yield f"{at}mlp.up_proj.weight", (HIDDEN, DIM)
        yield f"{at}mlp.down_proj.weight", (DIM, HIDDEN)
        yield f"{at}input_layernorm.weight", (DIM,)
        yield f"{at}post_attention_layernorm.weight", (DIM,)
    yield "model.norm.weight", (DIM,)


class PretrainedToolTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model"
        self.model.mkdir()
        self.write_config()
        shutil.copy(HERE.parent / "text/golden/gpt2.json",
                    self.model / "tokenizer.json")
        write_weights(self.model / "model.safetensors", shapes())
        self.text = self.write_text()

    def write_config(self, **changes):
        (self.model / "config.json").write_text(
            json.dumps({**CONFIG, **changes}))

    def options(self, block=16):
        return ("--from", self.model, "--data", "text", "--path", self.text,
                "--block", block, "--threads", 1)

    def good(self, *arguments):
        status, output, errors = self.run_tool(*arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return output

    def refused(self, status, *arguments, says=""):
        found, _, errors = self.run_tool(*arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def train(self, *arguments, batch=4):
        return json.loads(self.good("train", *self.options(), "--batch", batch,
                                    "--progress", "none", "--json", "-",
                                    *arguments))

    def loss(self, *arguments):
        return json.loads(self.good("eval", *self.options(), "--json", "-",
                                    *arguments))

    def test_it_is_trained_measured_and_run(self):
        before = self.loss()
        self.assertAlmostEqual(before["perplexity"], math.exp(before["loss"]))
        run = self.folder / "run.safetensors"
        summary = self.train("--steps", 30, "--lr", 1e-2, "--save", run)
        self.assertEqual(summary["live_bytes_at_exit"], 0)
        after = self.loss("--load", run)
        self.assertLess(after["loss"], before["loss"] - 1)
        self.assertEqual(after["samples"], before["samples"])
        for more in ((), ("--load", run)):
            text = self.good("sample", "--from", self.model, "--prompt",
                             "the waters", "--length", 20, "--temperature", 0,
                             *more)
            self.assertTrue(text.startswith("the waters"), text)

    def test_a_text_ends_where_its_model_says(self):
        sample = ("sample", "--from", self.model, "--prompt", "the waters",
                  "--max-tokens", 20, "--temperature", 0)
        text = self.good(*sample)
        new = text.removeprefix("the waters").rstrip("\n")
        folder = self.model / "tokenizer.json"
        ids = self.good("tokenizer", "encode", "--load", folder, "--text",
                        "the waters" + new).split()
        first = self.good("tokenizer", "encode", "--load", folder, "--text",
                          "the waters").split()
        end = int(ids[len(first)])
        self.write_config(eos_token_id=[end, 999])
        self.assertEqual(self.good(*sample), "the waters\n")
        self.assertEqual(self.good(*sample, "--past-end"), text)
        self.write_config(eos_token_id="x")
        self.refused(DATA, *sample, says="eos_token_id")

    def test_what_is_said_beforehand_is_what_is_held(self):
        plan = json.loads(self.good("plan", *self.options(), "--batch", 4,
                                    "--json", "-"))
        summary = self.train("--steps", 3)
        self.assertEqual(summary["predicted_peak_bytes"], summary["peak_bytes"])
        if tool_case.SANITIZER:  # whose run holds blocks, where a plan has pages
            self.assertGreaterEqual(plan["peak_bytes"], summary["peak_bytes"])
        else:
            self.assertEqual(plan["peak_bytes"], summary["peak_bytes"])
        self.assertEqual(summary["heap_calls_per_step"],
                         None if tool_case.SANITIZER else 0)

    def test_a_plan_needs_no_text(self):
        plan = json.loads(self.good("plan", "--from", self.model, "--block", 16,
                                    "--batch", 2, "--json", "-"))
        self.assertEqual(plan["parameters"],
                         sum(math.prod(shape) for _, shape in shapes()))

    def test_a_run_goes_on_where_it_was(self):
        options = ("--schedule", "constant", "--dropout", 0.1)
        whole = self.train("--steps", 6, *options)
        run = self.folder / "run.safetensors"
        self.train("--steps", 3, "--save", run, *options)
        resumed = self.train("--steps", 6, "--resume", run, *options)
        self.assertEqual(resumed["state_hash"], whole["state_hash"])

    def test_a_checkpoint_is_of_its_folder(self):
        run = self.folder / "run.safetensors"
        self.train("--steps", 1, "--save", run)
        self.refused(DATA, "sample", "--load", run, says="--from DIR --load")
        self.write_config(rope_theta=500.0)
        self.refused(USAGE, "train", *self.options(), "--batch", 4, "--steps", 1,
                     "--resume", run, says="config is ")

    def test_an_adapter_is_trained_saved_and_used(self):
        folder = self.folder / "adapter"
        def persistent(*arguments):
            return json.loads(self.good("plan", *self.options(), "--batch", 4,
                                        "--json", "-", *arguments)
                              )["persistent_bytes"]

        self.assertLess(persistent("--adapter", "lora:4"), persistent())
        before = self.loss()["loss"]
        summary = self.train("--steps", 30, "--lr", 3e-2, "--adapter", "lora:4",
                             "--save-adapter", folder)
        self.assertEqual(summary["predicted_peak_bytes"], summary["peak_bytes"])
        config = json.loads((folder / "adapter_config.json").read_text())
        self.assertEqual((config["r"], config["lora_alpha"]), (4, 8))
        self.assertEqual(self.loss()["loss"], before)
        self.assertLess(self.loss("--adapter", folder)["loss"], before - 0.5)
        self.good("sample", "--from", self.model, "--adapter", folder,
                  "--length", 5)
        self.train("--steps", 1, "--adapter", folder)
        self.refused(USAGE, "train", "--adapter", "lora:4", says="--from must")
        self.refused(USAGE, "train", *self.options(), "--adapter", "lora:x",
                     says="like lora:8")
        (folder / "adapter_config.json").write_text(
            json.dumps({**config, "r": 5}))
        self.refused(DATA, "eval", *self.options(), "--adapter", folder,
                     says="lora_A.weight")

    def test_weights_as_wide_as_in_the_file_change_bytes_alone(self):
        write_weights(self.model / "model.safetensors", shapes(), "BF16")
        adapter = ("--adapter", "lora:4", "--lr", 3e-2)
        found = {}
        for width in ("f32", "file"):
            run = ("--weights", width)
            plan = json.loads(self.good("plan", *self.options(), "--batch", 4,
                                        "--json", "-", *adapter, *run))
            folder = self.folder / width
            summary = self.train("--steps", 20, *adapter, *run,
                                 "--save-adapter", folder)
            self.assertEqual(summary["predicted_peak_bytes"],
                             summary["peak_bytes"])
            sample = ("sample", "--from", self.model, "--adapter", folder,
                      "--max-tokens", 12, *run)
            found[width] = (
                (folder / "adapter_model.safetensors").read_bytes(),
                self.loss(*run), self.loss("--adapter", folder, *run),
                self.good(*sample), self.good(*sample, "--budget", "1GiB"))
            found[width + " bytes"] = plan["persistent_bytes"]
        self.assertEqual(found["file"], found["f32"])
        matrices = sum(math.prod(shape) for _, shape in shapes()
                       if len(shape) == 2)
        saved = found["f32 bytes"] - found["file bytes"]
        self.assertLess(abs(saved - 2 * matrices), 4096)  # pages, and plans

    def test_runs_of_half_width_go_on_and_meet_a_budget(self):
        write_weights(self.model / "model.safetensors", shapes(), "BF16")
        options = ("--adapter", "lora:4", "--weights", "file", "--schedule",
                   "constant")
        run = self.folder / "run.safetensors"
        whole = self.train("--steps", 6, *options)
        self.train("--steps", 3, "--save", run, *options)
        resumed = self.train("--steps", 6, "--resume", run, *options)
        self.assertEqual(resumed["state_hash"], whole["state_hash"])
        self.refused(USAGE, "train", *self.options(), "--batch", 4, "--steps",
                     6, "--resume", run, *options[:2], *options[4:],
                     says="weights is file there")
        self.check_widths_of(run, options[:2])
        if tool_case.SANITIZER:
            return
        plan = json.loads(self.good("plan", *self.options(), "--batch", 4,
                                    "--json", "-", *options))
        need = plan["peak_bytes"] + plan["external_bytes"]
        budget = need - plan["arena_bytes"] // 4
        held = self.train("--steps", 6, "--budget", f"{budget}B", *options)
        self.assertEqual(held["state_hash"], whole["state_hash"])

    def check_widths_of(self, run, adapter):
        """A checkpoint of half width gives the same bits in either width."""
        half = ("--weights", "file")
        load = (*adapter, "--load", run)
        self.assertNotEqual(self.loss(*load), self.loss())
        self.assertEqual(self.loss(*load), self.loss(*load, *half))
        sample = ("sample", "--from", self.model, *load, "--max-tokens", 12)
        self.assertEqual(self.good(*sample), self.good(*sample, *half))
        wide = self.folder / "wide.safetensors"
        self.train("--steps", 3, "--save", wide, *adapter)
        for command in (("eval", *self.options()), sample[:3]):
            self.refused(DATA, *command, *adapter, "--load", wide, *half,
                         says="of a run without --weights file, leave that out")

    def test_widths_that_do_not_do_are_refused_in_a_line(self):
        half = ("--weights", "file")
        lora = ("--adapter", "lora:4")
        self.refused(DATA, "eval", *self.options(), *half, says="in F16")
        write_weights(self.model / "model.safetensors", shapes(), "BF16")
        for command in ("train", "plan", "fit"):
            self.refused(USAGE, command, *self.options(), *half,
                         says="--adapter must say what is")
            self.refused(USAGE, command, *self.options(), *half, *lora,
                         "--dtype", "bf16", says="round weights")
        self.refused(USAGE, "sample", "--load", "x", *half, says="--from must")
        self.refused(USAGE, "train", *half, says="--from must")

    def test_it_meets_a_budget(self):
        if tool_case.SANITIZER:
            self.skipTest("what the process itself holds differs by MiBs")
        plan = json.loads(self.good("plan", *self.options(), "--batch", 8,
                                    "--json", "-"))
        need = plan["peak_bytes"] + plan["external_bytes"]
        budget = need - plan["arena_bytes"] // 4
        free = self.train("--steps", 2, batch=8)
        held = self.train("--steps", 2, "--budget", f"{budget}B", batch=8)
        self.assertEqual(held["state_hash"], free["state_hash"])

    def test_folders_that_do_not_do_are_refused_in_a_line(self):
        options = ("train", *self.options(), "--steps", 1)
        self.write_config(hidden_act="gelu", rope_scaling={"type": "su"})
        self.refused(DATA, *options, says="hidden_act is gelu")
        self.refused(DATA, *options, says="positions of the type su")
        self.write_config(num_hidden_layers=3)
        self.refused(DATA, *options, says='"model.layers.2.')
        self.write_config(vocab_size=400)
        self.refused(DATA, *options, says="is f16 [420, 16] there")
        self.write_config()
        self.refused(DATA, "train", *self.options(64), "--steps", 1,
                     says="64 where it has 32 positions")
        (self.model / "tokenizer.json").unlink()
        self.refused(DATA, *options, says="tokenizer.json")
        (self.model / "config.json").unlink()
        self.refused(DATA, *options, says="config.json")

    def test_arguments_that_exclude_each_other_are_refused(self):
        self.refused(USAGE, "train", *self.options(), "--model", "gpt",
                     says="exclude each other")
        self.refused(USAGE, "train", "--from", self.model,
                     says="say --data text")
        self.refused(USAGE, "sample", "--prompt", "x", says="--from")
        self.refused(USAGE, "train", *self.options(), "--save",
                     self.model / "model.safetensors", says="--from")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
