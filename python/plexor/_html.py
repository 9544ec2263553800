# SPDX-License-Identifier: Apache-2.0
"""Results as HTML for notebooks: tables, bars, galleries of pictures. No script, no style sheet from elsewhere."""
import base64
import os
import struct
import zlib
from html import escape

import numpy

from ._pictures import as_pictures
from .campaign import failures
from .errors import Error

_CELL = "padding:2px 8px;text-align:{align};border-bottom:1px solid #8884"
_MOST_ROWS = 20
_MOST_TEXT = 36
_TIMES = {"seconds", "prepare_seconds"}  # of each row: for those who ask


def block(title, *parts):
    return f'<div style="margin:4px 0"><b>{escape(title)}</b>{"".join(parts)}</div>'


def number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}"


def bar(share):
    """A share as a bar."""
    width = 100 * min(max(share, 0.0), 1.0)
    return ('<div style="display:inline-block;width:120px;height:9px;background:#8883;margin-right:6px">'
            f'<div style="width:{width:.1f}%;height:9px;background:#2a78b5"></div></div>')


def table(rows, shares=()):
    """Rows that are dicts; columns in `shares` are shown as bars, too."""
    columns = list(dict.fromkeys(key for row in rows[:_MOST_ROWS] for key, value in row.items()
                                 if value is not None and not isinstance(value, (list, dict)) and key not in _TIMES))
    if not columns:
        return ""
    head = "".join(f'<th style="{_CELL.format(align="left")}">{escape(c)}</th>' for c in columns)
    lines = []
    for row in rows[:_MOST_ROWS]:
        cells = []
        for column in columns:
            value = row.get(column)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            align = "right" if is_number and column not in shares else "left"
            before = bar(value) if column in shares and is_number else ""
            text = number(value)
            short = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT - 1] + "…"
            title = f' title="{escape(text)}"' if short != text else ""
            cells.append(f'<td style="{_CELL.format(align=align)}"{title}>{before}{escape(short)}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    more = f"<div>and {len(rows) - _MOST_ROWS:,} more: frame()</div>" if len(rows) > _MOST_ROWS else ""
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{"".join(lines)}</table>{more}'


def facts(values):
    """Names and values, side by side."""
    items = [f'<span style="display:inline-block;margin-right:16px">{escape(k)}: <b>{escape(number(v))}</b></span>'
             for k, v in values.items() if v is not None]
    return f"<div>{''.join(items)}</div>"


def remarks(sentences):
    return "".join(f'<div style="color:#a60">{escape(s)}</div>' for s in sentences)


# --- pictures --------------------------------------------------------------------------------------

def png(pixels):
    """A PNG of uint8 pixels [H, W] or [H, W, 3]."""
    pixels = numpy.ascontiguousarray(pixels, numpy.uint8)
    height, width = pixels.shape[:2]
    lines = numpy.zeros((height, 1 + pixels[0].size), numpy.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind, content):
        return (struct.pack(">I", len(content)) + kind + content
                + struct.pack(">I", zlib.crc32(kind + content)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes()))
            + chunk(b"IEND", b""))


def image(pixels, size=64):
    text = base64.b64encode(png(pixels)).decode()
    return (f'<img width="{size}" height="{size}" style="image-rendering:pixelated;margin:1px" '
            f'src="data:image/png;base64,{text}">')


def figure(pictures, text, size=64):
    shown = "".join(image(p, size) for p in pictures)
    return (f'<div style="display:inline-block;margin:3px;text-align:center;font-size:11px;line-height:1.2">{shown}'
            f"<div>{escape(text)}</div></div>")


def gallery(x, texts):
    """Pictures with a line below each; what is no picture is left out."""
    pictures = as_pictures(x)
    if pictures is None:
        return ""
    return "<div>" + "".join(figure([p], t) for p, t in zip(pictures, texts)) + "</div>"


