#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_token_files.py - the small vocabularies of tokens/, learnt from a few sentences

Merges by the algorithm of Sennrich et al. over the byte symbols of GPT-2; WordPiece's list by hand, with all letters.
"""
import collections
import json
import os

from make_encoder_golden import CLIP, GPT2, byte_symbols

TEXTS = """a photo of a cat with red stripes, blue grid at top and vertical edges
a photo of a dog with orange regions, bright spots at the center
photos of cats and dogs; it's a photo of the world: hello, hello, world!
red stripes, red circles, blue circles, green regions, horizontal edges""".split("\n")
MERGES = 90
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokens")


def learn(words):
    merges = []
    for _ in range(MERGES):
        pairs = collections.Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        joined = collections.Counter()
        for word, count in words.items():
            out, i = [], 0
            while i < len(word):
                if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                    out.append(word[i] + word[i + 1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            joined[tuple(out)] += count
        words = joined
    return merges


def write(name, text):
    with open(os.path.join(TOP, name), "w", encoding="utf-8") as file:
        file.write(text)


def main():
    symbols = byte_symbols()
    clip, gpt2 = collections.Counter(), collections.Counter()
    for text in TEXTS:
        for piece in CLIP.findall(text):
            word = [symbols[b] for b in piece.encode()]
            clip[tuple(word[:-1] + [word[-1] + "</w>"])] += 1
        for piece in GPT2.findall(text):
            gpt2[tuple(symbols[b] for b in piece.encode())] += 1
    write("clip-merges.txt", "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in learn(clip)))
    merges = learn(gpt2)
    write("gpt2-merges.txt", "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    tokens = list(symbols.values()) + ["".join(m) for m in merges] + ["<|endoftext|>"]
    write("gpt2-vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
    roberta = ["<s>", "<pad>", "</s>", "<unk>"] + tokens[:-1] + ["<mask>"]
    write("roberta-vocab.json", json.dumps({t: i for i, t in enumerate(roberta)}))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(letters) + ["##" + c for c in letters]
    pieces += list(".,;:!?'\"()[]-_") + "un ##aff ##able photo cat dog red ##s stripe grid top at of with blue cafe uber".split()
    pieces += ["\u65e5", "\u672c", "\u8a9e", "\u0441\u0438\u043d", "##\u0438\u0435", "\u1109\u1161", "##\u1100\u116a", "\u00fc", "##ber", "Caf\u00e9"]
    write("wordpiece-vocab.txt", "\n".join(pieces) + "\n")


if __name__ == "__main__":
    main()
