/* web/src/summary.ts - the verdict, the figures that matter, the first failures */
import type { Context } from "./context";
import type { Finding, Gate, Report } from "./data";
import { h, icon, type Child } from "./dom";
import { brief, count, fraction, inUnit, isNumber, moment, plural, large, real, seconds, share } from "./format";
import { totalSeconds } from "./provenance";
import { arrow, list, table, type Part } from "./widgets";

const WORDS: Record<NonNullable<Report["verdict"]>, string> = {
    pass: "Passed",
    fail: "Failed",
    none: "Examined",
};

const TRIES = 20; /* fewer say little about a rate */

/* Why it fails, if it does: the first threshold that does not hold. */
function failing(gates: Gate[]): string {
    const gate = gates.find((one) => !one.held);
    if (!gate) return "";
    if (!isNumber(gate.value)) return `It fails: ${gate.name} was not measured. `;
    return `It fails: ${gate.name} is ${brief(gate.value)} and must be at ${gate.relation === "<=" ? "most" : "least"} ${brief(gate.threshold)}. `;
}

function correctness(context: Context): string {
    const result = context.result("eval");
    const inputs = count(context.report.data?.count ?? result?.count);
    if (!isNumber(result?.accuracy)) return `The ${inputs} inputs have no labels, so that it cannot be said how often the network is right.`;
    const { regression } = result;
    if (regression) return `The network is within ${real(regression.tolerance)} of the target on ${(100 * result.accuracy).toFixed(1)}% of ${inputs} inputs; the mean error is ${real(regression.mae)}.`;
    const weak = result.worst ? `; the weak spot is '${result.worst.name}' with ${(100 * result.worst.accuracy).toFixed(1)}%` : "";
    return `The network is right on ${(100 * result.accuracy).toFixed(1)}% of ${inputs} inputs${weak}.`;
}

function breakage(context: Context): string {
    const assess = context.result("assess");
    const total = context.report.failures?.total ?? 0;
    if (!assess) return "";
    if (total === 0) return " No failure was found.";
    const worst = context.result("fuzz")?.modes[0]; /* those tried too seldom are behind the others */
    const mode = worst && worst.tries >= TRIES && (worst.rate ?? 0) > 0 ? `; ${worst.text} breaks it most often, in ${(100 * worst.rate!).toFixed(0)}% of ${count(worst.tries)} tries` : "";
    return ` ${count(total)} ${total === 1 ? "failure was" : "failures were"} found, ${count(assess.close_faults)} of them close to their originals${mode}.`;
}

/* Of data without labels, "robust" would count what never was right. */
function resistance(context: Context): string {
    const attack = context.result("attack");
    if (!attack || context.report.data?.labelled === false || !isNumber(attack.robust_accuracy)) return "";
    if (attack.space === "embedding")
        return ` Moving the vectors of its tokens by at most ${real(attack.eps)} leaves ${(100 * attack.robust_accuracy).toFixed(1)}% of ${count(attack.count)} texts right; the texts nearest to that turn ${plural(attack.nearest_faults ?? 0, "answer")}.`;
    return ` Noise of at most ${fraction(attack.eps)}, made to mislead it, leaves ${(100 * attack.robust_accuracy).toFixed(1)}% of ${count(attack.count)} inputs right.`;
}

/* What the doctor calls an error puts all other figures in doubt. */
function doubt(context: Context): string {
    const worst = context.report.doctor?.findings?.find((finding) => finding.level === "error");
    return worst ? `Look at this first: ${worst.sentence}. ` : "";
}

/* How right it is, what breaks it, what is left under attack: a sentence each. */
function verdict(context: Context): Child {
    const kind = context.report.verdict ?? "none";
    const told = context.report.results ? doubt(context) + failing(context.report.gates ?? []) + correctness(context) + breakage(context) + resistance(context) : "Nothing was measured.";
    return h("div", { class: `verdict ${kind}` }, h("span", { class: "badge" }, icon(kind), WORDS[kind] ?? kind), h("p", null, told));
}

