/* web/src/evaluation.ts - how right it is, class by class; whether its confidence means something */
import type { Context } from "./context";
import type { CalibrationBin, ClassRow, Eval, Input, Regression } from "./data";
import { h, svg, type Child } from "./dom";
import { count, isNumber, real, share } from "./format";
import { inputName } from "./names";
import { css, inkOn, onTheme, ramp } from "./theme";
import { absent, arrow, bar, facts, list, more, table, type Part } from "./widgets";

const TABLE_CLASSES = 24; /* beyond, the matrix is a picture */
const PICTURE_CLASSES = 1000; /* beyond, a pixel a cell fits no screen: the pairs have to do */
const PAIRS = 8;
const CLASSES_SHOWN = 100;

function confusionCells(evaluation: Eval, classes: number): number[][] {
    const cells = Array.from({ length: classes }, () => new Array<number>(classes).fill(0));
    for (const [label, prediction, n] of evaluation.confusion ?? [])
        if (cells[label]?.[prediction] !== undefined) cells[label]![prediction] = n;
    return cells;
}

/* Off the diagonal, colours are spread over the errors alone: these are what one looks for. */
function cellColour(row: number[], label: number, prediction: number, worst: number): ReturnType<typeof ramp> {
    const total = row.reduce((sum, n) => sum + n, 0) || 1;
    const part = row[prediction]! / total;
    return label === prediction ? ramp("accent", part * 0.85) : ramp("heat", worst > 0 ? part / worst : 0);
}

function worstShare(cells: number[][]): number {
    let worst = 0;
    cells.forEach((row, label) => {
        const total = row.reduce((sum, n) => sum + n, 0);
        row.forEach((n, prediction) => {
            if (label !== prediction && total > 0) worst = Math.max(worst, n / total);
        });
    });
    return worst;
}

function matrixTable(context: Context, cells: number[][]): HTMLElement {
    const worst = worstShare(cells);
    const body = h("tbody");
    cells.forEach((row, label) => {
        const line = h("tr", null, h("th", { scope: "row", title: context.className(label) }, context.className(label)));
        row.forEach((n, prediction) => {
            const cell = h("td", { title: `${context.className(label)} seen as ${context.className(prediction)}: ${count(n)}` }, n > 0 ? count(n) : "");
            onTheme(() => {
                const ground = cellColour(row, label, prediction, worst);
                cell.style.backgroundColor = n > 0 ? css(ground) : "";
                cell.style.color = inkOn(ground);
            });
            line.appendChild(cell);
        });
        body.appendChild(line);
    });
    return h(
        "div",
        { class: "scroll matrix", tabindex: 0, role: "region", "aria-label": "Confusion matrix" },
        h(
            "table",
            null,
            h("caption", null, "Rows: label. Columns: what the network said."),
            h("thead", null, h("tr", null, h("td"), cells.map((_, c) => h("th", { scope: "col", title: context.className(c) }, h("span", null, context.className(c)))))),
            body,
        ),
    );
}

function matrixPicture(context: Context, cells: number[][]): HTMLElement {
    const side = cells.length;
    const canvas = h("canvas", { class: "matrix-picture pixels", width: side, height: side, role: "img" });
    canvas.setAttribute("aria-label", `Confusion matrix of ${side} classes; the pairs most often confused are listed beside it`);
    const worst = worstShare(cells);
    onTheme(() => {
        const drawing = canvas.getContext("2d")!;
        cells.forEach((row, label) =>
            row.forEach((_, prediction) => {
                drawing.fillStyle = css(cellColour(row, label, prediction, worst));
                drawing.fillRect(prediction, label, 1, 1);
            }),
        );
    });
    canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        const at = (v: number, size: number): number => Math.min(side - 1, Math.max(0, Math.floor((v / size) * side)));
        const label = at(event.clientY - box.top, box.height),
            prediction = at(event.clientX - box.left, box.width);
        canvas.title = `${context.className(label)} seen as ${context.className(prediction)}: ${count(cells[label]![prediction])}`;
    });
    return h("figure", null, canvas, h("figcaption", null, "Rows: label. Columns: what the network said."));
}

