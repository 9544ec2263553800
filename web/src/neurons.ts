/* web/src/neurons.ts - which neurons are behind the failures, and what they respond to */
import type { Context } from "./context";
import type { Neuron, Neurons } from "./data";
import { openDialog, type Page } from "./dialog";
import { h, replace, type Child } from "./dom";
import { count, isNumber, plural, real, share } from "./format";
import { layerMap, type MapValue } from "./layer_map";
import { Virtual } from "./virtual";
import { absent, choice, facts, more, notes, type Part } from "./widgets";

const ROW_HEIGHT = 44;

type Column = "neuron" | "class" | "suspiciousness" | "sensitivity" | "af" | "words";

/* What a description is worth; said wherever there is one. */
function validationTag(neurons: Neurons, neuron?: Neuron): Child {
    const level = neuron?.validation ?? neurons.validation;
    if (!level) return null;
    const kind = /not validated/i.test(level) ? "warn" : "";
    return h("span", { class: `tag ${kind}`, title: neurons.validation_note ?? null }, level);
}

function spectrumTable(neuron: Neuron): Child {
    const s = neuron.spectrum;
    if (!s) return null;
    const rate = (failing: number, all: number): string => (all > 0 ? share(failing / all) : "–");
    return [
        h("h3", null, "Spectrum"),
        h(
            "table",
            { class: "spectrum" },
            h("thead", null, h("tr", null, h("td"), h("th", { scope: "col" }, "right"), h("th", { scope: "col" }, "wrong"), h("th", { scope: "col" }, "share wrong"))),
            h(
                "tbody",
                null,
                h("tr", null, h("th", { scope: "row" }, "active"), h("td", null, count(s.as)), h("td", null, count(s.af)), h("td", null, rate(s.af, s.af + s.as))),
                h("tr", null, h("th", { scope: "row" }, "not active"), h("td", null, count(s.ns)), h("td", null, count(s.nf)), h("td", null, rate(s.nf, s.nf + s.ns))),
            ),
        ),
    ];
}

function details(context: Context, neuron: Neuron): Page {
    const neurons = context.report.neurons!;
    const top = neuron.top ?? [];
    const masked = top.some((shown) => context.pictures.has(shown.mask));
    return {
        title: [h("span", { class: "hidden" }, "Neuron "), h("code", null, context.neuronName([neuron.layer, neuron.unit]))],
        body: [
            neuron.inactive ? h("p", { class: "notice" }, "No input of the data set makes this neuron active.") : null,
            neuron.words ? h("blockquote", null, neuron.words, " ", validationTag(neurons, neuron)) : null,
            neuron.words && neurons.validation_note ? h("p", { class: "fine" }, neurons.validation_note) : null,
            facts([
                isNumber(neuron.suspiciousness) ? [neurons.measure_title ?? "Suspiciousness", `${real(neuron.suspiciousness)}${neurons.measure ? ` (${neurons.measure})` : ""}`] : null,
                isNumber(neuron.rank) ? ["Rank", `${count(neuron.rank)}${isNumber(neuron.class) ? ` for ${context.className(neuron.class)}` : ""}`] : null,
                isNumber(neuron.sensitivity) ? [neurons.sensitivity_title ?? "Sensitivity", real(neuron.sensitivity)] : null,
                neurons.layers[neuron.layer]?.kind ? ["Layer", `${neurons.layers[neuron.layer]!.kind}${neurons.layers[neuron.layer]!.shape ? `, ${neurons.layers[neuron.layer]!.shape}` : ""}`] : null,
            ]),
            spectrumTable(neuron),
            (neuron.labels ?? []).length > 0
                ? [h("h3", null, "Measured labels"), h("ul", { class: "chips" }, neuron.labels!.map((label) => h("li", null, h("span", { class: "chip" }, label.label, isNumber(label.iou) ? h("small", null, `IoU ${real(label.iou)}`) : null))))]
                : null,
            top.length > 0
                ? [
                      h("h3", null, "Inputs that excite it most"),
                      masked ? h("p", { class: "fine" }, "Dimmed where it does not activate.") : null,
                      h(
                          "ul",
                          { class: "shown-list" },
                          top.map((shown) => {
                              const name = isNumber(shown.label) ? context.className(shown.label) : isNumber(shown.prediction) ? context.className(shown.prediction) : "";
                              const alt = `input ${shown.index}${name ? `, ${name}` : ""}`;
                              return h("li", { class: "shown" }, context.pictures.masked(shown.picture, shown.mask, alt), h("span", { class: "shown-words" }, name), h("small", null, `#${shown.index}${isNumber(shown.score) ? `, ${real(shown.score)}` : ""}`));
                          }),
                      ),
                  ]
                : null,
        ],
    };
}

