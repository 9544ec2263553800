#!/usr/bin/env python3
"""make_text_corpus.py - seeds of fuzz_vectors and fuzz_tokens: small files of every kind"""
import os
import struct

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def write(folder, name, content):
    os.makedirs(os.path.join(TOP, folder), exist_ok=True)
    with open(os.path.join(TOP, folder, name), "wb") as file:
        file.write(content)


def fasttext(dim=2, bucket=3, quantised=0):
    words = [(b"cat", 10, 0), (b"</s>", 5, 0), (b"__label__x", 1, 1)]
    out = struct.pack("<14id", 793712314, 12, dim, 5, 5, 1, 5, 1, 1, 2, bucket, 3, 6, 100, 1e-4)
    out += struct.pack("<3iqq", 3, 2, 1, 100, -1)
    for word, count, kind in words:
        out += word + b"\0" + struct.pack("<qb", count, kind)
    rows = 2 + bucket
    out += struct.pack("<Bqq", quantised, rows, dim) + struct.pack(f"<{rows * dim}f", *range(rows * dim))
    return out + b"\0"


def main():
    write("vectors", "plain.txt", b"the 1 2 3\ncat -0.5 .25 1e-2\n. . . 1 2 3\n")
    write("vectors", "header.vec", b"2 3\nthe 1 2 3\ncat 4 5 6\n")
    write("vectors", "short.vec", b"3 2\na 1 2\n")
    write("vectors", "model.bin", fasttext())
    write("vectors", "quantised.ftz", fasttext(quantised=1))
    write("vectors", "cut.bin", fasttext()[:90])
    text = "It's a photo of 2 caf\u00e9s, \u65e5\u672c \u0130 \U0001f600!".encode()
    merges = b"#version: 0.2\np h\nph o\npho t\nphot o\nphoto c\na t</w>\n"
    vocabulary = b'{"p": 0, "h": 1, "ph": 2, "pho": 3, "photo": 4, "<|endoftext|>": 5, "<s>": 6, "</s>": 7, "<pad>": 8}'
    pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nphoto\n##s\ncafe\n\u65e5\n".encode()
    for number, name, vocab in ((0, "clip", b""), (1, "gpt2", vocabulary), (2, "roberta", vocabulary), (3, "wordpiece", pieces),
                                (7, "wordpiece-cased", pieces)):
        write("tokens", name, bytes([number]) + b"\xff".join([vocab, merges, text]))
    write("tokens", "bad-merges", b"\0\xff#\na\nb c d\n\xffx")
    write("tokens", "bad-vocabulary", b"\1" + b'{"a": 1e99}' + b"\xff" + merges + b"\xffx")


if __name__ == "__main__":
    main()
