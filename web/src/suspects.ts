/* web/src/suspects.ts - inputs whose label may be wrong */
import type { Context } from "./context";
import { csvButton } from "./csv";
import { h } from "./dom";
import { count, isNumber, plural, share } from "./format";
import { inputName } from "./names";
import { arrow, more, type Part } from "./widgets";

export function suspectsPart(context: Context): Part | null {
    const suspects = context.report.evaluation?.label_suspects;
    if (!suspects) return null;
    const none = suspects.total === 0;
    return {
        id: "labels",
        title: "Label suspects",
        lead: none
            ? "No label looks wrong: the network is nowhere as sure of another class as it usually is of that class's own inputs."
            : `${plural(suspects.total, "input has", "inputs have")} a label that the network contradicts as surely as it names inputs of the other class. Some are mislabelled or broken, others are honest mistakes: look at them.`,
        body: none
            ? null
            : [
                  (suspects.notes ?? []).length > 0 ? h("ul", { class: "notes" }, suspects.notes!.map((text) => h("li", null, text))) : null,
                  h(
                      "ol",
                      { class: "shown-list suspects" },
                      suspects.items.map((item) =>
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
                      csvButton("label-suspects.csv", ["name", "input", "label", "prediction", "p_prediction", "p_label"], () => suspects.items.map((item) => [item.name, item.index, isNumber(item.label) ? context.className(item.label) : null, isNumber(item.prediction) ? context.className(item.prediction) : null, item.confidence, item.given])),
                  ),
                  more(suspects.more, count(suspects.more?.count) === "1" ? "label suspect" : "label suspects"),
              ],
    };
}
