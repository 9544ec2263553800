/* web/src/selection.ts - which inputs are worth a label */
import type { Context } from "./context";
import { h } from "./dom";
import { count, real } from "./format";
import { shownCard } from "./evaluation";
import { inputName } from "./names";
import { absent, more, type Part } from "./widgets";

/* Where every input has its label, there is nothing to choose. */
export function selectionPart(context: Context): Part | null {
    const selection = context.result("select");
    if (context.report.data?.labelled === true) return null;
    if (!selection) return { ...absent(context, "select", "Selection"), id: "selection" };
    return {
        id: "selection",
        title: "Selection",
        lead: `If ${count(selection.budget)} of ${count(selection.count)} inputs could be labelled, these are the ones to take first, by ${selection.selector} (${selection.title}).`,
        body: [
            h("p", { class: "notice" }, "Without labels there is no way to say how many faults the choice would find."),
            h("h3", null, "First in line"),
            h(
                "ul",
                { class: "shown-list" },
                selection.top.map(({ input, score }, i) => {
                    const shown = context.input(input);
                    return shownCard(context, shown, `${i + 1}. ${inputName(shown)} score ${real(score)}`);
                }),
            ),
            more(context.rest(selection.budget - selection.top.length, "selection.csv"), "chosen inputs"),
        ],
    };
}
