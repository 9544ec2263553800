/* web/src/quality.ts - how good the made inputs are, by the metrics of the papers */
import type { Context } from "./context";
import { h } from "./dom";
import { count, isNumber, real } from "./format";
import { absent, notes, table, type Part } from "./widgets";

export function qualityPart(context: Context): Part {
    const quality = context.report.quality;
    if (!quality || quality.metrics.length === 0) return absent(context, "quality", "Quality");
    const rows = quality.metrics.map((metric, i) => [
        h("span", { title: metric.definition ?? null }, metric.title ?? metric.id, metric.title ? h("small", null, ` ${metric.id}`) : null),
        ...quality.sets.map((set) => {
            const cell = set.values[i];
            if (!cell || !isNumber(cell.value)) return h("span", { class: "fine", title: cell?.why ?? null }, cell?.why ?? "–");
            return h("span", { title: isNumber(cell.n) ? `mean of ${count(cell.n)}` : null }, real(cell.value));
        }),
        metric.better ? `${metric.better === "low" ? "lower" : "higher"} is better` : "–",
    ]);
    return {
        id: "quality",
        title: "Quality",
        lead: "How strong, how sure and how visible the failures are. Undefined is not zero: where nothing failed, most of these have no value.",
        body: [notes(context, "quality", quality.notes), table("Quality metrics", ["Metric", ...quality.sets.map((set) => (isNumber(set.pairs) ? [set.name, h("small", null, ` ${count(set.pairs)}`)] : set.name)), "For the network"], rows)],
    };
}
