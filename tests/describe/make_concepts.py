#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes concepts_golden.h: attribute maps worked out again, in plain Python without any library.

The formulas are those of docs/describe.md. Everything is double precision and as direct as it can
be: blurs by a sum over the mirrored plane, distances by trying every ground pixel, holes by growing
the frame's ground until nothing changes.

    python3 make_concepts.py > concepts_golden.h
"""
import colorsys
import math

COLOUR_H, COLOUR_W = 9, 10
GLYPH_H, GLYPH_W = 16, 14


def pseudo(seed):
    state = seed
    while True:
        state = (1103515245 * state + 12345) % 2 ** 31
        yield (state >> 16) % 256


def colour_picture(seed):
    """Smooth areas of strong colours with noise in a corner: every colour has pixels."""
    noise = pseudo(seed)
    planes = [[[0] * COLOUR_W for _ in range(COLOUR_H)] for _ in range(3)]
    for y in range(COLOUR_H):
        for x in range(COLOUR_W):
            hue = ((x * 37 + y * 11 + 40 * seed) % 360) / 360
            saturation = ((y * 31 + seed * 17) % 100) / 100
            value = ((x * 23 + y * 13 + 50) % 100) / 100
            if x > 6 and y > 5:
                rgb = [next(noise) / 255 for _ in range(3)]
            elif y == 0 and x < 2:
                rgb = [100 / 255, 60 / 255, 30 / 255]  # a brown
            else:
                rgb = colorsys.hsv_to_rgb(hue, saturation, value)
            for c in range(3):
                planes[c][y][x] = round(255 * rgb[c])
    return planes


def glyph_picture(rows):
    return [[[{"#": 255, "+": 140, "-": 110, ".": 0}[c] for c in row] for row in rows]]


GLYPHS = [
    ["..............", "..............", "..........##..", "..####....##..", ".##..##...##..",
     ".#....#...##..", ".#....#...##..", ".##..##...##..", "..####....##..", "...+......##..",
     "...#...-..##..", ".#######......", "...#...-......", "...#..........", "..............",
     ".............."],
    ["..............", ".#..........#.", "..#........#..", "...#......#...", "....#....#....",
     ".....#..#.....", "......##......", "......##......", "......##......", ".-....##......",
     ".-....##......", ".-..######....", "....######....", "....######....", "....######....",
     ".............."],
]


def mirrored(i, n):
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def blur(plane, sd):
    h, w = len(plane), len(plane[0])
    radius = int(4 * sd + 0.5)
    weights = [math.exp(-0.5 * i * i / sd ** 2) for i in range(-radius, radius + 1)]
    total = sum(weights)
    weights = [v / total for v in weights]
    rows = [[sum(weights[i + radius] * plane[y][mirrored(x + i, w)]
                 for i in range(-radius, radius + 1)) for x in range(w)] for y in range(h)]
    return [[sum(weights[i + radius] * rows[mirrored(y + i, h)][x]
                 for i in range(-radius, radius + 1)) for x in range(w)] for y in range(h)]


def each(h, w, function):
    return [[function(y, x) for x in range(w)] for y in range(h)]


class Picture:
    def __init__(self, planes):
        self.rgb = [[[v / 255 for v in row] for row in plane] for plane in planes]
        self.h, self.w = len(planes[0]), len(planes[0][0])
        n = len(planes)
        self.y = each(self.h, self.w, lambda y, x: sum(p[y][x] for p in self.rgb) / n)

    def hsv(self, y, x):
        h, s, v = colorsys.rgb_to_hsv(*(plane[y][x] for plane in self.rgb))
        return 360 * h, s, v

    def hue(self, middle, around, least, low, high):
        def at(y, x):
            h, s, v = self.hsv(y, x)
            apart = abs(h - middle)
            near = s > 0 and min(apart, 360 - apart) <= around
            return float(near and s > least and low < v < high)
        return each(self.h, self.w, at)

    def neutral(self, most, low, high):
        def at(y, x):
            _, s, v = self.hsv(y, x)
            return float(s < most and low < v < high)
        return each(self.h, self.w, at)

    def edges(self, which):
        def at(y, x):
            def p(dy, dx):
                return self.y[min(max(y + dy, 0), self.h - 1)][min(max(x + dx, 0), self.w - 1)]
            gx = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1)
            gy = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1)
            if gx == 0 and gy == 0:
                return 0.0
            t = math.atan2(gy, gx)
            turn = [math.cos(2 * t), -math.cos(2 * t), math.sin(2 * t), -math.sin(2 * t)][which]
            return math.hypot(gx, gy) * max(turn, 0.0) ** 2
        return each(self.h, self.w, at)

    def spots(self):
        a, b = blur(self.y, 1.2), blur(self.y, 2.4)
        return each(self.h, self.w, lambda y, x: 6 * max(0.0, a[y][x] - b[y][x]))

    def fine(self):
        a = blur(self.y, 1.0)
        b = blur(each(self.h, self.w, lambda y, x: abs(self.y[y][x] - a[y][x])), 2.0)
        return each(self.h, self.w, lambda y, x: 8 * b[y][x])

    def flat(self):
        f = self.fine()
        return each(self.h, self.w, lambda y, x: max(0.0, 0.5 - f[y][x]))

    def bright(self):
        return each(self.h, self.w, lambda y, x: self.y[y][x] ** 2)

    def dark(self):
        return each(self.h, self.w, lambda y, x: (1 - self.y[y][x]) ** 2)

    def gray(self):
        return each(self.h, self.w, lambda y, x: float(0.3 < self.y[y][x] < 0.7))

    # --- glyphs

    def ink(self):
        return each(self.h, self.w, lambda y, x: self.y[y][x] > 0.5)

    def distances(self):
        ink = self.ink()
        ground = [(y, x) for y in range(self.h) for x in range(self.w) if not ink[y][x]]
        return each(self.h, self.w, lambda y, x: min(math.hypot(y - v, x - u) for v, u in ground)
                    if ink[y][x] else 0.0)

    def width(self, median, thick):
        d = self.distances()
        return each(self.h, self.w, lambda y, x: float(d[y][x] > 0 and (d[y][x] > median) == thick))

    def around(self, plane, y, x):
        """P2 .. P9: north, then clockwise."""
        steps = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
        return [0 <= y + dy < self.h and 0 <= x + dx < self.w and plane[y + dy][x + dx]
                for dy, dx in steps]

    def skeleton(self):
        plane = self.ink()
        changed = True
        while changed:
            changed = False
            for step in range(2):
                gone = []
                for y in range(self.h):
                    for x in range(self.w):
                        if not plane[y][x]:
                            continue
                        p = self.around(plane, y, x)
                        turns = sum(not p[i] and p[(i + 1) % 8] for i in range(8))
                        p2, p4, p6, p8 = p[0], p[2], p[4], p[6]
                        if step == 0:
                            free = not (p2 and p4 and p6) and not (p4 and p6 and p8)
                        else:
                            free = not (p2 and p4 and p8) and not (p2 and p6 and p8)
                        if 2 <= sum(p) <= 6 and turns == 1 and free:
                            gone.append((y, x))
                for y, x in gone:
                    plane[y][x] = False
                changed = changed or bool(gone)
        return plane

    def dilate(self, plane, radius):
        return each(self.h, self.w, lambda y, x: float(any(
            0 <= v < self.h and 0 <= u < self.w and plane[v][u]
            for v in range(y - radius, y + radius + 1) for u in range(x - radius, x + radius + 1))))

    def nodes(self, good):
        s = self.skeleton()
        return self.dilate(each(self.h, self.w,
                                lambda y, x: s[y][x] and good(sum(self.around(s, y, x)))), 1)

    def loops(self):
        ink = self.ink()
        outside = each(self.h, self.w, lambda y, x: not ink[y][x] and
                       (y in (0, self.h - 1) or x in (0, self.w - 1)))
        changed = True
        while changed:
            changed = False
            for y in range(self.h):
                for x in range(self.w):
                    if not ink[y][x] and not outside[y][x] and any(
                            outside[y + dy][x + dx]
                            for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1))):
                        outside[y][x] = changed = True
        return self.dilate(each(self.h, self.w, lambda y, x: not ink[y][x] and not outside[y][x]), 2)


def flat_list(plane):
    return [v for row in plane for v in row]


def quantile(values, p):
    values = sorted(values)
    at = p * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


COLOURS = {"red": (0, 18, .25, .2, math.inf), "orange": (30, 14, .25, .2, math.inf),
           "yellow": (56, 12, .25, .2, math.inf), "green": (110, 42, .25, .2, math.inf),
           "blue": (215, 40, .25, .2, math.inf), "purple": (290, 35, .25, .2, math.inf)}
NEUTRALS = {"white": (.15, .8, math.inf), "black": (math.inf, -math.inf, .15),
            "gray": (.15, .3, .7)}


def edge_maps(pictures):
    """Each scaled to a largest value of 3 over the data."""
    for which, name in enumerate(["vertical", "horizontal", "diagonal", "diagonal"]):
        maps = [p.edges(which) for p in pictures]
        most = max(max(flat_list(m)) for m in maps)
        yield name + " edges", False, [each(p.h, p.w, lambda y, x, m=m: 3 / most * m[y][x])
                                       for p, m in zip(pictures, maps)]


def textures(pictures):
    yield "bright spots", False, [p.spots() for p in pictures]
    yield "fine texture", False, [p.fine() for p in pictures]
    yield "flat regions", False, [p.flat() for p in pictures]


def colour_maps(pictures):
    for name, window in COLOURS.items():
        yield name + " regions", True, [p.hue(*window) for p in pictures]
    for name, window in NEUTRALS.items():
        yield name + " regions", True, [p.neutral(*window) for p in pictures]
    yield "brown regions", True, [p.hue(25, 18, .25, .15, .5) for p in pictures]
    yield from edge_maps(pictures)
    yield from textures(pictures)
    yield "bright regions", False, [p.bright() for p in pictures]
    yield "dark regions", False, [p.dark() for p in pictures]


def glyph_maps(pictures):
    widths = [d for p in pictures for d in flat_list(p.distances()) if d > 0]
    median = quantile(widths, 0.5)
    yield "bright regions", False, [p.bright() for p in pictures]
    yield "dark regions", False, [p.dark() for p in pictures]
    yield "gray regions", True, [p.gray() for p in pictures]
    yield from edge_maps(pictures)
    yield from textures(pictures)
    yield "thick strokes", True, [p.width(median, True) for p in pictures]
    yield "thin strokes", True, [p.width(median, False) for p in pictures]
    yield "stroke ends", True, [p.nodes(lambda n: n == 1) for p in pictures]
    yield "junctions", True, [p.nodes(lambda n: n == 3) for p in pictures]
    yield "crossings", True, [p.nodes(lambda n: n >= 4) for p in pictures]
    yield "loops", True, [p.loops() for p in pictures]


def wrap(items, width=96):
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > width:
            yield line
            line = "   "
        line += " " + item + ","
    yield line


def write(name, raw, maps):
    print(f"static const unsigned char {name}_pixels[] = {{")
    values = [str(v) for picture in raw for plane in picture for v in flat_list(plane)]
    print("\n".join(wrap(values)))
    print("};\n")
    print(f"static const golden_map {name}_maps[] = {{")
    for words, two_valued, planes in maps:
        if two_valued:
            level = 0.5
            text = "".join(str(int(v)) for v in flat_list(planes[0]))
            print(f'    {{"{words}", {level}, "{text}", NULL}},')
        else:
            level = quantile([v for plane in planes for v in flat_list(plane)], 0.9)
            print(f'    {{"{words}", {level:.8g}, NULL,\n     (const double[]){{')
            print("\n".join(wrap([f"{v:.6g}" for v in flat_list(planes[0])])))
            print("     }},")
    print("};\n")


def main():
    print("/* tests/describe/concepts_golden.h - made by make_concepts.py; two pictures of each kind,"
          "\n * and the maps of the first. clang-format off */")
    print("#include <stddef.h>\n")
    print("typedef struct golden_map {\n    const char *words;\n    double level;\n"
          "    const char *bits; /* two-valued */\n    const double *values;\n} golden_map;\n")
    print(f"enum {{ COLOUR_H = {COLOUR_H}, COLOUR_W = {COLOUR_W}, GLYPH_H = {GLYPH_H}, "
          f"GLYPH_W = {GLYPH_W} }};\n")
    raw = [colour_picture(1), colour_picture(2)]
    write("colour", raw, colour_maps([Picture(p) for p in raw]))
    raw = [glyph_picture(rows) for rows in GLYPHS]
    write("glyph", raw, glyph_maps([Picture(p) for p in raw]))


main()
