"""The reference shows what headers say, and refuses what is wrong in them."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

# pylint: disable=wrong-import-position
from headers import Function, functions, paragraph  # noqa: E402
from reference_headers import Header  # noqa: E402
from reference_pages import Pages, slug  # noqa: E402

LICENCE = "// Copyright\n"


def shown(text, group="room_x"):
    return Header(LICENCE + text, group).lines


class HeaderTest(unittest.TestCase):
    def test_shows_the_paragraph_as_the_files(self):
        lines = shown("// What it is.\n#pragma once\n")
        self.assertEqual(
            lines[:3], ["/// @file", "/// @ingroup room_x", "/// What it is."])

    def test_gives_the_paragraph_to_the_class_that_it_names(self):
        lines = shown("// Box: holds things.\n#pragma once\n"
                      "namespace neap {\nclass NEAP_API Box {\n};\n}\n")
        at = lines.index("class NEAP_API Box {")
        self.assertEqual(lines[at - 1], "/// Holds things.")

    def test_puts_what_namespaces_hold_on_the_page(self):
        lines = shown("#pragma once\nnamespace neap {\nnamespace ops {\n"
                      "int f();\n}\nint g();\n}\n")
        text = "\n".join(lines)
        for name in ("int f();", "int g();"):
            opened = text.rindex("@{", 0, text.index(name))
            self.assertNotIn("@}", text[opened:text.index(name)])
        opened = text.rindex("@}", 0, text.index("namespace ops"))
        self.assertNotIn("@{", text[opened:text.index("namespace ops")])
        self.assertEqual(text.count("@{"), text.count("@}"))

    def test_makes_headings_of_contracts(self):
        lines = shown("#pragma once\n/// Sums. THROWS: ShapeError for a\n"
                      "/// bad axis. LIFETIME: as x.\nint f();\n")
        self.assertEqual(lines[2:9], [
            "/// Sums.", "/// @par Throws", "/// ShapeError for a",
            "/// bad axis.", "/// @par Lifetime", "/// as x.", "int f();"])

    def test_shares_a_comment_with_the_overload_below(self):
        lines = shown("#pragma once\n/// Sums.\nint f(int a);\nint f(long a);\n"
                      "int g();\n\nint f();\n")
        self.assertEqual(lines[2:], ["/// Sums.", "int f(int a);", "/// Sums.",
                                     "int f(long a);", "int g();", "",
                                     "int f();"])

    def test_shares_a_comment_with_an_ops_twin(self):
        lines = shown("#pragma once\n/// The larger.\nint max(int a);\n"
                      "int min(int a);\n", "op_max")
        self.assertEqual(lines[4], "/// The larger.")

    def test_gives_a_members_comment_at_the_end_of_a_line_to_it(self):
        lines = shown("#pragma once\nstruct S {\n"
                      "  int a = 0;   // of one\n               // thing\n"
                      "  int b;  // NOLINT: free\n};\n")
        self.assertEqual(lines[3:7], ["  int a = 0;", "///< of one",
                                      "///< thing", "  int b;"])

    def test_leaves_comments_inside_functions_alone(self):
        lines = shown("#pragma once\ninline int f() {\n"
                      "  int a = 0;  // of one\n  return a;\n}\n")
        self.assertIn("  int a = 0;  // of one", lines)

    def test_groups_members_under_titles(self):
        lines = shown("#pragma once\nclass C {\n public:\n"
                      "  // --- looking; THROW: ShapeError ---\n  int f();\n"
                      " private:\n  int a_;\n};\n")
        start = lines.index("/// @name Looking")
        self.assertEqual(lines[start + 2:start + 4],
                         ["/// @par Throws", "/// ShapeError"])
        self.assertEqual(lines[lines.index("  int f();") + 1], "/// @}")

    def test_escapes_what_doxygen_would_take_for_commands(self):
        lines = shown("#pragma once\n/// a <b> and `c <d>` #e 5% @f.\n"
                      "int f();\n")
        self.assertEqual(lines[2],
                         "/// a \\<b> and `c <d>` \\#e 5\\% \\@f.")

    def test_keeps_indented_lines_as_code(self):
        lines = shown("// Say:\n//\n//   int x = f();\n//\n// and go.\n"
                      "#pragma once\n")
        self.assertEqual(lines[2:], ["/// Say:", "///", "/// @code{.cpp}",
                                     "///   int x = f();", "/// @endcode",
                                     "///", "/// and go."])

    def test_knows_the_line_that_each_comes_from(self):
        header = Header(LICENCE + "#pragma once\n/// A. THROWS: B.\nint f();\n",
                        "room_x")
        self.assertEqual(header.origins[header.lines.index("int f();")], 4)


class FunctionTest(unittest.TestCase):
    def test_names_operands_and_no_other_parameters(self):
        function = Function("", "f", "const Operand& x, Shape axes = {1, 2},"
                            " std::span<const Tensor> others")
        self.assertEqual(function.operands, ["x", "others"])

    def test_tells_functions_of_rules_from_those_of_users(self):
        found = {(f.name, f.is_inner)
                 for f in functions("neap/ops/reduction/sum.hpp")}
        self.assertEqual(found, {("sum_axes", True), ("sum", False),
                                 ("mean", False), ("sum_of_squares", False)})

    def test_finds_the_opening_paragraph(self):
        text = LICENCE + "// a\n//\n//   b\n#pragma once\n"
        self.assertEqual(paragraph(text), ["a", "", "  b"])


class PagesTest(unittest.TestCase):
    pages = Pages(["README.md", "docs/memory.md"],
                  {"neap/ops/elementwise/arithmetic.hpp": "@ref op_add"})

    def test_leads_links_to_pages_and_their_headings(self):
        line = "[m](docs/memory.md#a-b)"
        self.assertEqual(self.pages.links("README.md", line),
                         "[m](@ref page_memory_a-b)")

    def test_leads_links_from_a_folder(self):
        line = "[`add`](../neap/ops/elementwise/arithmetic.hpp), [m](../README.md)"
        self.assertEqual(self.pages.links("docs/memory.md", line),
                         "[add](@ref op_add), [m](@ref mainpage)")

    def test_leaves_the_text_of_a_link_that_leads_nowhere(self):
        self.assertEqual(self.pages.links("README.md", "[LICENSE](LICENSE)"),
                         "LICENSE")

    def test_names_headings_as_the_web_does(self):
        self.assertEqual(slug("A `--flag`, and more"), "a---flag-and-more")


@unittest.skipUnless(shutil.which("doxygen"), "there is no doxygen")
class DoxygenTest(unittest.TestCase):
    def warnings(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            group = "/** @defgroup room_x x */"
            (path / "x.hpp").write_text("\n".join([group, *shown(text)]) + "\n")
            settings = (ROOT / "docs/reference/Doxyfile").read_text()
            settings += (f"INPUT={folder}/x.hpp\nOUTPUT_DIRECTORY={folder}\n"
                         f"WARN_LOGFILE={folder}/log\nGENERATE_HTML=NO\n"
                         "GENERATE_XML=YES\n")
            subprocess.run(["doxygen", "-"], input=settings, text=True,
                           check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
            return (path / "log").read_text()

    def test_is_content_with_a_right_comment(self):
        self.assertEqual(self.warnings(
            "// X.\n#pragma once\nnamespace neap {\n/// Twice x. THROWS: never."
            "\nint twice(int x);\n}\n"), "")

    def test_names_a_reference_that_leads_nowhere(self):
        self.assertIn("missing_name", self.warnings(
            "#pragma once\nnamespace neap {\n/// As ::missing_name().\nint f();"
            "\n}\n"))


if __name__ == "__main__":
    unittest.main()
