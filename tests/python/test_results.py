# SPDX-License-Identifier: Apache-2.0
"""Results as objects: attributes, frames, arrays, HTML, pictures."""
import gc
import io
import os
import tempfile
import unittest
import zlib

import numpy
import plexor as px
from cases import DIGITS, digits, needs


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = px.load(DIGITS)
        x, y, classes = digits()
        cls.data = px.Data(x[:400], y[:400], classes=classes)
        cls.eval = cls.network.eval(cls.data)

    def test_eval(self):
        x, y, _ = digits()
        found = self.eval
        self.assertEqual(found.probs.shape, (400, 10))
        numpy.testing.assert_allclose(found.probs.sum(axis=1), 1, atol=1e-5)
        numpy.testing.assert_array_equal(found.predicted, found.probs.argmax(axis=1))
        self.assertEqual(found.correct, int((found.predicted == y[:400]).sum()))
        self.assertEqual(len(found.wrong), 400 - found.correct)
        self.assertGreater(len(found.wrong), 0)
        numpy.testing.assert_array_equal(found.wrong.x, x[:400][found.predicted != y[:400]])
        matrix = numpy.zeros((10, 10))
        numpy.add.at(matrix, (y[:400], found.predicted), 1)
        numpy.testing.assert_array_equal(found.confusion, matrix)
        self.assertEqual(self.network.eval(found.wrong, allow_chance=True).correct, 0)

    def test_nothing_wrong(self):
        right = self.network.eval(self.data[self.eval.predicted == self.data.y])
        self.assertEqual((right.accuracy, len(right.wrong)), (1, 0))
        self.assertIn("no inputs", right.wrong._repr_html_())
        self.assertNotIn("misclassified", right._repr_html_())
        with self.assertRaisesRegex(px.InputError, "there is no input"):
            self.network.eval(right.wrong)

    def test_parts_keep_their_numbers(self):
        part = self.data[10:20][[3, 1]]
        self.assertEqual(part.names, ["13", "11"])
        rows = self.network.predict(part).rows()
        self.assertEqual([r["name"] for r in rows], ["13", "11"])

    def test_wrong_of_data_by_name(self):
        by_name = self.network.eval("digits", offset=100, limit=300)
        x, y, _ = digits()
        wrong = by_name.wrong_indices + 100
        numpy.testing.assert_array_equal(by_name.wrong.x, x[wrong])
        numpy.testing.assert_array_equal(by_name.wrong.y, y[wrong])

    def test_attributes(self):
        found = self.eval
        self.assertEqual(found.per_class[3].count, 40)
        self.assertEqual(found.per_class["class"], list(range(10)))
        self.assertEqual(found["accuracy"], found.accuracy)
        self.assertIsNone(found.damaged)  # left out here
        self.assertEqual(found.preprocessing.mean, [0])
        with self.assertRaisesRegex(AttributeError, "no 'acuracy'"):
            found.acuracy
        self.assertIn("accuracy", dir(found))

    def test_select_indexes_data(self):
        chosen = self.network.select(self.data, by="gini", budget=25)
        self.assertEqual(len(chosen.indices), 25)
        gini = 1 - (self.eval.probs.astype(float) ** 2).sum(axis=1)
        numpy.testing.assert_allclose(gini[chosen.indices], numpy.sort(gini)[::-1][:25], rtol=1e-4)
        numpy.testing.assert_array_equal(self.data[chosen].x, self.data.x[chosen.indices])
        both = self.network.select(self.data, by=["gini", "random"], budget=5)
        self.assertEqual(len(both.of("random")), 5)
        with self.assertRaises(ValueError):
            both.indices  # pylint: disable=pointless-statement

    def test_sweep(self):
        runs = self.network.attack(self.data[:50], "pgd", eps=[0.01, "16/255", 0.3], steps=5)
        rows = runs.rows()
        self.assertEqual([r["eps"] for r in rows], [0.01, "16/255", 0.3])
        robust = [r["robust_accuracy"] for r in rows]
        self.assertEqual(robust, sorted(robust, reverse=True))
        self.assertIn("16/255", runs._repr_html_())

    def test_trace_in_batches(self):
        whole = self.network.trace(self.data, limit=50).arrays()
        parts = list(self.network.trace_batches(self.data, 20, limit=50))
        self.assertEqual(len(parts), 3)
        for name, values in whole.items():
            if name != "indices":
                numpy.testing.assert_array_equal(numpy.concatenate([p[name] for p in parts]), values)

    def test_train_and_repair_give_networks(self):
        x, y, _ = digits()
        trained = px.train((x[:500], y[:500]), arch="lenet1", epochs=1, test="none", seed=1)
        network = trained.network
        with tempfile.TemporaryDirectory() as folder:
            network.save(os.path.join(folder, "n.onnx"))
            again = px.load(os.path.join(folder, "n.onnx"))
            self.assertEqual(again.eval(self.data, allow_chance=True).correct,
                             network.eval(self.data, allow_chance=True).correct)
        repaired = network.repair((x[:500], y[:500]), (x[500:900], y[500:900]), epochs=2, test=(x[900:], y[900:]))
        self.assertIsInstance(repaired.network, px.Network)
        self.assertEqual(repaired.network.eval(self.data, allow_chance=True).count, 400)

    def test_mutants(self):
        made = px.mutate(self.data[:5], "rotation angle=20")
        self.assertEqual(made.data.x.shape, (5, 1, 28, 28))
        self.assertFalse(numpy.array_equal(made.data.x, self.data.x[:5]))
        numpy.testing.assert_array_equal(made.data.y, self.data.y[:5])

    def test_failures_have_their_originals(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.network.fuzz(self.data[:40], "nc", out=folder + "/c", executions=800, seed=2)
            failures = run.failures()
            self.assertEqual(len(failures), run.faults)
            for failure in failures[:20]:
                same = (self.data.x[:40] == failure.original).all(axis=(1, 2, 3))
                self.assertTrue(same.any())
                self.assertNotEqual(failure.label, failure.prediction)
            got = self.network.predict(numpy.stack([f.input for f in failures]), output="mem:p.npz").arrays()
            numpy.testing.assert_array_equal(got["predicted"], [f.prediction for f in failures])
            self.assertIn("original, failing, difference", run._repr_html_())
            self.assertEqual(len(px.Data(run, split="faults")), len(failures))

    def test_html(self):
        from html.parser import HTMLParser  # pylint: disable=import-outside-toplevel

        class Balanced(HTMLParser):
            def __init__(self):
                super().__init__()
                self.open, self.images = [], 0

            def handle_starttag(self, tag, attrs):
                self.images += tag == "img"
                if tag != "img":
                    self.open.append(tag)

            def handle_startendtag(self, tag, attrs):
                pass  # <rect/>

            def handle_endtag(self, tag):
                assert self.open.pop() == tag, tag
        for found, images in ((self.eval, min(12, len(self.eval.wrong))),
                              (self.network.cover(self.data, ["nc", "kmnc"], train=self.data), 0),
                              (self.network.localize(self.data, include_uninformative=True), 0),
                              (self.network.select(self.data, by=["gini", "random"], budget=5), 10),
                              (self.network.explain("3", data=self.data), 1),
                              (self.network.info(), 0), (self.data, 24), (self.network, 0)):
            parser = Balanced()
            parser.feed(found._repr_html_())
            self.assertEqual((parser.open, parser.images), ([], images), type(found))

    def test_check_shows_its_gates(self):
        with tempfile.TemporaryDirectory() as folder:
            page = self.network.check(self.data, minutes=0.05, out=folder + "/c",
                                      gates=["accuracy>=0.9", "ece<=0.000001"])._repr_html_()
        self.assertRegex(page, "accuracy &gt;= 0.9</td>.*>holds<.*ece &lt;= 1e-06</td>.*>does not hold<")
        self.assertIn("stages: eval", page)
        self.assertIn("original, failing, difference", page)
        with self.assertRaisesRegex(px.UsageError, "ece holds with <="):
            self.network.check(self.data, gates="ece>=0.1")

    def test_explained(self):
        found = self.network.explain("3", data=self.data)
        self.assertEqual(found.picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([r["layer"] for r in found.rows()], [p["layer"] for p in found.to_dict()["images"][0]["path"]])

    def test_networks_with_other_options_are_the_same(self):
        with open(DIGITS, "rb") as file:
            network = px.load(file.read(), batch=16)
        other = network.with_options(threads=1)
        self.assertEqual((other.spec, other.options, network.options), (network.spec, {"batch": 16, "threads": 1}, {"batch": 16}))
        del network
        gc.collect()
        self.assertEqual(other.eval(self.data).correct, self.eval.correct)  # it is still in memory
        with self.assertRaisesRegex(TypeError, "'spede'"):
            other.with_options(spede=1)

    def test_gradients_of_neurons_need_no_labels(self):
        gradient = self.network.grad(self.data.x[:2].astype(numpy.float32), of="/1/Relu:2").arrays()
        self.assertEqual([v.shape for v in gradient.values()], [(2, 1, 28, 28)])

    def test_networks_are_made_once(self):
        x, y, _ = digits()
        trained = px.train((x[:100], y[:100]), arch="lenet1", epochs=1, test="none", seed=1)
        self.assertIs(trained.network, trained.network)

    def test_neurons_lie_where_they_are(self):
        found = self.network.localize(self.data, include_uninformative=True)
        units = {(r["layer"], r["unit"]) for r in found.rows()}
        page = found._repr_html_()
        self.assertGreater(len(units), 1)
        for layer, unit in units:
            size = next(one["neurons"] for one in found.to_dict()["layers"] if one["name"] == layer)
            self.assertRegex(page, rf'x="{600 * unit / size:.1f}"[^>]*><title>{layer} {unit}: ')

    def test_png(self):
        from plexor._html import png  # pylint: disable=import-outside-toplevel
        pixels = numpy.arange(60, dtype=numpy.uint8).reshape(4, 5, 3)
        made = png(pixels)
        at = made.index(b"IDAT")
        size = int.from_bytes(made[at - 4:at], "big")
        lines = numpy.frombuffer(zlib.decompress(made[at + 4:at + 4 + size]), numpy.uint8).reshape(4, 16)
        numpy.testing.assert_array_equal(lines[:, 1:].reshape(4, 5, 3), pixels)

    @needs("pandas")
    def test_frames(self):
        frame = self.eval.frame()
        self.assertEqual(len(frame), 10)
        self.assertEqual(frame["correct"].sum(), self.eval.correct)
        self.assertEqual(list(self.network.cover(self.data, "nc,nbc", train=self.data).frame()["name"]), ["nc", "nbc"])
        self.assertEqual(len(self.network.select(self.data, by="gini", budget=7).frame()), 7)
        import pandas  # pylint: disable=import-outside-toplevel
        meta = pandas.DataFrame({"camera": list("abcd") * 100})
        data = px.Data(self.data.x, self.data.y, meta=meta)
        self.assertEqual(list(data[[3, 0]].frame()["camera"]), ["d", "a"])

    @needs("matplotlib")
    def test_plots(self):
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        for found in (self.eval, self.network.cover(self.data, "nc,nbc", train=self.data),
                      self.network.localize(self.data, include_uninformative=True),
                      self.network.attack(self.data[:20], "fgsm", eps=[0.1, 0.2])):
            axes = found.plot()
            if getattr(found, "name", "") == "localize":
                self.assertGreater(len(axes.patches), 2)
                self.assertFalse([t for t in axes.get_yticklabels() if "None" in t.get_text()])
            file = io.BytesIO()
            axes.figure.savefig(file)
            self.assertGreater(len(file.getvalue()), 5000)
            matplotlib.pyplot.close(axes.figure)


class Sources(unittest.TestCase):
    def test_a_source_of_ones_own(self):
        x, y, _ = digits()

        class Mine:
            shape, dtype, classes = (1, 28, 28), "uint8", [f"digit {i}" for i in range(10)]

            def __len__(self):
                return 200

            def __getitem__(self, index):
                if index == self.broken:
                    raise ValueError("the disk is gone")
                return x[index]

            def label(self, index):
                return y[index]
            broken = None
        network, mine = px.load(DIGITS), Mine()
        self.assertEqual(network.eval(px.Data(mine)).to_dict()["confusion"],
                         network.eval((x[:200], y[:200])).to_dict()["confusion"])
        mine.broken = 150
        with self.assertRaisesRegex(px.InputError, "input 150 of a source in Python: ValueError: the disk is gone"):
            network.eval(px.Data(mine))


if __name__ == "__main__":
    unittest.main()
