#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_encoder_golden.py >encoder_golden.h - word vectors by numpy, tokens by the authors' own way in Python

PPMI and SVD (numpy.linalg.svd), the first principal direction of some
texts, and the pieces and tokens of BPE and WordPiece as OpenAI's and Google's code makes them, on the small
vocabularies in tokens/. Only re and unicodedata are used: the classes of their expressions are written out.
"""
import json
import os
import re
import sys
import unicodedata

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


# --- words

SENTENCES = """red circle
red square at top
blue circle and red stripes
green stripes
a photo of a cat with red stripes
blue and green are both cool color
red is warm color
orange is warm color
orange circle at left
a photo of a dog with blue square and green circle at top""".split("\n")
SIZE = 5


def count_pairs():
    words = list(dict.fromkeys(w for s in SENTENCES for w in s.split()))
    index = {w: i for i, w in enumerate(words)}
    counts = np.zeros((len(words), len(words)))
    for sentence in SENTENCES:
        s = [index[w] for w in sentence.split()]
        for i, x in enumerate(s):
            for j in range(i + 1, min(i + 6, len(s))):
                counts[x, s[j]] += 1 / (j - i)
                counts[s[j], x] += 1 / (j - i)
    return words, counts


def ppmi(counts):
    rows = counts.sum(1)
    with np.errstate(divide="ignore"):
        m = np.log(counts / counts.sum() / np.outer(rows / counts.sum(), rows ** .75 / (rows ** .75).sum()))
    return np.maximum(m, 0)


def word_vectors(m, size):
    u, s, _ = np.linalg.svd(m)
    assert (np.diff(s[:size + 1]) < -1e-3).all(), "singular values too near each other for a golden file"
    u = u[:, :size] * np.sign(u[np.abs(u[:, :size]).argmax(0), range(size)])
    vectors = u * np.sqrt(s[:size])
    return s[:size], vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# --- tokens

def ranges(first):
    """A class of re for a general category."""
    out, start = [], None
    for code in range(0x110001):
        inside = code < 0x110000 and unicodedata.category(chr(code))[0] == first
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            out.append(re.escape(chr(start)) + "-" + re.escape(chr(code - 1)))
            start = None
    return "".join(out)


LETTER, NUMBER = ranges("L"), ranges("N")
GPT2 = re.compile(fr"'s|'t|'re|'ve|'m|'ll|'d| ?[{LETTER}]+| ?[{NUMBER}]+| ?[^\s{LETTER}{NUMBER}]+|\s+(?!\S)|\s+")
CLIP = re.compile(fr"'s|'t|'re|'ve|'m|'ll|'d|[{LETTER}]+|[{NUMBER}]|[^\s{LETTER}{NUMBER}]+", re.IGNORECASE)


def byte_symbols():
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    codes, n = list(plain), 0
    for b in range(256):
        if b not in plain:
            plain.append(b)
            codes.append(256 + n)
            n += 1
    return dict(zip(plain, map(chr, codes)))


def bpe(word, ranks):
    while len(word) > 1:
        best = min(zip(word, word[1:]), key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        joined, i = [], 0
        while i < len(word):
            if i + 1 < len(word) and (word[i], word[i + 1]) == best:
                joined.append(word[i] + word[i + 1])
                i += 2
            else:
                joined.append(word[i])
                i += 1
        word = joined
    return word


def read(name):
    with open(os.path.join(HERE, "tokens", name), encoding="utf-8") as file:
        return file.read()


def merge_ranks(name):
    merges = [tuple(line.split()) for line in read(name).split("\n")[1:] if line]
    return merges, {pair: i for i, pair in enumerate(merges)}


def clip_tokens(text):
    merges, ranks = merge_ranks("clip-merges.txt")
    symbols = byte_symbols()
    vocabulary = list(symbols.values()) + [s + "</w>" for s in symbols.values()]
    vocabulary += ["".join(m) for m in merges] + ["<|startoftext|>", "<|endoftext|>"]
    ids = {s: i for i, s in enumerate(vocabulary)}
    text = re.sub(r"\s+", " ", text).strip().lower()
    out = []
    for piece in CLIP.findall(text):
        word = [symbols[b] for b in piece.encode()]
        word[-1] += "</w>"
        out += [ids[s] for s in bpe(word, ranks)]
    return out


def gpt2_tokens(text):
    _, ranks = merge_ranks("gpt2-merges.txt")
    ids, symbols = json.loads(read("gpt2-vocab.json")), byte_symbols()
    out = []
    for piece in GPT2.findall(text):
        out += [ids[s] for s in bpe([symbols[b] for b in piece.encode()], ranks)]
    return out


def is_punctuation(c):
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or \
        unicodedata.category(c)[0] == "P"


def is_cjk(code):
    return any(a <= code <= b for a, b in ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
                                           (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)))


def wordpiece_tokens(text, cased=False):
    ids = {token: i for i, token in enumerate(read("wordpiece-vocab.txt").split("\n"))}
    clean = ""
    for c in text:
        if ord(c) in (0, 0xFFFD) or (c not in "\t\n\r" and unicodedata.category(c)[0] == "C"):
            continue
        clean += " " if c in " \t\n\r" or unicodedata.category(c) == "Zs" else c
    clean = "".join(f" {c} " if is_cjk(ord(c)) else c for c in clean)
    words = []
    for token in clean.split():
        if not cased:
            token = "".join(c for c in unicodedata.normalize("NFD", token.lower()) if unicodedata.category(c) != "Mn")
        words += "".join(f" {c} " if is_punctuation(c) else c for c in token).split()
    out = []
    for word in words:
        pieces, at = [], 0
        while at < len(word) and len(word) <= 200:
            for end in range(len(word), at, -1):
                piece = ("##" if at else "") + word[at:end]
                if piece in ids:
                    pieces.append(ids[piece])
                    at = end
                    break
            else:
                break
        out += pieces if at == len(word) else [ids["[UNK]"]]
    return out


TEXTS = ["", "a photo of a cat", "A  photo\tof\n a CAT ", "it's we've they'll I'm you're he'd don't", "Hello, world!",
         "  two  blanks   three ", "tabs\t\tand\n\nlines \n", "x1 22 333 \u00bd \u2167 \u0663", "caf\u00e9 na\u00efve \u00dcber \u1e9e \u0130stanbul",
         "\u65e5\u672c\u8a9e and \u4e2d\u6587", "\u0421\u0438\u043d\u0438\u0435 \u043a\u0440\u0443\u0433\u0438", "\uc0ac\uacfc \ub545", "emoji \U0001f600\U0001f680!?", "a_b-c (d) [e] \u201cq\u201d \u2014 \u2026",
         "unaffable unaff photo photos cats", "\u00a0nbsp\u3000wide\u2028line", "zero\u200bwidth \ufeffbom \u00adsoft", "x\u0301y \u0628\u0651 \u0915\u094d\u0937",
         "'s'tis 'll '", "l'\u00e9t\u00e9 \u039f\u0394\u039f\u03a5", "w" * 201 + " " + "w" * 200, "red stripes, blue grid at top"]


def c_text(text):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'


def c_row(numbers, form="%.9g"):
    return "{" + ", ".join(form % n for n in numbers) + "}"


def print_texts(name, tokens, pieces=None):
    print(f"static const struct {{\n    const char *text;\n    size_t count;\n    int64_t id[96];\n}} {name}[] = {{")
    for text in TEXTS:
        ids = tokens(text)
        assert len(ids) <= 96 or len(text) > 300, len(ids)
        if len(ids) <= 96:
            print(f"    {{{c_text(text)}, {len(ids)}, {c_row(ids or [0], '%d')}}},")
    print("};\n")
    if pieces:
        print(f"static const char *const {name}_pieces[][24] = {{")
        for text in TEXTS:
            print("    {%s, %s}," % (c_text(text), ", ".join([c_text(p) for p in pieces(text)] + ["NULL"])))
        print("};\n")


def main():
    words, counts = count_pairs()
    m = ppmi(counts)
    values, vectors = word_vectors(m, SIZE)
    print("""/* tests/text/encoder_golden.h - made by make_encoder_golden.py with numpy */
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
""")
    print("static const char *const golden_sentences[] = {")
    for sentence in SENTENCES:
        print(f'    "{sentence}",')
    print("};\n\nstatic const char *const golden_words[] = {%s};\n" % ", ".join(f'"{w}"' for w in words))
    print(f"enum {{ GOLDEN_WORDS = {len(words)}, GOLDEN_SIZE = {SIZE} }};\n")
    print("static const double golden_values[] = %s;\n" % c_row(values, "%.15g"))
    print("static const double golden_ppmi_row[] = %s; /* of '%s' */\n" % (c_row(m[0], "%.15g"), words[0]))
    print("static const double golden_vectors[][%d] = {" % SIZE)
    for row in vectors:
        print(f"    {c_row(row, '%.12g')},")
    print("};\n")
    gram = sum(np.outer(s, s) for s in (sum(vectors[words.index(w)] for w in t.split()) for t in SENTENCES))
    direction = np.linalg.eigh(gram)[1][:, -1]
    print("/* of the sums of the vectors of each sentence */")
    print("static const double golden_direction[] = %s;\n"
          % c_row(direction * np.sign(direction[np.abs(direction).argmax()]), "%.12g"))
    print_texts("golden_clip", clip_tokens, lambda t: CLIP.findall(re.sub(r"\s+", " ", t).strip().lower()))
    print_texts("golden_gpt2", gpt2_tokens, GPT2.findall)
    print_texts("golden_wordpiece", wordpiece_tokens)
    print_texts("golden_wordpiece_cased", lambda t: wordpiece_tokens(t, cased=True))
    print("/* clang-format on */")


if __name__ == "__main__":
    sys.exit(main())
