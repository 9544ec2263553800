#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes exact_golden.h: sums of doubles by math.fsum, which rounds once.

Every addend is a multiple of 2^-96 and below 2^71 in size, so that nothing is rounded on the way
in; signs and exponents are wild, and some sums cancel almost wholly.
"""
import math
import random

random.seed(1)


def number(low, high):
    mantissa = random.getrandbits(53) | 1 << 52
    exponent = random.randint(low, high)
    value = math.ldexp(mantissa, max(exponent - 52, -96))
    return -value if random.random() < 0.5 else value


cases = [
    ("nothing", []),
    ("one unit", [2.0 ** -96]),
    ("a tie goes to even, down", [2.0 ** 53, 1.0]),
    ("a tie goes to even, up", [2.0 ** 53 + 2, 1.0]),
    ("more than a tie", [2.0 ** 53, 1.0, 2.0 ** -96]),
    ("less than a tie", [2.0 ** 53 + 2, 1.0, -2.0 ** -96]),
    ("carries through all limbs", [2.0 ** 70, -2.0 ** -96]),
    ("what is left after cancelling", [1e16, 1.0, -1e16]),
    ("negative", [-2.0 ** 53, -1.0, -2.0 ** -60]),
    ("rounds up to a power of two", [2.0 ** 53 - 1, 0.5, 0.25]),
]
for low, high in ((-43, 18), (-40, -20), (-10, 70), (40, 70), (0, 3)):
    for count in (3, 20, 100):
        cases.append((f"{count} of 2^{low}..2^{high}", [number(low, high) for _ in range(count)]))
for _ in range(3):
    values = [number(-30, 60) for _ in range(20)]
    cases.append(("cancelling", values + [-v for v in values] + [number(-43, -40)]))

with open("exact_golden.h", "w", encoding="ascii") as out:
    out.write("/* tests/base/exact_golden.h - by make_exact.py */\n/* clang-format off */\n")
    for index, (_, values) in enumerate(cases):
        out.write(f"static const double addends_{index}[] = {{")
        out.write(", ".join(v.hex() for v in values) or "0")
        out.write("};\n")
    out.write("static const struct {\n    const char *name;\n    size_t count;\n"
              "    const double *addends;\n    double sum;\n} golden[] = {\n")
    for index, (name, values) in enumerate(cases):
        out.write(f'    {{"{name}", {len(values)}, addends_{index}, {math.fsum(values).hex()}}},\n')
    out.write("};\n")
