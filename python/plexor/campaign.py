# SPDX-License-Identifier: Apache-2.0
"""Failures of a campaign, as attack and fuzz store them (docs/campaign.md has the tables)."""
import os
import pathlib
import sqlite3
from typing import NamedTuple

import numpy

from .data import Data
from .errors import InputError, UnsupportedError

_NEWEST = 2  # schema


class Failure(NamedTuple):
    """An input that a network gets wrong, and what it was made of."""
    id: int
    input: numpy.ndarray
    original: numpy.ndarray
    label: int
    prediction: int
    confidence: float
    chain: str  # how it was made; "" where that is not told

    @property
    def text(self):
        return f"{self.label} → {self.prediction}"


def failures(folder, most=None):
    """The failures in a campaign's folder; `most`: the first ones."""
    path = pathlib.Path(os.fspath(folder)) / "campaign.db"
    if not path.exists():
        raise InputError(f"'{folder}': is no campaign: it has no campaign.db")
    base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        if base.execute("PRAGMA user_version").fetchone()[0] > _NEWEST:
            raise UnsupportedError(f"'{folder}': was written by a newer plexor than this module knows")
        rows = base.execute("SELECT id, kind, root, label, prediction, confidence, chain FROM input ORDER BY id").fetchall()
    finally:
        base.close()
    at = {row[0]: i for i, row in enumerate(rows)}  # inputs of the split 'all' are in this order
    chosen = [row for row in rows if row[1] == "fault" and row[2] in at][:most]
    if not chosen:
        return []
    data = Data(str(folder), split="all")
    x = data[[at[row[0]] for row in chosen]].x
    originals = data[[at[row[2]] for row in chosen]].x
    return [Failure(row[0], x[i], originals[i], row[3], row[4], row[5], row[6] or "") for i, row in enumerate(chosen)]
