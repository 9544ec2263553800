#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_captioner.h: losses, gradients and two steps of AdamW of both networks of a captioner, by
PyTorch's own modules in float64.

    /usr/bin/python3 tests/describe/golden/make_captioner.py > tests/describe/golden/golden_captioner.h
"""
import torch
from torch import nn

torch.manual_seed(10)
torch.set_default_dtype(torch.float64)
KNOWN, D, H, A, F, K = 5, 3, 4, 5, 6, 3
WORDS, START, STOP = KNOWN + 4, KNOWN, KNOWN + 1
# (unit, words); several lengths, out of order, one unit twice
CAPTIONS = [(0, [1, 3]), (2, [0, 4, 2, 2]), (1, [3]), (0, [2, 1, 0]), (3, [4])]
UNITS, REGULARIZER, RATE, STEPS = 4, 0.7, 1e-2, 2


def exact(tensor):
    """Numbers that float32 holds."""
    return tensor.float().double()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, D)
        self.start_h, self.start_c = nn.Linear(F, H), nn.Linear(F, H)
        self.key, self.query, self.score = nn.Linear(F, A), nn.Linear(H, A), nn.Linear(A, 1)
        self.gate, self.cell, self.out = nn.Linear(H, F), nn.LSTMCell(D + F, H), nn.Linear(H, WORDS)

    def parts(self):
        return [self.embedding.weight, self.start_h.weight, self.start_c.weight, self.start_h.bias, self.start_c.bias,
                self.key.weight, self.key.bias, self.query.weight, self.gate.weight, self.cell.weight_hh,
                self.query.bias, self.gate.bias, self.cell.bias_hh, self.score.weight, self.score.bias,
                self.cell.weight_ih, self.cell.bias_ih, self.out.weight, self.out.bias]

    def loss(self, features, masks):
        """The captions one by one: nothing is padded, so nothing can leak."""
        losses, penalties, words = [], [], 0
        for (unit, caption), mask in zip(CAPTIONS, masks):
            a = features[unit]
            mean = a.mean(0)
            h, c = torch.tanh(self.start_h(mean))[None], torch.tanh(self.start_c(mean))[None]
            total = torch.zeros(K)
            for t, (word, target) in enumerate(zip([START] + caption, caption + [STOP])):
                e = self.score(torch.tanh(self.query(h) + self.key(a)))[:, 0]
                alpha = torch.softmax(e, 0)
                total = total + alpha
                z = torch.sigmoid(self.gate(h)) * (alpha @ a)
                h, c = self.cell(torch.cat([self.embedding.weight[word][None], z], 1), (h, c))
                scores = self.out(h * mask[t])
                losses.append(nn.functional.cross_entropy(scores, torch.tensor([target])))
            penalties.append(((1 - total) ** 2).mean())
            words += len(caption) + 1
        return sum(losses) / words, REGULARIZER * sum(penalties) / len(CAPTIONS)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, D)
        self.lstm = nn.LSTM(D, H, num_layers=2, batch_first=True)
        self.low, self.high = nn.LSTM(D, H, batch_first=True), nn.LSTM(H, H, batch_first=True)
        self.out = nn.Linear(H, WORDS)

    def parts(self):
        return ([self.embedding.weight]
                + [getattr(layer, name + "_l0") for layer in (self.low, self.high)
                   for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                + [self.out.weight, self.out.bias])

    def loss(self, _, masks):
        losses, words = [], 0
        for (_, caption), mask in zip(CAPTIONS, masks):
            x = self.embedding(torch.tensor([[START] + caption]))
            low = self.low(x)[0]
            high = self.high(low * mask[None, :len(caption) + 1])[0]
            losses.append(nn.functional.cross_entropy(self.out(high)[0], torch.tensor(caption + [STOP]), reduction="sum"))
            words += len(caption) + 1
        # two layers in turn are PyTorch's LSTM of two layers
        for layer, part in ((0, self.low), (1, self.high)):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(self.lstm, f"{name}_l{layer}").data.copy_(getattr(part, name + "_l0").data)
        assert torch.allclose(self.lstm(x)[0], self.high(low)[0])
        return sum(losses) / words, torch.zeros(())


def flat(tensors):
    return torch.cat([t.detach().reshape(-1) for t in tensors])


def array(name, values, kind="double"):
    numbers = [f"{v:.9g}" for v in values.reshape(-1).tolist()]
    print(f"static const {kind} {name}[] = {{")
    for i in range(0, len(numbers), 8):
        print("    " + ", ".join(numbers[i:i + 8]) + ",")
    print("};\n")


def write(name, net, features, masks):
    for part in net.parts():
        part.data.copy_(exact(part.data))
    start = [p.data.clone() for p in net.parts()]
    array(f"golden_{name}_weights", flat(net.parts()))
    words, penalty = net.loss(features, masks)
    (words + penalty).backward()
    print(f"static const double golden_{name}_loss[] = {{{words.item():.12g}, {penalty.item():.12g}}};\n")
    array(f"golden_{name}_gradients", flat([p.grad for p in net.parts()]))
    whole = [torch.ones_like(mask) for mask in masks]
    optimizer = torch.optim.AdamW(net.parts(), lr=RATE, weight_decay=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        sum(net.loss(features, whole)).backward()
        optimizer.step()
    array(f"golden_{name}_moved", flat(net.parts()))
    for part, before in zip(net.parts(), start):
        part.data.copy_(before)


print("/* tests/describe/golden/golden_captioner.h - made by make_captioner.py, by PyTorch in float64; not to be edited */")
print("/* clang-format off */\n")
print("enum { GOLDEN_KNOWN = %d, GOLDEN_D = %d, GOLDEN_H = %d, GOLDEN_A = %d, GOLDEN_F = %d, GOLDEN_K = %d };"
      % (KNOWN, D, H, A, F, K))
print(f"enum {{ GOLDEN_UNITS = {UNITS}, GOLDEN_CAPTIONS = {len(CAPTIONS)}, GOLDEN_STEPS = {STEPS} }};")
print(f"#define GOLDEN_REGULARIZER {REGULARIZER}\n#define GOLDEN_RATE {RATE}\n")
longest = max(len(c) for _, c in CAPTIONS) + 1
print("static const struct {\n    size_t unit, length; /* with the stop */\n    int32_t words[%d];\n} golden_captions[] = {" % longest)
for unit, caption in CAPTIONS:
    print(f"    {{{unit}, {len(caption) + 1}, {{{', '.join(map(str, caption + [STOP]))}}}}},")
print("};\n")
features = exact(torch.randn(UNITS, K, F))
array("golden_features", features)
print(f"/* [caption][step][hidden] of {longest} steps: factors of dropout */")
masks = (torch.rand(len(CAPTIONS), longest, H) < 0.5).double() * 2
array("golden_masks", masks)
write("decoder", Decoder(), features, masks)
write("language", Language(), features, masks)
