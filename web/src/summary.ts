/* web/src/summary.ts - the verdict, the figures that matter, the first failures */
import type { Context } from "./context";
import type { Finding, Gate, Summary } from "./data";
import { h, icon, type Child } from "./dom";
import { count, inUnit, isNumber, moment, plural, large, seconds, share } from "./format";
import { arrow, table, type Part } from "./widgets";

const WORDS: Record<Summary["verdict"], string> = {
    pass: "Passed",
    fail: "Failed",
    none: "Examined",
};

function verdict(context: Context): Child {
    const summary = context.report.summary;
    const kind = summary?.verdict ?? "none";
    const gates = summary?.gates ?? [];
    const failed = gates.filter((gate) => !gate.pass).length;
    const told =
        summary?.headline ??
        (gates.length === 0
            ? "No thresholds were set, so there is nothing to pass or fail."
            : failed === 0
              ? `All ${plural(gates.length, "threshold")} held.`
              : `${count(failed)} of ${plural(gates.length, "threshold")} did not hold.`);
    return h("div", { class: `verdict ${kind}` }, h("span", { class: "badge" }, icon(kind), WORDS[kind] ?? kind), h("p", null, told));
}

function gateRow(gate: Gate): Child[] {
    return [
        gate.title ?? gate.name,
        isNumber(gate.value) ? inUnit(gate.value, gate.unit) : "not measured",
        h("span", { class: "mark" }, `${gate.relation === "<=" ? "≤" : "≥"} ${inUnit(gate.threshold, gate.unit)}`),
        h("span", { class: `mark ${gate.pass ? "pass" : "fail"}` }, icon(gate.pass ? "pass" : "fail"), gate.pass ? "held" : "did not hold"),
        gate.note,
    ];
}

interface Figure {
    name: string;
    value: string;
    note?: string | null;
    to: string;
}

function figures(context: Context): Figure[] {
    const { evaluation, findings } = context.report;
    const list: Figure[] = [];
    if (evaluation && isNumber(evaluation.accuracy))
        list.push({
            name: "Accuracy",
            value: share(evaluation.accuracy),
            note: evaluation.interval
                ? `${share(evaluation.interval[0])} to ${share(evaluation.interval[1])}, ${plural(evaluation.count, "input")}`
                : `of ${plural(evaluation.count, "input")}`,
            to: "evaluation",
        });
    const known = (evaluation?.per_class ?? []).filter((row) => isNumber(row.recall));
    const worst = known.length > 1 ? known.reduce((least, row) => (row.recall! < least.recall! ? row : least)) : null;
    if (worst) list.push({ name: "Worst class", value: share(worst.recall), note: `${context.className(worst.class)}, ${plural(worst.count, "input")}`, to: "evaluation" });
    if (isNumber(evaluation?.robust?.accuracy))
        list.push({
            name: "Robust accuracy",
            value: share(evaluation!.robust!.accuracy),
            note: [evaluation!.robust!.settings, isNumber(evaluation!.robust!.count) ? plural(evaluation!.robust!.count, "input") : null].filter(Boolean).join(", "),
            to: "failures",
        });
    if (findings)
        list.push(
            isNumber(findings.close)
                ? { name: "Failures close to originals", value: count(findings.close), note: `of ${plural(findings.total, "failure")} found`, to: "failures" }
                : { name: "Failures found", value: count(findings.total), note: null, to: "failures" },
        );
    if (evaluation && isNumber(evaluation.ece))
        list.push({ name: "Calibration error", value: share(evaluation.ece), note: "mean gap of confidence and accuracy", to: "evaluation" });
    if (evaluation?.label_suspects)
        list.push({ name: "Label suspects", value: count(evaluation.label_suspects.total), note: `of ${plural(evaluation.count, "input")}`, to: "labels" });
    return list;
}

/* Failures of as many different originals, those close to them first, then one of each large cluster. */
function strip(context: Context): Child {
    const { findings, clusters } = context.report;
    if (!findings || findings.items.length === 0) return null;
    const medoids = new Set((clusters?.items ?? []).map((cluster) => cluster.medoid ?? null));
    const worth = (finding: Finding): number => (finding.close ? 4 : 0) + (finding.similarity ?? 0) + (medoids.has(finding.id) ? 0.5 : 0);
    const shown = findings.items.filter((finding) => context.pictures.has(finding.failing)).sort((a, b) => worth(b) - worth(a));
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
    const gates = report.summary?.gates ?? [];
    const noted = gates.some((gate) => gate.note);
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
            (report.summary?.remarks ?? []).length > 0 ? h("ul", { class: "notes" }, report.summary!.remarks!.map((text) => h("li", null, text))) : null,
        ],
    };
}

export function head(context: Context): HTMLElement {
    const { report } = context;
    const { model, data, provenance } = report;
    const about = [
        data ? `${plural(data.count, "input")}${data.of && data.of > data.count ? ` of ${count(data.of)}` : ""} from ${data.name}${data.split ? `, ${data.split}` : ""}` : null,
        model?.parameters ? `${large(model.parameters)} parameters` : null,
        model?.neurons ? `${count(model.neurons)} neurons in ${count(model.layers)} hidden layers` : null,
        report.created ? moment(report.created) : null,
        provenance?.seconds ? `examined in ${seconds(provenance.seconds)}` : null,
    ];
    return h(
        "header",
        { class: "title" },
        h("h1", null, report.title ?? model?.name ?? "Report"),
        h("p", null, about.filter((text) => text !== null).map((text) => h("span", null, text))),
    );
}
