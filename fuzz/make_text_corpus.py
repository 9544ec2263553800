#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_text_corpus.py - seeds of fuzz_vectors and fuzz_tokens: small files of every kind"""
import os

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def write(folder, name, content):
    os.makedirs(os.path.join(TOP, folder), exist_ok=True)
    with open(os.path.join(TOP, folder, name), "wb") as file:
        file.write(content)


def main():
    write("vectors", "plain.txt", b"the 1 2 3\ncat -0.5 .25 1e-2\n. . . 1 2 3\n")
    write("vectors", "header.vec", b"2 3\nthe 1 2 3\ncat 4 5 6\n")
    write("vectors", "short.vec", b"3 2\na 1 2\n")
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
