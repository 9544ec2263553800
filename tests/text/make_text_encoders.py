#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_text_encoders.py - text_encoders/*.onnx, tiny transformers exported by PyTorch, and text_encoder_golden.h

Each has the shape of its namesake: CLIP's tower (causal, x*sigmoid(1.702x), features at the highest token, projection),
BERT (two-sided with a mask and token types; last hidden states and a pooler), GPT-2 (causal, no mask) and RoBERTa
(two-sided with a mask, positions from 2). Weights are random but fixed. The golden vectors are PyTorch's, pooled by
hand from tokens of make_encoder_golden.py.
"""
import json
import os

import torch
from torch import nn

import make_encoder_golden as golden

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEADS, LAYERS, LENGTH = 16, 2, 2, 24
TEXTS = ["a photo of a cat", "a photo of a dog with red stripes, blue grid at top", "red", "Hello, world!",
         "a photo of a cat with red stripes, blue grid at top and vertical edges and horizontal edges"]


class Block(nn.Module):
    def __init__(self, quick):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.quick = quick

    def forward(self, x, bias):
        n, length, _ = x.shape
        q, k, v = (t.reshape(n, length, HEADS, WIDTH // HEADS).transpose(1, 2) for t in self.qkv(self.ln_1(x)).chunk(3, -1))
        weights = (q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** .5 + bias).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(n, length, WIDTH))
        h = self.up(self.ln_2(x))
        return x + self.down(h * torch.sigmoid(1.702 * h) if self.quick else nn.functional.gelu(h))


class Tower(nn.Module):
    def __init__(self, tokens, kind):
        super().__init__()
        self.kind = kind
        self.tokens, self.positions = nn.Embedding(tokens, WIDTH), nn.Embedding(LENGTH + 2, WIDTH)
        self.types = nn.Embedding(2, WIDTH)
        self.blocks = nn.ModuleList(Block(kind == "clip") for _ in range(LAYERS))
        self.ln = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 12, bias=False)
        for p in self.parameters():
            nn.init.normal_(p, std=.4)

    def hidden(self, ids, mask=None, types=None):
        length = ids.shape[1]
        place = torch.arange(length) + (2 if self.kind == "roberta" else 0)
        x = self.tokens(ids) + self.positions(place)
        if types is not None:
            x = x + self.types(types)
        bias = torch.zeros(1, 1, 1, 1)
        if self.kind in ("clip", "gpt2"):
            # position against position: exporters know no triu of open size
            bias = (place[None, :] > place[:, None]).float() * -1e4
        if mask is not None:
            bias = bias + (1 - mask[:, None, None, :].float()) * -1e4
        for block in self.blocks:
            x = block(x, bias)
        return self.ln(x)


class Clip(Tower):
    def forward(self, ids):
        x = self.hidden(ids)
        return self.head(x[torch.arange(x.shape[0]), ids.argmax(-1)])


class Bert(Tower):
    def forward(self, ids, mask, types):
        x = self.hidden(ids, mask, types)
        return x, torch.tanh(self.head(x[:, 0]))


class Gpt2(Tower):
    def forward(self, ids):
        return self.hidden(ids)


class Roberta(Tower):
    def forward(self, ids, mask):
        return self.hidden(ids, mask)


def export(name, net, args, inputs, outputs, opened):
    path = os.path.join(HERE, "text_encoders", name + ".onnx")
    axes = {i: {0: "batch", 1: "tokens"} for i in inputs} if opened else None
    torch.onnx.export(net, args, path, input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=13)


def ints(*rows):
    return torch.tensor(rows, dtype=torch.int64)


def special(ids, start, end, length):
    room = length - (start is not None) - (end is not None)
    return ([] if start is None else [start]) + ids[:room] + ([] if end is None else [end])


def main():
    os.makedirs(os.path.join(HERE, "text_encoders"), exist_ok=True)
    clip_size = 512 + 90 + 2
    gpt2 = json.loads(golden.read("gpt2-vocab.json"))
    roberta = json.loads(golden.read("roberta-vocab.json"))
    pieces = golden.read("wordpiece-vocab.txt").split("\n")[:-1]
    merges = len(golden.merge_ranks("clip-merges.txt")[0])
    assert merges == clip_size - 514, merges
    nets = {}
    for seed, (name, kind, size) in enumerate((("clip", Clip, clip_size), ("bert", Bert, len(pieces)),
                                               ("gpt2", Gpt2, len(gpt2)), ("roberta", Roberta, len(roberta)))):
        torch.manual_seed(seed)
        nets[name] = kind(size, name).eval()
    export("clip", nets["clip"], (ints([1] * LENGTH),), ["text"], ["text_embeds"], False)
    three = tuple(ints([1] * 9) for _ in range(3))
    export("bert", nets["bert"], three, ["input_ids", "attention_mask", "token_type_ids"],
           ["last_hidden_state", "pooler_output"], True)
    export("gpt2", nets["gpt2"], three[:1], ["input_ids"], ["last_hidden_state"], True)
    export("roberta", nets["roberta"], three[:2], ["input_ids", "attention_mask"], ["last_hidden_state"], True)

    rows = []
    with torch.no_grad():
        for text in TEXTS:
            own = golden.clip_tokens(text)
            ids = special(own, clip_size - 2, clip_size - 1, LENGTH)
            rows.append(("clip", None, text, own, LENGTH - 2,
                         nets["clip"](ints(ids + [0] * (LENGTH - len(ids))))[0]))
            own = golden.wordpiece_tokens(text)
            ids = special(own, 2, 3, LENGTH)
            state, pooled = nets["bert"](ints(ids), torch.ones(1, len(ids)), ints([0] * len(ids)))
            rows.append(("bert", None, text, own, LENGTH - 2, state[0, 1:-1].mean(0)))
            rows.append(("bert", "cls", text, own, LENGTH - 2, state[0, 0]))
            rows.append(("bert", "last", text, own, LENGTH - 2, state[0, -2]))
            rows.append(("bert", "pooler_output", text, own, LENGTH - 2, pooled[0]))
            own = golden.gpt2_tokens(text)
            state = nets["gpt2"](ints(own[:LENGTH]))[0]
            rows.append(("gpt2", None, text, own, LENGTH, state.mean(0)))
            rows.append(("gpt2", "eot", text, own, LENGTH, state[own[:LENGTH].index(max(own[:LENGTH]))]))
            own = [i + 4 for i in own]
            ids = special(own, 0, 2, LENGTH)
            rows.append(("roberta", None, text, own, LENGTH - 2,
                         nets["roberta"](ints(ids), torch.ones(1, len(ids)))[0, 1:-1].mean(0)))
    with open(os.path.join(HERE, "text_encoder_golden.h"), "w", encoding="utf-8") as out:
        print("""/* tests/text/text_encoder_golden.h - made by make_text_encoders.py with PyTorch */
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum { GOLDEN_LENGTH = %d };
static const struct {
    const char *net, *how; /* how: pool or output */
    const char *text;
    int64_t tokens, dropped;
    size_t size;
    double vector[%d];
} text_encoder_golden[] = {""" % (LENGTH, WIDTH), file=out)
        for net, how, text, own, room, vector in rows:
            kept = min(len(own), room)
            print('    {"%s", %s, "%s", %d, %d, %d,\n     %s},'
                  % (net, '"%s"' % how if how else "NULL", text, kept, len(own) - kept, len(vector),
                     golden.c_row(vector.tolist(), "%.8g")), file=out)
        print("};\n/* clang-format on */", file=out)


if __name__ == "__main__":
    main()