/* What a reader must know first: what was taken for granted, what is missing. */
function remarks(context: Context): string[] {
    const { report } = context;
    const said: string[] = [];
    const taken = (name: string): { value: string; from?: string | null } | undefined => report.provenance?.assumptions?.find((row) => row.name === name);
    if (report.results && (report.gates ?? []).length === 0) said.push("No thresholds were given, so nothing can fail; --fail-under accuracy=0.9 sets one.");
    if (taken("scale")) said.push(`Inputs are taken as (${report.data?.recordings ? "feature" : "pixel"} * ${taken("scale")!.value} - mean) / std; scale is ${taken("scale")!.from}, mean ${taken("mean")?.from}, std ${taken("std")?.from}.`);
    if (report.data?.no_labels) said.push(`${report.data.no_labels}.`);
    for (const stage of report.stages ?? [])
        if (stage.state === "left out" && (report.data?.labelled !== false || !stage.labels)) said.push(`'${stage.id}' was left out: ${(stage.why ?? "").slice(0, 400)}.`);
    for (const stage of report.stages ?? [])
        if (context.cutShort(stage.id)) said.push(`The time for '${stage.id}' was up before its work was done: another run may find a little more or less.`);
    return said;
}

function gateRow(gate: Gate): Child[] {
    return [
        gate.title ?? gate.name,
        isNumber(gate.value) ? inUnit(gate.value, gate.unit) : "not measured",
        h("span", { class: "mark" }, `${gate.relation === "<=" ? "≤" : "≥"} ${inUnit(gate.threshold, gate.unit)}`),
        h("span", { class: `mark ${gate.held ? "pass" : "fail"}` }, icon(gate.held ? "pass" : "fail"), gate.held ? "held" : "did not hold"),
        isNumber(gate.value) ? null : "was not measured",
    ];
}

interface Figure {
    name: string;
    value: string;
    note?: string | null;
    to: string;
}

function figures(context: Context): Figure[] {
    const evaluation = context.result("eval");
    const attack = context.result("attack");
    const found = context.report.failures;
    const near = context.result("assess")?.close_faults;
    const list: Figure[] = [];
    if (evaluation && isNumber(evaluation.accuracy))
        list.push({
            name: evaluation.regression ? `Within ${real(evaluation.regression.tolerance)}` : "Accuracy",
            value: share(evaluation.accuracy),
            note: evaluation.interval
                ? `${share(evaluation.interval[0])} to ${share(evaluation.interval[1])}, ${plural(evaluation.count, "input")}`
                : `of ${plural(evaluation.count, "input")}`,
            to: "evaluation",
        });
    if (isNumber(evaluation?.regression?.mae)) list.push({ name: "Mean error", value: real(evaluation.regression.mae), note: `the largest ${real(evaluation.regression.most)}`, to: "evaluation" });
    const known = (evaluation?.per_class ?? []).filter((row) => isNumber(row.accuracy));
    const worst = known.length > 1 ? known.reduce((least, row) => (row.accuracy! < least.accuracy! ? row : least)) : null;
    if (worst) list.push({ name: "Worst class", value: share(worst.accuracy), note: `${context.className(worst.class)}, ${plural(worst.count!, "input")}`, to: "evaluation" });
    if (evaluation && context.report.data?.labelled !== false && isNumber(attack?.robust_accuracy))
        list.push({ name: evaluation.regression ? "Within, under attack" : "Robust accuracy", value: share(attack.robust_accuracy), note: `${attack.method}, eps ${fraction(attack.eps)}, ${plural(attack.count, "input")}`, to: "failures" });
    if (found)
        list.push(
            isNumber(near)
                ? { name: "Failures close to originals", value: count(near), note: `of ${plural(found.total, "failure")} found`, to: "failures" }
                : { name: "Failures found", value: count(found.total), note: null, to: "failures" },
        );
    if (evaluation && isNumber(evaluation.calibration?.ece))
        list.push({ name: "Calibration error", value: share(evaluation.calibration.ece), note: "mean gap of confidence and accuracy", to: "evaluation" });
    if (evaluation?.label_suspects)
        list.push({ name: "Label suspects", value: count(evaluation.label_suspects.total), note: `of ${plural(evaluation.count, "input")}`, to: "labels" });
    return list;
}

