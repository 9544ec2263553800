/* web/src/modes.ts - what breaks the network: kinds of change and how strong, by class */
import type { Context } from "./context";
import { csvButton } from "./csv";
import type { Mode, ModeCounts } from "./data";
import { h, type Child } from "./dom";
import { count, isNumber, plural, share } from "./format";
import { css, inkOn, onTheme, ramp } from "./theme";
import type { Part } from "./widgets";

const CLASSES_MOST = 24; /* beyond, columns would not fit: classes with most failures */
const ROWS_MOST = 16; /* the others wait behind a button */
const TRIES = 20; /* fewer say little about a rate */

function said(what: string, counts: ModeCounts): string {
    const rate = isNumber(counts.rate) ? `, ${share(counts.rate)} of ${plural(counts.tries, "try", "tries")}` : "";
    const near = counts.count > 0 ? `, ${count(counts.close)} close to their originals` : "";
    return `${what}: ${plural(counts.count, "failure")}${rate}${near}`;
}

/* Rate and count; the colour is the rate among those of the table, pale where few were tried. */
function cell(context: Context, what: string, counts: ModeCounts | undefined, ids: number[], worst: number): HTMLElement {
    if (!counts || (counts.count === 0 && !counts.tries)) return h("td", null, "");
    const text = [h("b", null, isNumber(counts.rate) ? share(counts.rate, 0) : count(counts.count)), isNumber(counts.rate) ? h("small", null, ` ${count(counts.count)}`) : null];
    const inside = ids.length > 0 ? h("button", { type: "button", "aria-label": `${said(what, counts)}: show them` }, text) : h("span", null, text);
    if (ids.length > 0) inside.addEventListener("click", () => context.showFindings(ids, said(what, counts)));
    const box = h("td", { title: said(what, counts) }, inside);
    onTheme(() => {
        const weight = Math.min(1, counts.tries / TRIES);
        const ground = ramp("heat", isNumber(counts.rate) && worst > 0 ? (counts.rate / worst) * 0.9 * weight : 0);
        box.style.backgroundColor = css(ground);
        box.style.color = inkOn(ground);
    });
    return box;
}

export function modesPart(context: Context): Part | null {
    const rows = context.result("fuzz")?.modes ?? [];
    if (rows.length === 0) return null;
    const cells = rows.flatMap((row) => row.cells);
    const shown = new Map<string, number[]>(); /* failures on the page, by mode and class */
    for (const { id, mutation, band, label } of context.findings) {
        const key = `${mutation} ${band} ${label}`;
        const ids = shown.get(key);
        if (ids) ids.push(id);
        else shown.set(key, [id]);
    }
    const idsOf = (mode: Mode, label: number): number[] => shown.get(`${mode.mutation} ${mode.band} ${label}`) ?? [];
    const per = new Map<number, number>();
    for (const one of cells) if (one.label >= 0) per.set(one.label, (per.get(one.label) ?? 0) + one.count);
    const classes = [...per]
        .sort((a, b) => b[1] - a[1])
        .slice(0, CLASSES_MOST)
        .map(([label]) => label)
        .sort((a, b) => a - b);
    const left = per.size - classes.length;
    const worst = [...rows, ...cells].reduce((most, counts) => Math.max(most, counts.tries >= TRIES ? (counts.rate ?? 0) : 0), 0);
    const known = rows.filter((row) => isNumber(row.rate) && row.tries >= TRIES && row.count > 0).sort((a, b) => b.rate! - a.rate!);

    function line(row: Mode, hidden: boolean): HTMLElement {
        const name = row.text;
        const of = (label: number): ModeCounts | undefined => row.cells.find((one) => one.label === label);
        const all = row.cells.flatMap((one) => idsOf(row, one.label));
        return h(
            "tr",
            { hidden },
            h("th", { scope: "row", title: name }, name),
            cell(context, name, row, all, worst),
            classes.map((c) => cell(context, `${name}, ${context.className(c)}`, of(c), of(c) ? idsOf(row, c) : [], worst)),
        );
    }
    const body = h("tbody", null, rows.map((row, i) => line(row, i >= ROWS_MOST)));
    const rest = rows.length - ROWS_MOST;
    const button = h("button", { type: "button", class: "quiet small" }, `Show ${plural(rest, "more kind")}`);
    button.addEventListener("click", () => {
        for (const one of body.querySelectorAll("tr")) one.hidden = false;
        button.remove();
    });
    const head: Child = h("tr", null, h("th", { scope: "col" }, "Change"), h("th", { scope: "col" }, "all"), classes.map((c) => h("th", { scope: "col", title: context.className(c) }, h("span", null, context.className(c)))));
    return {
        id: "modes",
        title: "Failure modes",
        lead: "Which changes break it, how strong, and for which classes? A cell has the share of tries that failed, and how many did; choose one to see them.",
        body: [
            known.length > 0 ? h("ul", { class: "notes" }, known.slice(0, 3).map((row) => h("li", null, `${row.text} breaks it in ${count(row.count)} of ${plural(row.tries, "try", "tries")} (${share(row.rate)}).`))) : null,
            h("div", { class: "scroll matrix modes", tabindex: 0, role: "region", "aria-label": "Failure modes" }, h("table", null, h("thead", null, head), body)),
            h("p", { class: "fine" }, "A try is a mutant that the network judged; it counts for its last mutation. Rates of fewer than 20 tries say little."),
            left > 0 ? h("p", { class: "fine" }, `The ${count(classes.length)} classes with most failures; ${count(left)} more are in the CSV.`) : null,
            h(
                "p",
                { class: "actions" },
                rest > 0 ? button : null,
                csvButton("failure-modes.csv", ["change", "class", "failures", "tries", "rate", "close"], () =>
                    rows.flatMap((row) => [[row.text, "all", row.count, row.tries, row.rate, row.close], ...row.cells.map((one) => [row.text, one.label >= 0 ? context.className(one.label) : null, one.count, one.tries, one.rate, one.close])]),
                ),
            ),
        ],
    };
}
