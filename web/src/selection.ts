/* web/src/selection.ts - which inputs are worth a label */
import { lineChart } from "./chart";
import type { Context } from "./context";
import { h } from "./dom";
import { count, isNumber, real, seconds, share } from "./format";
import { shownCard } from "./evaluation";
import { inputName } from "./names";
import { absent, more, notes, table, type Part } from "./widgets";

const BUDGETS = ["5", "10", "15", "20"];

/* Where every input has its label, there is nothing to choose. */
export function selectionPart(context: Context): Part | null {
    const selection = context.report.selection;
    if (context.report.data?.labelled === true) return null;
    if (!selection) return absent(context, "selection", "Selection");
    const rows = selection.selectors ?? [];
    const budgets = BUDGETS.filter((budget) => rows.some((row) => isNumber(row.fdr?.[budget])));
    const labelled = isNumber(selection.fault_rate);
    return {
        id: "selection",
        title: "Selection",
        lead: `If ${count(selection.budget)} of ${count(selection.count)} inputs could be labelled, these are the ones to take first, by ${selection.selector}${selection.title ? ` (${selection.title})` : ""}.`,
        body: [
            notes(context, "selection", selection.notes),
            labelled ? h("p", { class: "fine" }, `The labels that are there say how good the choice is: the network is wrong on ${share(selection.fault_rate)} of all inputs.`) : h("p", { class: "notice" }, "Without labels there is no way to say how many faults the choice would find."),
            selection.curve ? lineChart(selection.curve) : null,
            rows.length > 0
                ? [
                      h("h3", null, "Selectors compared"),
                      h("p", { class: "fine" }, "Of the inputs chosen first, the share that the network gets wrong (fault detection rate), by how many are chosen."),
                      table(
                          "Selectors compared",
                          ["Selector", ...budgets.map((budget) => `${budget}%`), "RAUC", "APFD", "Time"],
                          rows.map((row) => [
                              h("span", { class: row.id === selection.selector ? "named chosen" : "named" }, h("b", null, row.id), h("small", null, row.title !== row.id ? row.title : null)),
                              ...budgets.map((budget) => share(row.fdr?.[budget])),
                              real(row.rauc),
                              real(row.apfd),
                              seconds(row.seconds),
                          ]),
                      ),
                  ]
                : null,
            h("h3", null, "First in line"),
            h("ul", { class: "shown-list" }, selection.top.map((shown, i) => shownCard(context, shown, `${i + 1}. ${inputName(shown)}${isNumber(shown.score) ? ` score ${real(shown.score)}` : ""}`))),
            more(selection.more, "chosen inputs"),
        ],
    };
}
