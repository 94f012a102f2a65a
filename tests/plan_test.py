#!/usr/bin/env python3
"""`neap plan` as its users meet it: what it says is what training then does.

usage: plan_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import re
import resource
import sys
import unittest

import tool_case
from tool_case import (DATA, IMAGE_NETWORKS, MEMORY, OK, TEXT_NETWORKS, USAGE,
                       ToolCase, has_bf16)

KEYS = ("state_of_rank_bytes state_of_all_ranks_bytes handed_on_bytes "
        "handed_on_least_bytes model batch parameters peak_bytes peak_live_bytes external_bytes "
        "arena_bytes lower_bound_bytes proven persistent_bytes "
        "workspace_bytes data_set_bytes by_category by_layer peak_step "
        "peak_call ops shards ranks rank sent_in_a_step_bytes "
        "calls_of_each_shard ops_of_all_rows plan_seconds").split()
BUDGET_KEYS = ("budget_bytes fits_budget max_batch_for_budget "
               "arena_bytes_all_kept calls_again pieces micro_batches time_pieces "
               "values_spilled "
               "states_away states_away_bytes weights_away weights_away_bytes "
               "spill_written_bytes spill_fetched_bytes "
               "spill_written_a_day_bytes extra_time_percent "
               "extra_time_bound_percent").split()
NETWORK_KEYS = ("network traffic_seconds traffic_sent_bytes traffic_messages "
                "traffic_least_bytes traffic_least_seconds "
                "compute_seconds").split()
VARYING = {"plan_seconds"}
# 80 blocks: 65 thousand million parameters.
LARGE = ("--model", "gpt", "--layers", "80", "--dim", "8192", "--heads", "64",
         "--vocab", "32000", "--block", "4096", "--batch", "1")


class PlanCase(ToolCase):
    def plan(self, *arguments):
        """RETURNS: the JSON object of a good plan."""
        status, output, errors = self.run_tool("plan", "--json", *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def plan_over_budget(self, *arguments):
        """RETURNS: the JSON object of a plan that its budget refuses."""
        status, output, errors = self.run_tool("plan", "--json", *arguments)
        self.assertEqual(status, MEMORY, errors)
        return json.loads(output)


class PlanTest(PlanCase):
    def refuse_plan(self, status, *arguments, says=""):
        found, _, errors = self.run_tool("plan", *arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def test_the_object_has_every_key(self):
        found = self.plan("--model", "lstm", "--layers", "1")
        self.assertEqual(sorted(found), sorted(KEYS))
        found = self.plan("--model", "lstm", "--layers", "1", "--budget",
                          "4GiB")
        self.assertEqual(sorted(found), sorted(KEYS + BUDGET_KEYS))

    def test_a_network_has_the_time_of_what_a_rank_sends(self):
        few = ("--model", "gpt", "--layers", "1", "--dim", "64", "--batch",
               "64", "--shards", "64", "--ranks", "64", "--rank", "5")
        seconds = []
        for name in ("1Gb", "10Gb", "25Gb", "100Gb", "400Gb"):
            found = self.plan(*few, "--network", name)
            self.assertEqual(sorted(found), sorted(KEYS + NETWORK_KEYS))
            self.assertEqual(found["network"], name)
            self.assertIsNone(found["compute_seconds"])
            self.assertGreaterEqual(found["traffic_sent_bytes"],
                                    found["traffic_least_bytes"] * 0.99)
            self.assertGreater(found["traffic_seconds"],
                               found["traffic_least_seconds"])
            seconds.append(found["traffic_seconds"])
        self.assertEqual(seconds, sorted(seconds, reverse=True))
        budget = (found["peak_bytes"] + found["external_bytes"]
                  - found["arena_bytes"] // 8)
        found = self.plan(*few, "--network", "1Gb", "--budget", budget,
                          "--costs", "measure")
        self.assertGreater(found["compute_seconds"], 0.0)
        _, text, _ = self.run_tool("plan", *few, "--network", "1Gb")
        self.assertRegex(text, r"(?m)^network +1Gb: \S+ s of a step, .* messages$")

    def test_a_network_is_read_from_a_file(self):
        path = self.folder / "network.json"
        few = ("--model", "gpt", "--layers", "1", "--batch", "2", "--ranks",
               "2", "--network", path)
        good = {"neap_network": 1, "latency_nanoseconds": 0,
                "overhead_nanoseconds": 0, "bytes_a_second": 1000,
                "engine": "none"}
        path.write_text(json.dumps(good))
        found = self.plan(*few)
        self.assertAlmostEqual(found["traffic_seconds"],
                               found["traffic_sent_bytes"] / 1000, delta=10.0)
        path.write_text(json.dumps({**good,
                                    "latency_nanoseconds": 1_000_000_000}))
        self.assertGreater(self.plan(*few)["traffic_seconds"],
                           found["traffic_seconds"] + 10)
        for change in ({"bytes_a_second": 0}, {"bytes_a_second": -1},
                       {"bytes_a_second": 1e9}, {"bytes_a_second": 10 ** 16},
                       {"bytes_a_second": 10 ** 30},
                       {"bytes_a_second": "fast"},
                       {"latency_nanoseconds": -1},
                       {"latency_nanoseconds": 10 ** 11},
                       {"overhead_nanoseconds": None},
                       {"neap_network": 2}, {"more": 1}, {"engine": 1}):
            path.write_text(json.dumps({**good, **change}))
            self.refuse_plan(DATA, *few, says="no file of neap network")
        for key in ("neap_network", "latency_nanoseconds", "bytes_a_second"):
            path.write_text(json.dumps({name: value for name, value
                                        in good.items() if name != key}))
            self.refuse_plan(DATA, *few, says=f"'{key}' is missing")
        for text in ("", "[]", "{", "null", json.dumps(good) + "x",
                     json.dumps(good)[:-1] + ', "neap_network": 1}',
                     "[" * 100_000):
            path.write_text(text)
            self.refuse_plan(DATA, *few)
        path.unlink()
        self.refuse_plan(DATA, *few, says="network.json")

    def test_a_network_of_one_rank_is_refused(self):
        self.refuse_plan(USAGE, "--model", "gpt", "--network", "1Gb",
                         says="--network: there is one rank")
        self.refuse_plan(USAGE, "--model", "gpt", "--network", "",
                         says="--network")
        status, _, errors = self.run_tool("fit", "--network", "1Gb")
        self.assertEqual(status, USAGE)
        self.assertIn("fit has no option --network", errors)

    def test_the_peak_is_that_of_training_to_the_byte(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        data = self.write_set()
        lines = self.folder / "run.jsonl"
        for options in (("--batch", "16"),
                        ("--batch", "24", "--optimizer", "adamw"),
                        ("--batch", "7", "--hidden", "300,20", "--clip", "1"),
                        ("--batch", "64", "--hidden", "700", "--paged"),
                        ("--batch", "24", "--prefetch", "3"),
                        ("--batch", "16", "--metrics", lines),
                        ("--batch", "16", "--metrics", lines, "--tensorboard",
                         self.folder / "events")):
            with self.subTest(options=options):
                common = ("--data", data, "--threads", "1", *options)
                told = self.plan(*common)
                self.assertFalse((self.folder / "events").exists())
                path = self.folder / "summary.json"
                status, output, errors = self.run_tool(
                    "train", *common, "--compile", "--steps", "9", "--json",
                    path, "--progress", "none")
                self.assertEqual((status, errors), (OK, ""), output)
                found = json.loads(path.read_text())
                self.assertEqual(told["peak_bytes"], found["peak_bytes"])
                self.assertEqual(told["arena_bytes"], found["arena_bytes"])

    def test_the_same_command_says_the_same_in_every_process(self):
        # A sanitizer's shadow is as large as where the system put the stacks.
        varying = VARYING | ({"external_bytes"} if tool_case.SANITIZER else set())
        seen = set()
        for _ in range(5):
            told = self.plan("--model", "gpt", "--layers", "3", "--threads",
                             "1")
            seen.add(json.dumps({key: value for key, value in told.items()
                                 if key not in varying}))
        self.assertEqual(len(seen), 1)

    def test_plan_page_and_report_say_the_same_to_spare(self):
        small = ("--model", "gpt", "--layers", "1", "--dim", "32", "--threads",
                 "1", "--batch", "16")
        told = self.plan(*small)
        whole = told["external_bytes"] + told["peak_bytes"] + (8 << 20)
        file, page = self.folder / "plan.neapmem", self.folder / "plan.html"
        for budget, word in ((whole + 5000, "to spare"),
                             (whole - 300_000, "to spare"),
                             (whole - told["arena_bytes"], "too little")):
            status, text, _ = self.run_tool(
                "plan", *small, "--budget", str(budget), "--snapshot", file,
                "--page", page)
            figure = re.search(r"\nbudget +[^\n:]*: ([\d.]+ \w+)[^\n]* " + word, text)
            self.assertTrue(figure, text)
            _, shown, _ = self.run_tool("report", file)
            row = re.search(r"\nbudget +([\d.]+ \w+) " + word, shown)
            self.assertTrue(row, shown)
            self.assertEqual(row[1], figure[1], (status, budget))

    def test_a_budget_is_met_by_the_largest_batch_and_by_none_above(self):
        small = ("--model", "gpt", "--layers", "1", "--dim", "32", "--threads",
                 "1")
        some = self.plan(*small, "--batch", "3")
        budget = some["external_bytes"] + some["peak_bytes"]
        told = self.plan_over_budget(*small, "--budget", str(budget))
        self.assertFalse(told["fits_budget"])
        batch = told["max_batch_for_budget"]
        self.assertGreater(batch, 1)
        room = budget - told["external_bytes"]
        self.assertLessEqual(
            self.plan(*small, "--batch", batch)["peak_bytes"], room)
        self.assertGreater(
            self.plan(*small, "--batch", batch + 1)["peak_bytes"], room)

    def test_no_parameter_is_taken_for_a_layer(self):
        for model in ("gpt", "lstm"):
            layers = self.plan("--model", model, "--layers", "1")["by_layer"]
            self.assertIn("(no layer)", layers)
            for layer in layers:
                self.assertNotRegex(layer, r"(^|\.)(weight|bias)(_|$)")

    def test_no_line_of_the_tool_is_taken_for_a_layer(self):
        status, output, errors = self.run_tool(
            "plan", "--data", self.write_set(), "--batch", "64")
        self.assertEqual((status, errors), (OK, ""))
        self.assertNotRegex(output, r"[.]cpp")
        self.assertRegex(output, r"(?m)^ +\S+ \w+ +cross_entropy.* [(]no layer[)]$")

    def test_a_line_of_train_is_taken_unchanged(self):
        settings = self.folder / "run.toml"
        settings.write_text("[train]\nbatch = 16\n")
        line = ("--data", self.write_set(), "--config", settings, "--steps",
                "9", "--warmup", "2", "--minutes", "5", "--threads", "1",
                "--save", self.folder / "run.safetensors", "--save-every", "4",
                "--progress", "none", "-v", "--json",
                self.folder / "summary.json")
        status, output, errors = self.run_tool("plan", *line)
        self.assertEqual((status, errors), (OK, ""))
        self.assertRegex(output, r"(?m)^held at most +\S")
        told = json.loads((self.folder / "summary.json").read_text())
        self.assertFalse((self.folder / "run.safetensors").exists())
        status, output, errors = self.run_tool("train", *line)
        self.assertEqual((status, errors), (OK, ""), output)
        found = json.loads((self.folder / "summary.json").read_text())
        if not tool_case.SANITIZER:
            self.assertEqual(told["peak_bytes"], found["peak_bytes"])

    def test_a_budget_is_met_for_more_time(self):
        line = ("--model", "gpt", "--layers", "4", "--dim", "64", "--threads",
                "1", "--batch", "32")
        needed = self.plan(*line)
        extra = 0.0
        for share in (0.9, 0.6, 0.4):
            budget = (needed["external_bytes"] + needed["peak_bytes"]
                      - int(needed["arena_bytes"] * (1 - share)))
            told = self.plan(*line, "--budget", budget)
            self.assertTrue(told["fits_budget"])
            self.assertLessEqual(told["peak_bytes"] + told["external_bytes"],
                                 budget)
            self.assertEqual(told["arena_bytes_all_kept"],
                             needed["arena_bytes"])
            self.assertGreater(told["calls_again"] + told["micro_batches"], 0)
            self.assertGreaterEqual(told["extra_time_percent"], extra)
            self.assertLessEqual(told["extra_time_bound_percent"],
                                 told["extra_time_percent"])
            extra = told["extra_time_percent"]
        status, output, _ = self.run_tool("plan", *line, "--budget", budget)
        self.assertEqual(status, OK)
        self.assertRegex(output, r"\nextra time +\d+[.]\d % predicted: \d+ "
                                 r"(calls|micro-batches)")

    def test_large_logits_run_in_pieces(self):
        line = ("--model", "gpt", "--layers", "1", "--dim", "32", "--vocab",
                "4000", "--threads", "1", "--batch", "16")
        needed = self.plan(*line)
        budget = (needed["external_bytes"] + needed["peak_bytes"]
                  - needed["arena_bytes"] // 3)
        told = self.plan(*line, "--budget", budget)
        self.assertTrue(told["fits_budget"])
        self.assertGreaterEqual(told["pieces"], 2)
        self.assertEqual(told["calls_again"], 0)
        status, output, _ = self.run_tool("plan", *line, "--budget", budget)
        self.assertEqual(status, OK)
        self.assertRegex(output, r"\nextra time +\d+[.]\d % predicted: "
                         r"cross_entropy in \d+ pieces\n")

    def test_a_refusal_is_told_though_a_file_fails(self):
        status, _, errors = self.run_tool(
            "plan", "--model", "mlp", "--threads", "1", "--budget", "12MiB",
            "--page", self.folder / "none" / "page.html")
        self.assertEqual(status, MEMORY)
        self.assertIn("page.html", errors)
        self.assertIn("is too small for this run", errors)

    def test_a_budget_that_does_not_suffice_ends_with_what_would(self):
        line = ("--model", "gpt", "--layers", "1", "--dim", "64", "--threads",
                "1")
        needed = self.plan(*line, "--batch", "64")
        budget = (needed["external_bytes"] + needed["peak_bytes"]
                  - int(needed["arena_bytes"] * 0.97))
        status, output, errors = self.run_tool(
            "plan", *line, "--batch", "64", "--budget", budget)
        self.assertEqual(status, MEMORY)
        self.assertIn("too little", output)
        self.check_budget_refusal(errors)
        self.assertRegex(
            errors, r"\n  needed     .* with all values kept, .* more\n"
            r"  why        no plan fits an arena of .*\n"
            r"  would fit  --batch \d+, all values kept\n"
            r"(  or         --.*: extra time [+-]\d+[.]\d %.*\n)+"
            r"  see        neap fit,.*\n +neap plan,.* --page FILE: .*\n\Z")
        prices = [float(p) for p in re.findall(r"extra time ([+-].*?) %",
                                               errors)]
        self.assertEqual(prices, sorted(prices))
        remedies = re.findall(r"  or         (--\S+) (\S+):", errors)
        self.assertIn("--budget", dict(remedies))
        self.assertIn("--batch", dict(remedies))
        for option, value in remedies:
            options = {"--batch": "64", "--budget": budget, option: value}
            if option == "--spill":
                options.update({"--spill": self.folder,
                                "--spill-rate": "500MiB"})
            words = [word for pair in options.items() for word in pair]
            status, output, errors = self.run_tool("plan", *line, *words)
            self.assertEqual(status, OK, (option, value, output, errors))

    def test_a_model_larger_than_the_machine_is_planned_in_seconds(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = self.plan(*LARGE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime - before.ru_utime
        self.assertLess(spent, 300 if tool_case.SANITIZER else 20)
        self.assertGreater(told["parameters"], 60e9)
        self.assertGreater(told["peak_bytes"], 4 * told["parameters"])
        self.assertGreaterEqual(told["arena_bytes"], told["lower_bound_bytes"])

    def test_pages_make_no_arena_higher(self):
        for model in (("gpt", "--layers", "2"), ("lstm", "--layers", "1")):
            common = ("--model", *model, "--threads", "1")
            paged = self.plan(*common, "--paged")
            self.assertLessEqual(paged["arena_bytes"],
                                 self.plan(*common)["arena_bytes"])

    def test_a_transformer_that_keeps_less_needs_less(self):
        said = [self.plan("--model", "gpt", "--layers", "6", "--threads", "1",
                          "--keep", what)["arena_bytes"]
                for what in ("all", "products", "none", "everything", "nothing")]
        self.assertGreater(said[0], said[1])
        self.assertGreater(said[1], said[2])
        self.assertEqual(said[3:], [said[0], said[2]])  # their second names

    def test_the_text_says_the_figures(self):
        status, output, errors = self.run_tool("plan", "--model", "lstm",
                                               "--layers", "1")
        self.assertEqual((status, errors), (OK, ""))
        for word in ("held at most", "external", "persistent", "arena",
                     "lower bound", "workspace", "peak at"):
            self.assertRegex(output, rf"(?m)^{word} +\S")
        self.assertTrue(re.search(r"in the arena at its peak", output))

    def test_what_makes_no_sense_is_refused(self):
        self.refuse_plan(USAGE, "--model", "perceptron", says="--model")
        self.refuse_plan(USAGE, "--layers", "0", says="--layers")
        self.refuse_plan(USAGE, "--budget", "much", says="--budget")
        self.refuse_plan(USAGE, "--eager", says="--eager")
        self.refuse_plan(USAGE, "--steps", "1", "--epochs", "3",
                         says="--epochs")
        self.refuse_plan(DATA, "--data", self.folder / "none", says="none")


class SaveTest(PlanCase):
    """A run that saves itself holds what was said before its first step."""

    def networks(self):
        """Of each network: its data, and what chooses it."""
        images, text = self.write_set(), self.write_text()
        table = self.folder / "table.csv"
        table.write_text("a,b,label\n" + "0.5,-1.25,0\n2,3,1\n" * 40)
        yield "csv", ("--path", table, "--hidden", "16")
        yield images, ("--hidden", "300,20", "--clip", "1")
        for model, sizes in IMAGE_NETWORKS.items():
            yield images, ("--model", model, *sizes)
        for network in TEXT_NETWORKS:
            yield "text", ("--path", text, *network, "--dropout", "0.1")

    def check(self, data, *options):
        saving = (*options, "--save", self.folder / "run.safetensors")
        told = self.plan("--data", data, *saving)
        found = self.train(data, *saving, "--save-every", "4", "--steps", "9",
                           "--compile")
        self.assertEqual(found["predicted_peak_bytes"], found["peak_bytes"])
        self.assertEqual(told["peak_bytes"], found["peak_bytes"])
        self.assertEqual(told["arena_bytes"], found["arena_bytes"])

    def setUp(self):
        super().setUp()
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        self.common = ("--batch", "5", "--threads", "1")

    def test_of_every_network(self):
        for data, network in self.networks():
            with self.subTest(network=network):
                self.check(data, *network, *self.common)

    def test_with_products_in_bf16(self):
        if not has_bf16():
            self.skipTest("this processor has no dot products of bf16")
        for data, network in self.networks():
            with self.subTest(network=network):
                self.check(data, *network, *self.common, "--dtype", "bf16")

    def test_beside_metrics_and_with_every_optimizer(self):
        logs = ("--metrics", self.folder / "run.jsonl", "--tensorboard",
                self.folder / "events")
        for more in (("--optimizer", "sgd"), ("--optimizer", "adamw"),
                     ("--optimizer", "sgd", "--momentum", "0"),
                     ("--schedule", "constant"), ("--paged",)):
            with self.subTest(more=more):
                self.check(self.write_set(), "--model", "lenet", *self.common,
                           *logs, *more)

    def test_of_a_run_that_goes_on_from_another(self):
        file = self.folder / "run.safetensors"
        for data, network in self.networks():
            with self.subTest(network=network):
                run = (*network, *self.common, "--schedule", "constant")
                self.train(data, *run, "--steps", "4", "--save", file)
                self.check(data, *run, "--resume", file)

    def test_of_one_that_cannot_is_refused(self):
        file = self.folder / "run.safetensors"
        self.train(self.write_set(), "--steps", "1", "--save", file)
        for more in (("--hidden", "9"), ("--optimizer", "sgd")):
            status, _, errors = self.run_tool(
                "plan", "--data", self.write_set(), "--resume", file, *more)
            self.assertEqual(status, DATA)
            self.assertIn("another run", errors)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