function confusedPairs(context: Context, evaluation: Eval): Child {
    const cells = evaluation.confusion ?? [];
    const pairs = cells.filter(([label, prediction]) => label !== prediction).sort((a, b) => b[2] - a[2]);
    if (pairs.length === 0) return h("p", null, "No input is confused with another class.");
    const totals = new Map<number, number>();
    for (const [label, , n] of cells) totals.set(label, (totals.get(label) ?? 0) + n);
    const complete = !evaluation.confusion_left_out; /* else these are not all inputs of a class */
    return [
        h("h4", null, "Most often confused"),
        h(
            "ol",
            { class: "pairs" },
            pairs.slice(0, PAIRS).map(([label, prediction, n]) =>
                h("li", null, h("span", null, context.className(label), arrow(), context.className(prediction)), h("b", null, count(n)), complete ? h("small", null, `${share(n / totals.get(label)!)} of its inputs`) : null),
            ),
        ),
    ];
}

function confusion(context: Context, evaluation: Eval): Child {
    const listed = evaluation.confusion ?? [];
    if (listed.length === 0) return null;
    const classes = Math.max(context.report.classes?.length ?? 0, listed.reduce((most, [a, b]) => Math.max(most, a + 1, b + 1), 0));
    const pairs = confusedPairs(context, evaluation);
    if (classes > PICTURE_CLASSES) return [h("h3", null, "Confusion"), pairs];
    const cells = confusionCells(evaluation, classes);
    return [h("h3", null, "Confusion"), h("div", { class: "confusion" }, classes <= TABLE_CLASSES ? matrixTable(context, cells) : matrixPicture(context, cells), h("div", null, pairs))];
}

/* Of many classes: those it is worst at, or without labels those it answers most. */
function worstFirst(rows: ClassRow[]): ClassRow[] {
    const size = (row: ClassRow): number => (isNumber(row.accuracy) ? row.count! : row.predicted);
    return [...rows].sort((a, b) => Number(!isNumber(a.accuracy)) - Number(!isNumber(b.accuracy)) || (a.accuracy ?? 0) - (b.accuracy ?? 0) || size(b) - size(a) || a.class - b.class);
}

function perClass(context: Context, evaluation: Eval): Child {
    const all = evaluation.per_class ?? [];
    if (all.length === 0) return null;
    const left = all.length - CLASSES_SHOWN;
    const rows = left > 0 ? worstFirst(all).slice(0, CLASSES_SHOWN) : all;
    const labelled = rows.some((row) => isNumber(row.accuracy));
    return [
        h("h3", null, left > 0 ? (labelled ? "Classes it is worst at" : "Classes it answers most") : "Classes"),
        table(
            "Results per class",
            labelled ? ["Class", "Inputs", "Right", "", "Precision", "Confidence"] : ["Class", "Predicted", "Confidence"],
            rows.map((row) =>
                labelled
                    ? [context.className(row.class), count(row.count), share(row.accuracy), bar(row.accuracy), share(row.precision), share(row.confidence)]
                    : [context.className(row.class), count(row.predicted), share(row.confidence)],
            ),
            "classes",
        ),
        more(context.rest(left, "eval.json"), "classes"),
    ];
}

