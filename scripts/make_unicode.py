#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_unicode.py >src/text/unicode_table.h - what tokenisers ask of Unicode, as small tables

Classes of characters (general category, merged to the eight that are asked for), lower case, and what is left of a
character after canonical decomposition without its non-spacing marks. Hangul syllables are computed, not listed.
"""
import sys
import unicodedata

CLASSES = ["OTHER", "LETTER", "NUMBER", "PUNCTUATION", "MARK", "SYMBOL", "SPACE"]
LAST = 0x110000


def class_of(code):
    category = unicodedata.category(chr(code))
    if category == "Mn":
        return 4
    return {"L": 1, "N": 2, "P": 3, "M": 5, "S": 5, "Z": 6, "C": 0}[category[0]]


def runs():
    before = None
    for code in range(LAST):
        kind = class_of(code)
        if kind != before:
            yield code << 3 | kind
        before = kind


def lower_rows():
    """(first, count, step, difference), as long as they get."""
    pairs = {c: ord(chr(c).lower()) - c for c in range(LAST) if len(chr(c).lower()) == 1 and chr(c).lower() != chr(c)}
    left = sorted(pairs)
    while left:
        first, best = left[0], (1, 1)
        for step in (1, 2):
            count = 1
            while pairs.get(first + count * step) == pairs[first] and first + count * step in pairs:
                count += 1
            if count > best[0]:
                best = (count, step)
        taken = {first + i * best[1] for i in range(best[0])}
        yield first, best[0], best[1], pairs[first]
        left = [c for c in left if c not in taken]


def bare_rows():
    for code in range(LAST):
        if 0xAC00 <= code < 0xD7A4 or 0xD800 <= code < 0xE000:
            continue
        whole = unicodedata.normalize("NFD", chr(code))
        bare = [ord(c) for c in whole if unicodedata.category(c) != "Mn"]
        if bare and bare != [code]:
            assert len(bare) <= 3, hex(code)
            yield code, bare


def print_rows(rows):
    line = "   "
    for row in rows:
        if len(line) + len(row) + 2 > 120:
            print(line)
            line = "   "
        line += f" {row},"
    print(line)


def main():
    out = list(bare_rows())
    print(f"""/* src/text/unicode_table.h - what tokenisers ask of Unicode {unicodedata.unidata_version}
 *
 * Made by scripts/make_unicode.py from Python's unicodedata; read by unicode_class.c only.
 */
#ifndef PXI_SEMANTICS_UNICODE_TABLE_H
#define PXI_SEMANTICS_UNICODE_TABLE_H

#include <stdint.h>

/* clang-format off */

/* Where a class begins, in order: code point << 3 | class. */
static const uint32_t unicode_runs[] = {{""")
    print_rows(hex(r) for r in runs())
    print("""};

/* Code points first, first + step ... and what to add to each for its lower case; by first. */
static const struct {
    uint32_t first;
    uint16_t count, step;
    int32_t add;
} unicode_lower[] = {""")
    print_rows("{%#x, %d, %d, %d}" % row for row in sorted(lower_rows()))
    print("""};

/* A code point, and the one that is left without accents. */
static const uint32_t unicode_bare[][2] = {""")
    print_rows("{%#x, %#x}" % (code, bare[0]) for code, bare in out if len(bare) == 1)
    print("""};

/* The few of which more than one is left. */
static const uint32_t unicode_bare_many[][4] = {""")
    print_rows("{%s}" % ", ".join("%#x" % c for c in [code] + bare + [0] * (3 - len(bare)))
               for code, bare in out if len(bare) > 1)
    print("""};

/* clang-format on */

#endif""")


if __name__ == "__main__":
    sys.exit(main())
