#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_found_corpus.py PLEXOR - seeds for fuzz_spectrum, fuzz_suspicious, fuzz_selection and fuzz_campaign: what
plexor finds in a small network."""
import os
import sqlite3
import subprocess
import sys
import tempfile

from zip_members import convert

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "tests", "cli", "models", "digits.onnx")
DATA = ["--data", "digits", "-q"]


def place(target, name):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)


def run(*words):
    subprocess.run([os.path.abspath(sys.argv[1]), *words], check=True, stdout=subprocess.DEVNULL)


def shrink(database, to):
    """In small pages and without a journal beside it, so that the file is small, and all of it."""
    if os.path.exists(to):
        os.remove(to)
    with sqlite3.connect(database) as db:
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA page_size=512")
        db.execute("VACUUM INTO ?", (to,))


with tempfile.TemporaryDirectory() as folder:
    at = lambda name: os.path.join(folder, name)
    for more in [], ["--stratify"]:
        name = "stratified" if more else "gini"
        run("select", MODEL, *DATA, "--limit", "40", "--budget", "5", "--shard", "1/2", "--state", at(name), *more)
        convert(place("selection", name), at(name))
    run("localize", MODEL, *DATA, "--limit", "400", "--layers", "last-hidden", "--state", at("hits"), "-o", at("list"))
    convert(place("spectrum", "hits"), at("hits"))
    os.replace(at("list"), place("suspicious", "classes"))
    run("localize", MODEL, "-q", "--spectrum", at("hits"), "--pooled", "-o", at("pooled"))
    os.replace(at("pooled"), place("suspicious", "pooled"))
    run("fuzz", MODEL, *DATA, "--limit", "4", "--guide", "random", "--iterations", "4", "-o", at("fuzzed"))
    shrink(at("fuzzed/campaign.db"), place("campaign", "fuzzed"))
    run("attack", MODEL, *DATA, "--limit", "2", "-o", at("attacked"))
    shrink(at("attacked/campaign.db"), place("campaign", "attacked"))