def changes(originals, failing, texts):
    """The original, what became of it, and the difference (grey: none), side by side."""
    before, after = as_pictures(originals), as_pictures(failing)
    if before is None or after is None:
        return ""
    figures = []
    for a, b, text in zip(before, after, texts):
        difference = numpy.clip(128 + (b.astype(int) - a.astype(int)) // 2, 0, 255).astype(numpy.uint8)
        figures.append(figure([a, b, difference], text, 48))
    return "<div>original, failing, difference</div><div>" + "".join(figures) + "</div>"


def class_text(label, classes):
    if label is None or label < 0:
        return ""
    return str(classes[label]) if classes and label < len(classes) else str(int(label))


# --- neurons ---------------------------------------------------------------------------------------

def neurons(rows, sizes):
    """A strip for each layer with its suspicious neurons, where they lie: the redder, the more suspicious."""
    layers = {name: [] for name in sizes if any(row.get("layer") == name for row in rows)}
    for row in rows:
        layers.setdefault(str(row.get("layer")), []).append((row["unit"], row.get("score") or 0.0))
    most = max((s for found in layers.values() for _, s in found), default=0.0) or 1.0
    lines = []
    for layer, found in layers.items():
        width = sizes.get(layer) or max(i for i, _ in found) + 1
        marks = "".join(
            f'<rect x="{600 * i / width:.1f}" y="0" width="{max(600 / width, 3):.1f}" height="14" '
            f'fill="#c0392b" fill-opacity="{max(0.15, s / most):.2f}"><title>{escape(layer)} {i}: {number(s)}'
            "</title></rect>" for i, s in found)
        lines.append(f'<div style="font-size:11px">{escape(layer)}</div><svg width="606" height="16">'
                     f'<rect width="604" height="14" fill="#8882"/>{marks}</svg>')
    return "".join(lines)


# --- results ---------------------------------------------------------------------------------------

def _wrong(result):
    data = result.wrong[:12] if len(result.wrong_indices) else None
    if data is None:
        return ""
    predicted = result.predicted[result.wrong_indices[:12]]
    classes = data.classes
    texts = [f"{class_text(y, classes)} → {class_text(p, classes)}" for y, p in zip(data.y, predicted)]
    return "<div>misclassified</div>" + gallery(data.x, texts)


def _chosen(result):
    """The first that each selector would look at."""
    data, start = result.inputs, result._given.get("offset") or 0  # pylint: disable=protected-access
    if data is None or result._given.get("shuffle"):  # pylint: disable=protected-access
        return ""
    parts = []
    for name in list(result.to_dict().get("selectors") or {})[:3]:
        chosen = data[result.of(name)[:12] + start]
        labels = chosen.y if chosen.y is not None and chosen.y.ndim == 1 else [None] * len(chosen)
        parts.append(f"<div>first by {escape(name)}</div>"
                     + gallery(chosen.x, [class_text(y, chosen.classes) for y in labels]))
    return "".join(parts)


def _gates(result):
    """What was asked of it, the stages in a line, and failures that were made."""
    told = result.to_dict()
    rows = [{"gate": f"{g['name']} {g['relation']} {number(g['threshold'])}", "is": g["value"],
             "": "holds" if g["held"] else "does not hold"} for g in told.get("gates") or []]
    done = [s["id"] for s in told.get("stages") or [] if s["state"] == "done"]
    left = [s["id"] for s in told.get("stages") or [] if s["state"] != "done"]
    line = f"stages: {', '.join(done)}" + (f"; left out: {', '.join(left)}" if left else "")
    folder = told.get("folder") and os.path.join(told["folder"], "campaign")
    there = folder and os.path.exists(os.path.join(folder, "campaign.db"))
    shown = _changed(failures(folder, 12), result.inputs) if there else ""
    page = f'<div>the whole report: {escape(str(told["report"]))}</div>' if told.get("report") else ""
    return table(rows) + f"<div>{escape(line)}</div>" + shown + page


def _path(result):
    """The path in a sentence, and maps of its layers; none where the input is no picture."""
    said = "".join(f"<div>{escape(image['name'])}: {escape(image['text'])}</div>"
                   for image in result.to_dict().get("images") or [])
    try:
        picture = base64.b64encode(result.picture).decode()
    except Error:
        return said
    return said + f'<div><img style="max-width:100%" src="data:image/png;base64,{picture}"></div>'


def _failures(result):
    return _changed(result.failures(12), result.inputs)


def _changed(found, inputs):
    """Failures beside their originals; `inputs` know what the classes are called."""
    if not found:
        return ""
    classes = inputs.classes if inputs is not None else None
    return changes(numpy.stack([f.original for f in found]), numpy.stack([f.input for f in found]),
                   [f"{class_text(f.label, classes)} → {class_text(f.prediction, classes)}" for f in found])


_SHARES = {"eval": ("accuracy",), "cover": ("value",)}
_UNTOLD = {"model", "report", "folder", "verdict", "peak_rss_mib", "scores_from", "campaign",
           "forward_seconds", "infinite", "not_numbers", "not_finite_inputs"}  # in facts: elsewhere, or for few
_MORE = {"select": _chosen, "check": _gates, "explain": _path}


def result(res):
    rows = [] if res.name == "check" else res.rows()
    single = {k: v for k, v in res.single().items() if not isinstance(v, str) or len(v) < 60}
    told = {k: v for k, v in single.items() if "." not in k and k not in _UNTOLD and v not in ("", None)}
    parts = []
    if rows != [res.single()]:
        parts.append(facts(dict(list(told.items())[:14])))
        if res.name == "localize":
            sizes = {layer["name"]: layer["neurons"] for layer in res.to_dict().get("layers") or []}
            parts.append(neurons(rows, sizes))
        shares = _SHARES.get(res.name, ())
        if res.name == "cover":  # what has no bound is no share
            shares = shares if all((r.get("total") or 0) > 0 for r in rows) else ()
        parts.append(table(rows, shares))
    else:
        parts.append(table([{"": k, "value": v} for k, v in single.items()]))
    if res.name == "eval" and res.was_labelled:
        parts.append(_wrong(res))
    elif res.name in ("fuzz", "attack") and res.has_file:
        parts.append(_failures(res))
    elif res.name in _MORE:
        parts.append(_MORE[res.name](res))
    verdict = f": {res.to_dict()['verdict']}" if "verdict" in res else ""
    return block(f"plexor {res.name}{verdict}", *parts, remarks(res.to_dict().get("remarks") or []))
