/* web/src/coverage.ts - how thoroughly the data set exercises the network */
import { lineChart } from "./chart";
import type { Context } from "./context";
import type { Coverage, Criterion } from "./data";
import { h, replace, type Child } from "./dom";
import { count, inUnit, isNumber, plural, seconds } from "./format";
import { shortNames } from "./names";
import { absent, bar, choice, notes, table, type Part } from "./widgets";

function criterionRow(criterion: Criterion): Child[] {
    const shares = (criterion.unit ?? "share") === "share";
    const beaten = isNumber(criterion.random) && isNumber(criterion.value) && criterion.random > criterion.value;
    return [
        h("span", { class: "named", title: criterion.help ?? null }, h("b", null, criterion.id), h("small", null, [criterion.title !== criterion.id ? criterion.title : null, criterion.settings].filter(Boolean).join("; "))),
        inUnit(criterion.value, criterion.unit),
        shares ? bar(criterion.value, criterion.random) : null,
        isNumber(criterion.random) ? [inUnit(criterion.random, criterion.unit), beaten ? h("small", { title: "noise covers more than the data do: more of this is not better testing" }, " more than the data") : null] : "–",
        isNumber(criterion.covered) && isNumber(criterion.total) && criterion.total > 0 ? `${count(criterion.covered)} of ${count(criterion.total)}` : "–",
        seconds(criterion.seconds),
    ];
}

function layerBars(coverage: Coverage, criterion: Criterion): Child {
    const most = Math.max(1e-12, ...(criterion.layers ?? []).filter(isNumber));
    const shares = (criterion.unit ?? "share") === "share";
    const short = shortNames(coverage.layers!.map((layer) => layer.name));
    return h(
        "ul",
        { class: "bars", "aria-label": `${criterion.title ?? criterion.id} per layer` },
        coverage.layers!.map((layer, i) => {
            const value = criterion.layers?.[i];
            return h(
                "li",
                null,
                h("span", { class: "bar-name", title: layer.name }, short[i]),
                bar(isNumber(value) ? (shares ? value : value / most) : null),
                h("b", null, inUnit(value, criterion.unit)),
                h("small", null, [layer.kind, isNumber(layer.neurons) ? plural(layer.neurons, "neuron") : null].filter(Boolean).join(", ")),
            );
        }),
    );
}

/* One of several, chosen by id. */
function switched(label: string, ids: [string, string][], draw: (id: string) => Child): Child {
    if (ids.length === 0) return null;
    const place = h("div");
    const show = (id: string): void => replace(place, draw(id));
    show(ids[0]![0]);
    return [ids.length > 1 ? choice(label, ids, ids[0]![0], show) : null, place];
}

export function coveragePart(context: Context): Part {
    const coverage = context.report.coverage;
    if (!coverage) return absent(context, "coverage", "Coverage");
    const layered = coverage.layers ? coverage.criteria.filter((criterion) => criterion.layers && criterion.layers.length > 0) : [];
    const growth = coverage.growth ?? [];
    return {
        id: "coverage",
        title: "Coverage",
        lead: "How much of what the neurons can do do the inputs make them do? Coverage says what was tried, not that it is right: read it beside the failures, and beside what random inputs reach.",
        body: [
            notes(context, "coverage", coverage.notes),
            coverage.definition ? h("p", { class: "fine" }, `A neuron here: ${coverage.definition}${isNumber(coverage.inputs) ? `; ${plural(coverage.inputs, "input")}` : ""}.`) : null,
            table("Coverage criteria", ["Criterion", "Value", "", "Random", "Covered", "Time"], coverage.criteria.map(criterionRow), "criteria"),
            growth.length > 0
                ? [h("h3", null, "Growth"), switched("Criterion of the growth curve", growth.map((curve) => [curve.criterion, curve.criterion]), (id) => lineChart(growth.find((curve) => curve.criterion === id)!))]
                : null,
            layered.length > 0
                ? [h("h3", null, "Layers"), switched("Criterion of the layers", layered.map((criterion) => [criterion.id, criterion.id]), (id) => layerBars(coverage, layered.find((criterion) => criterion.id === id)!))]
                : null,
        ],
    };
}