function sortKey(context: Context, neuron: Neuron, column: Column): number | string | null {
    switch (column) {
        case "neuron":
            return neuron.layer * 1e7 + neuron.unit;
        case "class":
            return isNumber(neuron.class) ? context.className(neuron.class).toLowerCase() : null;
        case "words":
            return neuron.words?.toLowerCase() ?? null;
        case "af":
            return neuron.spectrum?.af ?? null;
        case "suspiciousness":
            if (isNumber(neuron.suspiciousness)) return neuron.suspiciousness;
            return isNumber(neuron.rank) ? 1e300 / neuron.rank : null; /* infinite, by its rank */
        case "sensitivity":
            return neuron.sensitivity ?? null;
    }
}

function neuronTable(context: Context, neurons: Neurons): Child {
    const { items } = neurons;
    const has = {
        class: items.some((item) => isNumber(item.class)),
        sensitivity: items.some((item) => isNumber(item.sensitivity)),
        suspiciousness: items.some((item) => isNumber(item.suspiciousness) || isNumber(item.rank)),
        af: items.some((item) => item.spectrum),
        words: items.some((item) => item.words),
    };
    const all: [Column, string, boolean, string][] = [
        ["neuron", "Neuron", true, "minmax(8.5rem, 1.4fr)"],
        ["class", "Class", has.class, "minmax(4rem, 1fr)"],
        ["suspiciousness", "Suspicious", has.suspiciousness, "minmax(5.6rem, .7fr)"],
        ["sensitivity", "Sensitive", has.sensitivity, "minmax(5rem, .7fr)"],
        ["af", "Wrong if active", has.af, "minmax(7rem, .9fr)"],
        ["words", "Responds to", has.words, "minmax(9rem, 2.2fr)"],
    ];
    const columns = all.filter((column) => column[2]);
    let sorted: Column = has.suspiciousness ? "suspiciousness" : "neuron";
    let descending = has.suspiciousness;
    let wanted = "";
    let shown = items;

    const list = new Virtual<Neuron>({
        label: "Neurons",
        rowHeight: ROW_HEIGHT,
        render: (neuron) => row(neuron),
        open: (index) => context.openNeuron(shown, index),
        empty: "No neuron fits the search.",
    });
    const grid = columns.map((column) => column[3]).join(" ");

    function row(neuron: Neuron): HTMLElement {
        const cells: Record<Column, Child> = {
            neuron: h("code", null, context.neuronName([neuron.layer, neuron.unit])),
            class: isNumber(neuron.class) ? context.className(neuron.class) : "all",
            suspiciousness: isNumber(neuron.suspiciousness) ? real(neuron.suspiciousness) : isNumber(neuron.rank) ? "∞" : "–",
            sensitivity: real(neuron.sensitivity),
            af: neuron.spectrum ? `${count(neuron.spectrum.af)} of ${count(neuron.spectrum.af + neuron.spectrum.as)}` : "–",
            words: neuron.inactive ? h("i", null, "never active") : (neuron.words ?? "–"),
        };
        const button = h("button", { type: "button", class: "neuron-row" }, columns.map(([id]) => h("span", { class: `cell ${id}` }, cells[id])));
        button.style.gridTemplateColumns = grid;
        return button;
    }

    const status = h("p", { class: "status", role: "status" });
    const heads = columns.map(([id, text]) => {
        const button = h("button", { type: "button", "data-column": id }, text);
        button.addEventListener("click", () => {
            descending = sorted === id ? !descending : id !== "neuron" && id !== "class" && id !== "words";
            sorted = id;
            apply();
        });
        return button;
    });
    const header = h("div", { class: "neuron-head", role: "group", "aria-label": "Sort neurons by" }, heads);
    header.style.gridTemplateColumns = grid;
    new ResizeObserver(() => {
        /* beside the rows there may be a scroll bar */
        header.style.paddingRight = `calc(1rem + ${list.element.offsetWidth - list.element.clientWidth}px)`;
    }).observe(list.element);

    function apply(): void {
        const terms = wanted.toLowerCase().split(/\s+/).filter(Boolean);
        const texts = (item: Neuron): string =>
            [context.neuronName([item.layer, item.unit]), isNumber(item.class) ? context.className(item.class) : "", item.words ?? "", ...(item.labels ?? []).map((label) => label.label)].join(" ").toLowerCase();
        shown = items.filter((item) => terms.every((term) => texts(item).includes(term)));
        shown.sort((a, b) => {
            const x = sortKey(context, a, sorted),
                y = sortKey(context, b, sorted);
            if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1; /* unknown ones last */
            return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
        });
        heads.forEach((button) => {
            const mine = button.dataset["column"] === sorted;
            button.dataset["sort"] = mine ? (descending ? "descending" : "ascending") : "none";
            button.setAttribute("aria-pressed", String(mine));
            button.setAttribute("aria-label", `${button.textContent}${mine ? `, sorted ${descending ? "descending" : "ascending"}` : ""}`);
        });
        list.set(shown);
        replace(status, `${count(shown.length)} of ${plural(items.length, "neuron")}, by ${columns.find((column) => column[0] === sorted)![1].toLowerCase()}, ${descending ? "descending" : "ascending"}`);
    }

    const search = h("input", { type: "search", placeholder: "layer, class or word", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("input", () => {
        wanted = search.value;
        apply();
    });
    apply();
    return [h("div", { class: "toolbar" }, h("label", { class: "select" }, h("span", null, "Search"), search), status), h("div", { class: "neuron-table" }, header, list.element)];
}

/* A neuron may have a row per class; what it responds to is the same in all of them. */
function sharedWords(items: Neuron[]): Neuron[] {
    const known = new Map<string, Neuron>();
    const key = (item: Neuron): string => `${item.layer}:${item.unit}`;
    for (const item of items) if (item.words || item.top?.length) known.set(key(item), item);
    return items.map((item) => {
        const other = known.get(key(item));
        if (!other || item.words || item.top?.length) return item;
        return { ...item, words: other.words, labels: other.labels, top: other.top, inactive: other.inactive, validation: other.validation };
    });
}

export function neuronsPart(context: Context): Part {
    const given = context.report.neurons;
    if (!given) return absent(context, "neurons", "Neurons");
    const neurons: Neurons = { ...given, items: sharedWords(given.items) };
    context.openNeuron = (list, index) => openDialog(list.length, index, (i) => details(context, list[i]!));

    const title = (value: MapValue): string => (value === "suspiciousness" ? (neurons.measure_title ?? "Suspiciousness") : (neurons.sensitivity_title ?? "Sensitivity"));
    const known = (value: MapValue): boolean => neurons.layers.some((layer) => layer[value]?.some(isNumber));
    const values = (["suspiciousness", "sensitivity"] as MapValue[]).filter(known);
    let mapBox: Child = null;
    if (values.length > 0) {
        const map = layerMap(neurons.layers, title, (layer, unit) => {
            const index = neurons.items.findIndex((item) => item.layer === layer && item.unit === unit);
            const info = neurons.layers[layer]!;
            const bare: Neuron = { layer, unit, suspiciousness: info.suspiciousness?.[unit], sensitivity: info.sensitivity?.[unit] };
            if (index >= 0) context.openNeuron(neurons.items, index);
            else context.openNeuron([bare], 0);
        });
        map.show(values[0]!);
        mapBox = [h("h3", null, "Map"), values.length > 1 ? choice("Colour by", values.map((value): [MapValue, string] => [value, title(value)]), values[0]!, map.show) : null, map.element];
    }
    const described = neurons.items.some((item) => item.words);
    return {
        id: "neurons",
        title: "Neurons",
        lead: "Which neurons are active when the network is wrong, and what do they respond to? A score is a hint where to look, not a proof.",
        body: [
            notes(context, "neurons", neurons.notes),
            neurons.definition ? h("p", { class: "fine" }, `A neuron here: ${neurons.definition}.`) : null,
            described ? h("p", { class: "fine" }, "Descriptions: ", neurons.describer ?? "words", " ", validationTag(neurons), neurons.validation_note ? ` ${neurons.validation_note}` : null) : null,
            mapBox,
            neurons.items.length > 0 ? [h("h3", null, "Table"), neuronTable(context, neurons)] : null,
            more(neurons.more, "neurons"),
        ],
    };
}
