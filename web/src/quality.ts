/* web/src/quality.ts - how good the made inputs are: what the metrics of the papers say, in words */
import type { Context } from "./context";
import { h, type Child } from "./dom";
import { count, isNumber, real, share } from "./format";
import { absent, list, table, type Part } from "./widgets";

interface Words {
    question: string;
    value: (v: number) => string;
    verdict: (v: number) => string;
}

/* From the highest bound down: the first that the value reaches names it. */
const grade =
    (...steps: [number, string][]) =>
    (v: number): string =>
        steps.find(([bound]) => v >= bound)?.[1] ?? steps[steps.length - 1]![1];
const percent = (v: number): string => share(v, 0);

const WORDS: Record<string, Words> = {
    mr: { question: "How often is it wrong?", value: percent, verdict: grade([0.5, "more often than right"], [0.1, "often"], [0, "seldom"]) },
    asr: { question: "How often does a right answer turn?", value: percent, verdict: grade([0.5, "more often than not"], [0.1, "often"], [0, "seldom"]) },
    acac: { question: "How sure is it of the wrong answer?", value: percent, verdict: grade([0.9, "very sure"], [0.6, "sure"], [0, "in doubt"]) },
    actc: { question: "What is left of the right one?", value: percent, verdict: grade([0.3, "nearly right"], [0.1, "a little"], [0, "next to nothing"]) },
    nte: { question: "How far is the second answer behind?", value: percent, verdict: grade([0.6, "far"], [0.2, "some way"], [0, "close by"]) },
    ald_0: { question: "How many values changed?", value: (v) => `${real(v)} of those of the original`, verdict: grade([0.5, "most"], [0.05, "some"], [0, "few"]) },
    ald_2: { question: "How large is the change?", value: (v) => `${real(v)} of the original's length`, verdict: grade([0.5, "large"], [0.1, "moderate"], [0, "small"]) },
    ald_inf: { question: "How large is its largest value?", value: (v) => `${real(v)} of the original's`, verdict: grade([0.5, "large"], [0.1, "moderate"], [0, "small"]) },
    ass: { question: "How visible is the change?", value: (v) => `${v.toFixed(2)} of 1 similar`, verdict: grade([0.9, "hardly visible"], [0.6, "visible"], [-1, "another picture"]) },
    rgb: { question: "Does the failure outlive a blur?", value: percent, verdict: grade([0.8, "nearly always"], [0.4, "often"], [0, "seldom"]) },
    ric: { question: "Does it outlive JPEG?", value: percent, verdict: grade([0.8, "nearly always"], [0.4, "often"], [0, "seldom"]) },
};

export function qualityPart(context: Context): Part {
    const sets = context.result("assess")?.sets ?? [];
    if (sets.length === 0) return { ...absent(context, "assess", "Quality"), id: "quality" };
    const rows = sets[0]!.values.map((metric, i): Child[] => {
        const words = WORDS[metric.id];
        return [
            h("span", { class: "named", title: metric.definition }, words?.question ?? metric.title, h("small", null, ` ${metric.id}`)),
            ...sets.map((set): Child => {
                const cell = set.values[i];
                if (!cell || !isNumber(cell.value)) return h("span", { class: "fine", title: cell?.why ?? null }, cell?.why ?? "–");
                return h("span", { title: `mean of ${count(cell.n)}` }, words ? [h("b", null, words.verdict(cell.value)), h("small", null, ` ${words.value(cell.value)}`)] : real(cell.value));
            }),
        ];
    });
    return {
        id: "quality",
        title: "Quality",
        lead: "How sure, how visible and how lasting the failures are, by how they were made. Undefined is not zero: where nothing failed, most of these have no value.",
        body: [
            list(["Over failures only, the first 300 of each way of making them: the values compare ways, not their success."]),
            table("Quality metrics", ["", ...sets.map((set) => [context.methodName(set.name), h("small", null, ` ${count(set.pairs)}`)])], rows),
        ],
    };
}