/* Confidence against accuracy: on the diagonal, the network is as often right as it says. */
function reliability(bins: CalibrationBin[]): HTMLElement {
    const side = 220,
        left = 38,
        bottom = 34;
    const x = (v: number): number => left + v * side;
    const y = (v: number): number => 6 + (1 - v) * side;
    const most = Math.max(1, ...bins.map((bin) => bin.count));
    const shapes: Child[] = [];
    for (const v of [0, 0.25, 0.5, 0.75, 1]) {
        shapes.push(svg("line", { class: "grid", x1: x(0), x2: x(1), y1: y(v), y2: y(v) }));
        shapes.push(svg("text", { class: "tick", x: x(0) - 6, y: y(v) + 4, "text-anchor": "end" }, share(v, 0)));
        shapes.push(svg("text", { class: "tick", x: x(v), y: y(0) + 15, "text-anchor": "middle" }, share(v, 0)));
    }
    for (const bin of bins) {
        if (!isNumber(bin.accuracy)) continue;
        const told = `confidence ${share(bin.low, 0)} to ${share(bin.high, 0)}: ${count(bin.count)} inputs, ${share(bin.accuracy)} right`;
        shapes.push(
            svg(
                "rect",
                { class: "bin", x: x(bin.low) + 1, width: Math.max(1, x(bin.high) - x(bin.low) - 2), y: y(bin.accuracy), height: y(0) - y(bin.accuracy), opacity: (0.35 + 0.65 * Math.sqrt(bin.count / most)).toFixed(2) },
                svg("title", null, told),
            ),
        );
        if (isNumber(bin.confidence)) shapes.push(svg("circle", { class: "ideal", cx: x(bin.confidence), cy: y(bin.accuracy), r: 2.5 }));
    }
    shapes.push(svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    shapes.push(svg("text", { class: "tick", x: x(0.5), y: y(0) + 31, "text-anchor": "middle" }, "confidence"));
    const known = bins.filter((bin) => bin.count > 0);
    const words = known.map((bin) => `${share(bin.low, 0)} to ${share(bin.high, 0)}: ${share(bin.accuracy, 0)} right of ${bin.count}`).join("; ");
    return h(
        "figure",
        { class: "reliability" },
        svg("svg", { viewBox: `0 0 ${left + side + 18} ${side + bottom + 8}`, role: "img", "aria-label": `Accuracy by confidence. ${words}` }, shapes),
        h("figcaption", null, "How often it is right, by how sure it is. On the line, both agree; paler bars have fewer inputs."),
    );
}

export function shownCard(context: Context, shown: Input, extra?: Child): HTMLElement {
    const wrong = shown.label !== null && shown.label !== undefined && shown.label !== shown.prediction;
    const known = shown.label !== null && shown.label !== undefined;
    return h(
        "li",
        { class: "shown" },
        context.pictures.tile(shown.picture, `input ${shown.index}${known ? `, ${context.className(shown.label)}` : ""}`),
        h(
            "span",
            { class: "shown-words" },
            known && wrong ? [context.className(shown.label), arrow()] : null,
            h("b", { class: wrong ? "bad" : null }, context.className(shown.prediction)),
            isNumber(shown.confidence) ? ` ${share(shown.confidence, 0)}` : null,
        ),
        h("small", { title: shown.name ?? null }, extra ?? inputName(shown)),
    );
}

/* Output against target: on the line, both agree; the band is the tolerance. */
function scatter(regression: Regression): HTMLElement {
    const side = 260,
        left = 52,
        bottom = 36;
    const values = regression.pairs.flat();
    const low = Math.min(...values),
        high = Math.max(...values),
        span = high - low || 1;
    const x = (v: number): number => left + ((v - low) / span) * side;
    const y = (v: number): number => 6 + (1 - (v - low) / span) * side;
    const clamp = (v: number): number => Math.min(high, Math.max(low, v));
    const t = regression.tolerance;
    const shapes: Child[] = [];
    for (let i = 0; i <= 4; i++) {
        const v = low + (span * i) / 4;
        shapes.push(svg("line", { class: "grid", x1: x(low), x2: x(high), y1: y(v), y2: y(v) }));
        shapes.push(svg("text", { class: "tick", x: x(low) - 6, y: y(v) + 4, "text-anchor": "end" }, real(v)));
        shapes.push(svg("text", { class: "tick", x: x(v), y: y(low) + 15, "text-anchor": "middle" }, real(v)));
    }
    shapes.push(svg("path", { class: "band", d: `M${x(low)} ${y(clamp(low + t))}L${x(clamp(high - t))} ${y(high)}L${x(high)} ${y(high)}L${x(high)} ${y(clamp(high - t))}L${x(clamp(low + t))} ${y(low)}L${x(low)} ${y(low)}Z` }));
    shapes.push(svg("line", { class: "diagonal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
    for (const [target, output] of regression.pairs) shapes.push(svg("circle", { class: Math.abs(output - target) > t ? "pair beyond" : "pair", cx: x(target), cy: y(output), r: 2.2 }));
    shapes.push(svg("text", { class: "tick", x: x(low + span / 2), y: y(low) + 32, "text-anchor": "middle" }, "target"));
    const beyond = regression.pairs.filter(([target, output]) => Math.abs(output - target) > t).length;
    return h(
        "figure",
        { class: "reliability" },
        svg("svg", { viewBox: `0 0 ${left + side + 18} ${side + bottom + 8}`, role: "img", "aria-label": `Output against target of ${regression.pairs.length} inputs; ${beyond} are beyond the tolerance` }, shapes),
        h("figcaption", null, "What it gave, by what it was to give. On the line, both agree; in the band the error is within the tolerance."),
    );
}

function regressionPart(context: Context, evaluation: Eval, regression: Regression): Part {
    const lost = evaluation.not_numbers ?? 0;
    return {
        id: "evaluation",
        title: "Evaluation",
        lead: `${share(evaluation.accuracy)} of ${count(evaluation.count)} inputs are within ${real(regression.tolerance)} of their target; the mean error is ${real(regression.mae)}, the largest ${real(regression.most)}.`,
        body: [
            list(lost > 0 ? [`${lost} inputs have no answer that is a number.`] : []),
            h(
                "div",
                { class: "split" },
                h(
                    "div",
                    null,
                    h("h3", null, "Errors"),
                    facts([
                        ["Mean error (MAE)", real(regression.mae)],
                        ["Root mean square (RMSE)", real(regression.rmse)],
                        ["Median", real(regression.median)],
                        ["Largest", real(regression.most)],
                        ["Bias (output − target)", real(regression.bias)],
                        isNumber(regression.r2) ? ["R²", real(regression.r2)] : null,
                    ]),
                ),
                regression.pairs.length > 0 ? h("div", null, h("h3", null, "Output against target"), scatter(regression)) : null,
            ),
            regression.worst.length > 0
                ? [h("h3", null, "Largest errors"), h("ul", { class: "shown-list" }, regression.worst.map((item) => farCard(context, item)))]
                : null,
        ],
    };
}

function farCard(context: Context, far: Regression["worst"][number]): HTMLElement {
    const shown = context.input(far.input);
    return h(
        "li",
        { class: "shown" },
        context.pictures.tile(shown.picture, `input ${far.index}`),
        h("span", { class: "shown-words" }, real(far.target), arrow(), h("b", { class: far.error > (context.result("eval")?.regression?.tolerance ?? 0) ? "bad" : null }, real(far.output))),
        h("small", { title: shown.name ?? null }, inputName({ ...shown, index: far.index })),
    );
}

export function evaluationPart(context: Context): Part {
    const evaluation = context.result("eval");
    if (!evaluation) return { ...absent(context, "eval", "Evaluation"), id: "evaluation" };
    if (evaluation.regression) return regressionPart(context, evaluation, evaluation.regression);
    const { calibration } = evaluation;
    const lost = evaluation.not_numbers ?? 0;
    const wrong = context.report.beside?.eval?.mistakes ?? [];
    return {
        id: "evaluation",
        title: "Evaluation",
        lead: isNumber(evaluation.accuracy)
            ? `It is right on ${share(evaluation.accuracy)} of ${count(evaluation.count)} inputs${isNumber(evaluation.top5) ? `, among the first five on ${share(evaluation.top5)}` : ""}${isNumber(evaluation.loss) ? `; mean loss ${real(evaluation.loss)}` : ""}.`
            : `Without labels, only what it says can be shown: ${count(evaluation.count)} inputs, mean confidence ${share(evaluation.confidence)}.`,
        body: [
            list(lost > 0 ? [`${lost} inputs have no prediction: their scores are not numbers.`] : []),
            confusion(context, evaluation),
            h(
                "div",
                { class: "split" },
                h("div", null, perClass(context, evaluation)),
                calibration
                    ? h("div", null, h("h3", null, "Calibration"), isNumber(calibration.ece) ? h("p", null, "Expected calibration error ", h("b", null, share(calibration.ece)), isNumber(evaluation.confidence) ? `; mean confidence ${share(evaluation.confidence)}.` : ".") : null, reliability(calibration.bins))
                    : null,
            ),
            wrong.length > 0 ? [h("h3", null, "Most confident mistakes on the data set"), h("ul", { class: "shown-list" }, wrong.map((input) => shownCard(context, context.input(input))))] : null,
        ],
    };
}
