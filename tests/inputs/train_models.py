#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains and exports the networks that the tests of texts, several inputs and regression use, and what PyTorch says of them.

    tests/inputs/train_models.py FOLDER [--size small|large]

`language.onnx` tells which of five languages some words are of, as BERT does: `input_ids` and `attention_mask`, int64, with an open batch and
an open length; `language_b1.onnx` is the same exported for one text of 24 tokens. Its words are those of Debian's word lists (wamerican, wngerman,
wfrench, wspanish, witalian); vocab.txt is its WordPiece vocabulary. `angle.onnx` says by which angle (in units of 90 degrees) a picture's
bar is turned, as a steering network does. `mixed.onnx` takes four inputs of other shapes and types, with weights as they are drawn. PyTorch 1.13 with a fixed seed on one thread; models/ holds what `--size small` gave.
"""
import argparse
import collections
import csv
import os
import unicodedata

import numpy as np
import torch
from torch import nn

DICT = "/usr/share/dict"
LANGUAGES = {"english": "american-english", "french": "french", "german": "ngerman", "italian": "italian", "spanish": "spanish"}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LENGTH = 24


def plain(word):
    """Lower case without accents, as BERT's uncased tokeniser has it."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")


def words_of(name):
    with open(os.path.join(DICT, LANGUAGES[name]), encoding="utf-8") as lines:
        words = (line.strip() for line in lines)
        return sorted({w for w in words if w.isalpha() and 4 <= len(w) <= 12 and plain(w).isascii()})


def make_vocabulary(words, size):
    """Letters, and the most frequent groups of two and three, at the beginning of a word and within."""
    count = collections.Counter()
    for word in words:
        word = plain(word)
        for n in (2, 3):
            for i in range(len(word) - n + 1):
                count["##" * (i > 0) + word[i:i + n]] += n - 1
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    vocabulary = SPECIAL + letters + ["##" + c for c in letters]
    return vocabulary + [piece for piece, _ in count.most_common(size - len(vocabulary))]


def pieces(vocabulary, word):
    found, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start and ("##" * (start > 0) + word[start:end]) not in vocabulary:
            end -= 1
        if end == start:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary["##" * (start > 0) + word[start:end]])
        start = end
    return found


