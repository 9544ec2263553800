/* web/src/coverage.ts - how thoroughly the data set exercises the network */
import { lineChart } from "./chart";
import type { Context } from "./context";
import type { Cover, Criterion, Curve, Unit } from "./data";
import { h, replace, type Child } from "./dom";
import { count, inUnit, isNumber, plural } from "./format";
import { shortNames } from "./names";
import { absent, bar, choice, list, table, type Part } from "./widgets";

/* What counts something is a share of all there is. */
function unitOf(criterion: Criterion): Unit {
    return criterion.total > 0 ? "share" : "real";
}

function criterionRow(criterion: Criterion): Child[] {
    const unit = unitOf(criterion);
    const beaten = isNumber(criterion.random) && isNumber(criterion.value) && criterion.random > criterion.value;
    return [
        h("span", { class: "named", title: criterion.definition ?? null }, h("b", null, criterion.id), h("small", null, [criterion.title !== criterion.id ? criterion.title : null, criterion.settings].filter(Boolean).join("; "))),
        inUnit(criterion.value, unit),
        unit === "share" ? bar(criterion.value, criterion.random) : null,
        isNumber(criterion.random) ? [inUnit(criterion.random, unit), beaten ? h("small", { title: "noise covers more than the data do: more of this is not better testing" }, " more than the data") : null] : "–",
        criterion.total > 0 ? `${count(criterion.covered)} of ${count(criterion.total)}` : "–",
    ];
}

function layerBars(layers: NonNullable<Cover["layer_names"]>, criterion: Criterion): Child {
    const most = Math.max(1e-12, ...(criterion.layers ?? []).filter(isNumber));
    const unit = unitOf(criterion);
    const short = shortNames(layers.map((layer) => layer.name));
    return h(
        "ul",
        { class: "bars", "aria-label": `${criterion.title ?? criterion.id} per layer` },
        layers.map((layer, i) => {
            const value = criterion.layers?.[i];
            return h(
                "li",
                null,
                h("span", { class: "bar-name", title: layer.name }, short[i]),
                bar(isNumber(value) ? (unit === "share" ? value : value / most) : null),
                h("b", null, inUnit(value, unit)),
                h("small", null, `${layer.kind}, ${plural(layer.neurons, "neuron")}`),
            );
        }),
    );
}

/* One of several, chosen by id. */
function switched(label: string, ids: string[], draw: (id: string) => Child): Child {
    if (ids.length === 0) return null;
    const place = h("div");
    const show = (id: string): void => replace(place, draw(id));
    show(ids[0]!);
    return [ids.length > 1 ? choice(label, ids.map((id): [string, string] => [id, id]), ids[0]!, show) : null, place];
}

function growthCurve(cover: Cover, i: number): Curve {
    const x = cover.growth_inputs!;
    const series: Curve["series"] = [{ name: "the data", role: "main", y: cover.growth![i]! }];
    if (cover.random_growth?.[i]?.length === x.length) series.push({ name: "random pictures", role: "random", y: cover.random_growth[i]! });
    return { x, x_title: "inputs", y_title: "covered", y_unit: unitOf(cover.criteria[i]!), series };
}

export function coveragePart(context: Context): Part {
    const cover = context.result("cover");
    if (!cover) return { ...absent(context, "cover", "Coverage"), id: "coverage" };
    const layers = cover.layer_names ?? [];
    const layered = cover.criteria.filter((criterion) => layers.length > 0 && criterion.layers?.length === layers.length);
    const grown = cover.criteria.map((_, i) => i).filter((i) => cover.growth_inputs && cover.growth?.[i]?.length === cover.growth_inputs.length);
    const untaught = !context.result("profile");
    return {
        id: "coverage",
        title: "Coverage",
        lead: "How much of what the neurons can do do the inputs make them do? Coverage says what was tried, not that it is right: read it beside the failures, and beside what random inputs reach.",
        body: [
            list(untaught ? ["Without training data, criteria that measure against ranges are left out: kmnc, nbc, snac."] : []),
            cover.definition ? h("p", { class: "fine" }, `A neuron here: ${cover.definition}; ${plural(cover.inputs, "input")}.`) : null,
            table("Coverage criteria", ["Criterion", "Value", "", "Random", "Covered"], cover.criteria.map(criterionRow), "criteria"),
            grown.length > 0
                ? [h("h3", null, "Growth"), switched("Criterion of the growth curve", grown.map((i) => cover.criteria[i]!.id), (id) => lineChart(growthCurve(cover, cover.criteria.findIndex((criterion) => criterion.id === id))))]
                : null,
            layered.length > 0
                ? [h("h3", null, "Layers"), switched("Criterion of the layers", layered.map((criterion) => criterion.id), (id) => layerBars(layers, layered.find((criterion) => criterion.id === id)!))]
                : null,
        ],
    };
}
