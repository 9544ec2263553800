/* web/src/suspects.ts - inputs whose label may be wrong */
import type { Context } from "./context";
import { csvButton } from "./csv";
import { h } from "./dom";
import { isNumber, plural, share } from "./format";
import { inputName } from "./names";
import { arrow, list, more, type Part } from "./widgets";

export function suspectsPart(context: Context): Part | null {
    const suspects = context.result("eval")?.label_suspects;
    if (!suspects) return null;
    const none = suspects.total === 0;
    const end = suspects.items.findIndex(({ input }) => !context.report.inputs?.[input]);
    const shown = suspects.items.slice(0, end < 0 ? undefined : end).map((item) => ({ ...item, ...context.input(item.input) }));
    const left = suspects.total - shown.length;
    return {
        id: "labels",
        title: "Label suspects",
        lead: none
            ? "No label looks wrong: the network is nowhere as sure of another class as it usually is of that class's own inputs."
            : `${plural(suspects.total, "input has", "inputs have")} a label that the network contradicts as surely as it names inputs of the other class. Some are mislabelled or broken, others are honest mistakes: look at them.`,
        body: none
            ? null
            : [
                  list([suspects.rule]),
                  h(
                      "ol",
                      { class: "shown-list suspects" },
                      shown.map((item) =>
                          h(
                              "li",
                              { class: "shown" },
                              context.pictures.tile(item.picture, `input ${item.index}, labelled ${context.className(item.label)}`),
                              h("span", { class: "shown-words" }, context.className(item.label), arrow(), h("b", { class: "bad" }, context.className(item.prediction)), isNumber(item.confidence) ? ` ${share(item.confidence, 0)}` : null),
                              h("small", { title: `${item.name ?? `#${item.index}`}${isNumber(item.given) ? `; probability of its label ${share(item.given, item.given < 0.01 ? 2 : 0)}` : ""}` }, inputName(item)),
                          ),
                      ),
                  ),
                  h(
                      "p",
                      { class: "actions" },
                      csvButton("label-suspects.csv", ["name", "input", "label", "prediction", "p_prediction", "p_label"], () => shown.map((item) => [item.name, item.index, isNumber(item.label) ? context.className(item.label) : null, isNumber(item.prediction) ? context.className(item.prediction) : null, item.confidence, item.given])),
                  ),
                  more(context.rest(left, "label_suspects.csv"), left === 1 ? "label suspect" : "label suspects"),
              ],
    };
}