def encode(vocabulary, text, length):
    ids = [vocabulary["[CLS]"]]
    for word in plain(text).split():
        ids += pieces(vocabulary, word)
    ids = ids[:length - 1] + [vocabulary["[SEP]"]]
    return ids + [0] * (length - len(ids)), [1] * len(ids) + [0] * (length - len(ids))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, mask):
        n, t, c = x.shape

        def split(y):
            return y.view(n, t, self.heads, c // self.heads).transpose(1, 2)
        scores = split(self.query(x)) @ split(self.key(x)).transpose(2, 3) / (c // self.heads) ** 0.5
        shares = (scores + (1.0 - mask[:, None, None, :]) * -1e4).softmax(-1)
        x = self.norm1(x + self.out((shares @ split(self.value(x))).transpose(1, 2).reshape(n, t, c)))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Language(nn.Module):
    def __init__(self, tokens, width, heads, layers, classes):
        super().__init__()
        self.words, self.positions = nn.Embedding(tokens, width), nn.Embedding(64, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.classifier = nn.Linear(width, classes)

    def forward(self, input_ids, attention_mask):
        place = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.norm(self.words(input_ids) + self.positions(place)[None])
        for layer in self.layers:
            x = layer(x, attention_mask.float())
        return self.classifier(x[:, 0])


class Angle(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 5, stride=2), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, stride=2), nn.ReLU(),
                                  nn.Flatten(), nn.Linear(2 * width * 25, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x)


def texts_of(rng, words, count):
    """Some words of one language each, the languages in turn."""
    rows = []
    for i in range(count):
        name = sorted(words)[i % len(words)]
        rows.append((" ".join(rng.choice(words[name], rng.integers(2, 6))), name))
    return rows


def bars(rng, count):
    """Pictures of 28 x 28 with a bright bar, blurred and noisy, turned by -45 to 45 degrees: uint8, and the angle."""
    angle = rng.uniform(-0.5, 0.5, count)
    y, x = np.mgrid[0:28, 0:28] - 13.5
    turned = angle[:, None, None] * np.pi / 2
    shift = rng.uniform(-3, 3, (count, 2))
    across = (x - shift[:, :1, None]) * np.cos(turned) + (y - shift[:, 1:, None]) * np.sin(turned)
    along = (y - shift[:, 1:, None]) * np.cos(turned) - (x - shift[:, :1, None]) * np.sin(turned)
    bright = 220 * np.exp(-(across / 1.6) ** 2) / (1 + np.exp((np.abs(along) - 9) * 2))
    noise = rng.normal(0, 3, bright.shape)
    return np.clip(bright + 20 + noise, 0, 255).round().astype(np.uint8), angle.astype(np.float32)


def train(model, arrays, target, loss, steps, rate, batch=128):
    rng = np.random.default_rng(1)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps)
    for _ in range(steps):
        pick = torch.from_numpy(rng.integers(0, len(target), batch))
        value = loss(model(*(a[pick] for a in arrays)), target[pick])
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        schedule.step()
    return model.eval()


def make_language(folder, small):
    rng = np.random.default_rng(0)
    all_words = {name: words_of(name) for name in sorted(LANGUAGES)}
    part = {name: rng.random(len(words)) < 0.9 for name, words in all_words.items()}
    words = {name: np.array(all_words[name])[part[name]] for name in all_words}
    others = {name: np.array(all_words[name])[~part[name]] for name in all_words}
    names = make_vocabulary([w for name in words for w in words[name][::5]], 300 if small else 4000)
    vocabulary = {piece: i for i, piece in enumerate(names)}
    rows, tests = texts_of(rng, words, 30000), texts_of(rng, others, 100 if small else 2000)
    classes = sorted(LANGUAGES)

    def arrays(rows):
        tokens = [encode(vocabulary, text, LENGTH) for text, _ in rows]
        return [torch.tensor([t[k] for t in tokens]) for k in (0, 1)], torch.tensor([classes.index(c) for _, c in rows])
    inputs, labels = arrays(rows)
    model = Language(len(names), *((24, 2, 1) if small else (128, 4, 4)), len(classes))
    train(model, inputs, labels, nn.CrossEntropyLoss(), 900 if small else 2000, 3e-3 if small else 1e-3)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as f:
        f.write("".join(piece + "\n" for piece in names))
    with open(os.path.join(folder, "language.csv"), "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["text", "label", "split"])
        out.writerows((*row, "test") for row in tests)
        out.writerows((*row, "train") for row in rows[:100 if small else 2000])
    (ids, mask), y = arrays(tests)
    (train_ids, train_mask), train_y = arrays(rows[:100 if small else 2000])
    np.savez_compressed(os.path.join(folder, "language.npz"), input_ids_test=ids, attention_mask_test=mask, y_test=y,
                        input_ids_train=train_ids, attention_mask_train=train_mask, y_train=train_y)
    feeds = ["input_ids", "attention_mask"]
    open_axes = {name: {0: "batch", 1: "tokens"} for name in feeds}
    export(model, (ids[:2], mask[:2]), os.path.join(folder, "language.onnx"), feeds, {**open_axes, "logits": {0: "batch"}}, classes)
    export(model, (ids[:1], mask[:1]), os.path.join(folder, "language_b1.onnx"), feeds, None, classes)
    return golden_of(model, (ids, mask), {"up": model.layers[0].up, "out": model.layers[0].out, "norm2": model.layers[0].norm2}, y)


def make_angle(folder, small):
    rng = np.random.default_rng(2)
    x, angle = bars(rng, 6000)
    tests, test_angle = bars(rng, 48 if small else 2000)
    inputs = torch.from_numpy(x[:, None].astype(np.float32) / 255)
    model = train(Angle(4 if small else 16), [inputs], torch.from_numpy(angle)[:, None], nn.MSELoss(), 1500, 3e-3)
    np.savez_compressed(os.path.join(folder, "angle.npz"), x_test=tests[:, None], y_test=test_angle, x_train=x[:48, None], y_train=angle[:48])
    np.save(os.path.join(folder, "angle_x.npy"), tests[:4, None])
    test = torch.from_numpy(tests[:, None].astype(np.float32) / 255)
    export(model, (test[:2],), os.path.join(folder, "angle.onnx"), ["x"], {"x": {0: "batch"}, "angle": {0: "batch"}}, None, "angle")
    return golden_of(model, (test,), {"hidden": model.body[6]}, None)


class Mixed(nn.Module):
    """A picture, a speed, a gear, and whether lights are on: what some driving networks take."""

    def __init__(self):
        super().__init__()
        self.eye, self.gears, self.head = nn.Conv2d(1, 2, 3), nn.Embedding(5, 3), nn.Linear(2 * 36 + 1 + 3 + 1, 3)

    def forward(self, picture, speed, gear, lights):
        seen = torch.relu(self.eye(picture)).flatten(1)
        return self.head(torch.cat([seen, speed, self.gears(gear), lights[:, None].float()], 1))


def make_mixed(folder, _small):
    torch.manual_seed(3)
    model = Mixed().eval()
    picture, speed = torch.rand(12, 1, 8, 8), torch.rand(12, 1) * 30
    gear, lights = torch.randint(0, 5, (12,)), torch.rand(12) < 0.5
    inputs = (picture, speed, gear, lights)
    names = ["picture", "speed", "gear", "lights"]
    export(model, tuple(x[:2] for x in inputs), os.path.join(folder, "mixed.onnx"), names, {**{n: {0: "batch"} for n in names}, "logits": {0: "batch"}}, None)
    np.savez(os.path.join(folder, "mixed.npz"), **dict(zip(names, (x.numpy() for x in inputs))), y=model(*inputs).argmax(1).numpy())
    return golden_of(model, inputs, {"eye": model.eye}, None)


def export(model, inputs, path, names, axes, classes, output="logits"):
    import json
    import onnx
    torch.onnx.export(model, inputs, path, input_names=names, output_names=[output], dynamic_axes=axes, opset_version=13)
    graph = onnx.load(path)
    if classes:
        entry = graph.metadata_props.add()
        entry.key, entry.value = "plexor.classes", json.dumps(classes)
    onnx.save(graph, path)


def golden_of(model, inputs, modules, labels):
    """What PyTorch says: the output, and the values of some layers, of the first four inputs."""
    held = {}
    hooks = [module.register_forward_hook(lambda _m, _i, out, name=name: held.__setitem__(name, out.detach().numpy()))
             for name, module in modules.items()]
    with torch.no_grad():
        model(*(x[:4] for x in inputs))
        for hook in hooks:
            hook.remove()
        held["output"] = model(*inputs).numpy()
    if labels is not None:
        held |= fgsm_of(model, inputs, labels)
        held["accuracy"] = np.float64((held["output"].argmax(1) == labels.numpy()).mean())
        held["loss"] = np.float64(nn.functional.cross_entropy(torch.from_numpy(held["output"]), labels).item())
    return held


def fgsm_of(model, inputs, labels, eps=0.05):
    """One step along the sign of the gradient, of the first four texts, where the table's vectors go in."""
    vectors = []

    def keep(_module, _inputs, out):
        vectors.append(out)
        out.retain_grad()
    hook = model.words.register_forward_hook(keep)
    nn.functional.cross_entropy(model(*(x[:4] for x in inputs)), labels[:4], reduction="sum").backward()
    hook.remove()
    return {"embedded": vectors[0].detach().numpy(), "fgsm": (vectors[0] + eps * vectors[0].grad.sign()).detach().numpy()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--size", choices=["small", "large"], default="small")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    golden = {f"{name}/{key}": value for name, make in (("language", make_language), ("angle", make_angle), ("mixed", make_mixed))
              for key, value in make(args.folder, args.size == "small").items()}
    np.savez_compressed(os.path.join(args.folder, "golden.npz"), **golden)
    for name in sorted(os.listdir(args.folder)):
        print(name, os.path.getsize(os.path.join(args.folder, name)))
    print({k: float(v) for k, v in golden.items() if v.ndim == 0})


if __name__ == "__main__":
    main()
