#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_claims_page.py TOP [--write] - docs/studies/README.md and its chart, from the reports beside it

The table and the chart are made of the reports' claims. What a user should take from them is written by hand, between the two;
each of its numbers has to be one of a report that its sentence links to. Speaks TAP; with --write the table and the chart are
written anew.
"""
import os
import re
import sys

STUDIES = {"deepfault": "DeepFault", "deepsensor": "DeepSensor", "fuzz": "NSGen's baselines", "nsgen": "NSGen", "nss": "NSS",
           "revisit": "Revisiting coverage"}
VERDICTS = {"holds": "#009e73", "holds in part": "#e69f00", "does not hold": "#d55e00", "not run": "#bbbbbb"}
CLAIM = re.compile(r"^- \*\*(holds|holds in part|does not hold|not run)\*\*: (.*?)\. (?=(?:For|In) \d|H\d is|Nothing was run|Not run)(.*)$", re.M)
CASES = re.compile(r"(?:For|In) (\d+ of \d+)")
OWN = re.compile(r"plexor's own|our own|plexor's default")
TABLE = "## Every claim\n"


def claims_of(text):
    """(verdict, claim, cases) of a report; one that cannot be read is an error, not left out."""
    found = CLAIM.findall(text)
    if len(found) != len(re.findall(r"^- \*\*(?:holds|does not|not run)", text, re.M)):
        raise SystemExit("a claim of a report cannot be read")
    return [(verdict, claim, (CASES.match(rest) or ["", "–"])[1]) for verdict, claim, rest in found]


def table(claims):
    lines = [TABLE, "`own` are questions that plexor asks beside the papers. Cases are networks, rivals, tests or cells, as the report has them.", "",
             "| paper | claim | verdict | cases |", "| --- | --- | --- | --- |"]
    for name, rows in claims.items():
        for verdict, claim, cases in rows:
            whose = f"[{STUDIES[name]}]({name}.md)" + (", own" if OWN.search(claim) else "")
            lines.append(f"| {whose} | {claim.replace('|', '/')} | {verdict} | {cases} |")
    return "\n".join(lines) + "\n"


def chart(claims):
    """Bars of how many claims of each paper hold."""
    counts = {name: [sum(v == verdict and not OWN.search(c) for v, c, _ in rows) for verdict in VERDICTS] for name, rows in claims.items()}
    most = max(sum(row) for row in counts.values())
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="720" height="%d" viewBox="0 0 720 %d" role="img" '
           'font-family="Helvetica, Arial, \'Liberation Sans\', sans-serif" font-size="12">' % ((70 + 34 * len(counts),) * 2),
           "<title>What became of the papers' claims</title>", '<rect width="720" height="100%" fill="#ffffff"/>',
           '<text x="14" y="25" font-size="16" fill="#222222">What became of the papers\' claims</text>']
    x = 14
    for verdict, colour in VERDICTS.items():
        out.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="48" fill="#222222">{verdict}</text>')
        x += 40 + 7 * len(verdict)
    for i, (name, row) in enumerate(counts.items()):
        y, x = 66 + 34 * i, 150.0
        out.append(f'<text x="142" y="{y + 15}" text-anchor="end" fill="#222222">{STUDIES[name]}</text>')
        for count, (verdict, colour) in zip(row, VERDICTS.items()):
            width = 540.0 * count / most
            if count:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="22" fill="{colour}"><title>{STUDIES[name]}: {count} {verdict}</title></rect>'
                           f'<text x="{x + width / 2:.1f}" y="{y + 15}" text-anchor="middle" fill="#ffffff">{count}</text>')
            x += width
    return "\n".join(out) + "\n</svg>\n"


def unfounded(words, reports):
    """Numbers of sentences that the reports they link to do not have."""
    for item in re.findall(r"^- .*(?:\n  .*)*", words, re.M):
        linked = re.findall(r"\((\w+)\.md[^)]*\)", item)
        text = " ".join(reports[name] for name in linked)
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)|\b(?:Table|Figure|LeNet|ResNet|CIFAR)-?s? ?\d+", " ", item)
        for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-\d+)?", plain):
            if not re.search(r"(?<![\d.])" + re.escape(number.replace(",", "")) + r"(?![\d]|\.\d)", text.replace(",", "")):
                yield f"{number} is in no report that its sentence links to: {item[:80]}"


def main():
    folder = os.path.join(sys.argv[1], "docs", "studies")
    page, picture = os.path.join(folder, "README.md"), os.path.join(folder, "claims.svg")

    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()
    reports = {name: read(os.path.join(folder, name + ".md")) for name in STUDIES}
    claims = {name: claims_of(text) for name, text in reports.items()}
    words = read(page).split(TABLE)[0]
    made = {page: words + table(claims), picture: chart(claims)}
    if "--write" in sys.argv:
        for path, text in made.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return 0
    faults = [f"{os.path.relpath(path, sys.argv[1])} is not what the reports say; {sys.argv[0]} . --write" for path, text in made.items()
              if read(path) != text]
    wrong = list(unfounded(words, reports))
    print("1..2")
    for number, (what, found) in enumerate((("the table and the chart are the reports'", faults), ("numbers are those of reports", wrong)), 1):
        print(f"{'not ' if found else ''}ok {number} - {what}")
        for fault in found:
            print(f"# {fault}")
    return 1 if faults or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
