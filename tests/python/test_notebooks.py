# SPDX-License-Identifier: Apache-2.0
"""The notebooks under examples/notebooks: run cell by cell, as they are kept, and as pages."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import plexor as px
from cases import TOP, has, needs

NOTEBOOKS = {os.path.basename(p)[:-6]: p for p in sorted(glob.glob(os.path.join(TOP, "examples", "notebooks", "*.ipynb")))}
MOST_BYTES = 300_000  # of one that is kept in the tree

# What a notebook does with a cell: runs it, and shows its last expression.
RUN = """
import ast, json, sys
import matplotlib.pyplot as plt
names = {"__name__": "__main__"}
for number, cell in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["cells"]):
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]), f"cell {number}")
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        if hasattr(shown, "_repr_html_"):
            assert len(shown._repr_html_()) > 100, number
    plt.close("all")
"""


def _cells(name):
    with open(NOTEBOOKS[name], encoding="utf-8") as file:
        return [c for c in json.load(file)["cells"] if c["cell_type"] == "code"]


def _has_pictures():
    try:
        return len(px.Data("fashion-mnist")) > 0
    except px.Error:
        return False


@needs("matplotlib")
@unittest.skipUnless(_has_pictures(), "dataset-fashion-mnist is not installed")
class Run(unittest.TestCase):
    def _run(self, name):
        done = subprocess.run([sys.executable, "-c", RUN, NOTEBOOKS[name]], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": sys.path[0], "MPLBACKEND": "Agg"}, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_first_look(self):
        self._run("first_look")

    def test_label_first(self):
        self._run("label_first")

    def test_find_and_fix(self):
        self._run("find_and_fix")

    def test_own_criterion(self):
        self._run("own_criterion")


class Kept(unittest.TestCase):
    def test_with_what_they_gave(self):
        self.assertEqual(sorted(NOTEBOOKS), ["find_and_fix", "first_look", "label_first", "own_criterion"])
        for name, path in NOTEBOOKS.items():
            with self.subTest(name):
                cells = _cells(name)
                self.assertEqual([c["execution_count"] for c in cells], list(range(1, len(cells) + 1)))
                kinds = [output["output_type"] for c in cells for output in c["outputs"]]
                self.assertNotIn("error", kinds)
                pictures = [o for c in cells for o in c["outputs"] if "image/png" in o.get("data", {})]
                self.assertGreater(len(pictures), 0)
                self.assertLess(os.path.getsize(path), MOST_BYTES)

    @unittest.skipUnless(has("nbconvert"), "nbconvert is not installed")
    def test_as_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", folder, *NOTEBOOKS.values()],
                           check=True, capture_output=True, env={**os.environ, "HOME": folder})
            for name in NOTEBOOKS:
                with open(os.path.join(folder, name + ".html"), encoding="utf-8") as file:
                    page = file.read()
                self.assertIn("<b>plexor ", page)
                self.assertGreater(page.count("data:image/png;base64,"), 10)


if __name__ == "__main__":
    unittest.main()
