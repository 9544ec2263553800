#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""json_keys.py FILE - the keys of a JSON object in the order of the file; exits with 1 where one is there twice."""
import json
import sys


def members(pairs):
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        sys.exit(f"twice: {' '.join(sorted(twice))}")
    return dict(pairs)


with open(sys.argv[1], encoding="utf-8") as file:
    print(*json.load(file, object_pairs_hook=members))