/* Failures of as many different originals, those close to them first, then one of each large cluster. */
function strip(context: Context): Child {
    const { findings } = context;
    const medoids = new Set((context.result("cluster")?.clusters ?? []).filter((cluster) => cluster.medoid_method !== "data").map((cluster) => cluster.medoid));
    const worth = (finding: Finding): number => (finding.close ? 4 : 0) + (finding.similarity ?? 0) + (medoids.has(finding.id) ? 0.5 : 0);
    const shown = findings.filter((finding) => context.pictures.has(finding.failing)).sort((a, b) => worth(b) - worth(a));
    const seeds = new Set<number>(),
        kinds = new Set<string>();
    const chosen: Finding[] = [];
    for (const strict of [true, false]) /* first other kinds too, then at least other originals */
        for (const finding of shown) {
            const kind = `${finding.label}:${finding.prediction}`;
            if (chosen.length === 6 || (isNumber(finding.index) ? seeds.has(finding.index) : chosen.includes(finding)) || (strict && kinds.has(kind))) continue;
            if (isNumber(finding.index)) seeds.add(finding.index);
            kinds.add(kind);
            chosen.push(finding);
        }
    if (chosen.length === 0) return null;
    return h(
        "ul",
        { class: "strip", "aria-label": "Some of the failures" },
        chosen.map((finding, i) => {
            const button = h(
                "button",
                { type: "button" },
                context.pictures.tile(finding.failing, `an input that shows ${context.className(finding.label)}`),
                h("span", null, context.className(finding.label), arrow(), h("b", null, context.className(finding.prediction))),
            );
            button.addEventListener("click", () => context.openFinding(chosen, i));
            return h("li", null, button);
        }),
    );
}

export function summaryPart(context: Context): Part {
    const { report } = context;
    const gates = report.gates ?? [];
    const noted = gates.some((gate) => !isNumber(gate.value));
    const rows = gates.map((gate) => (noted ? gateRow(gate) : gateRow(gate).slice(0, 4)));
    return {
        id: "summary",
        title: "Summary",
        body: [
            verdict(context),
            gates.length > 0 ? table("Thresholds", ["Threshold", "Measured", "Wanted", "Result", ...(noted ? ["Note"] : [])], rows, "gates") : null,
            h(
                "ul",
                { class: "figures" },
                figures(context).map((figure) =>
                    h("li", null, h("a", { href: `#${figure.to}` }, h("span", null, figure.name), h("b", null, figure.value), h("small", null, figure.note))),
                ),
            ),
            strip(context),
            report.data?.labelled === false
                ? h("p", { class: "notice" }, "The data set has no labels: accuracy, calibration, the confusion matrix and fault curves need them and are left out.")
                : null,
            list(remarks(context)),
        ],
    };
}

export function head(context: Context): HTMLElement {
    const { report } = context;
    const { model, data } = report;
    const time = totalSeconds(context);
    const about = [
        data ? `${plural(data.count, "input")} from ${data.name}${data.split ? `, ${data.split}` : ""}` : null,
        model?.parameters ? `${large(model.parameters)} parameters` : null,
        model?.neurons ? `${count(model.neurons)} neurons in ${count(model.layers)} hidden layers` : null,
        report.created ? moment(report.created) : null,
        time > 0 ? `examined in ${seconds(time)}` : null,
    ];
    return h(
        "header",
        { class: "title" },
        h("h1", null, report.title ?? model?.name ?? "Report"),
        h("p", null, about.filter((text) => text !== null).map((text) => h("span", null, text))),
    );
}
