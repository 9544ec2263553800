/* web/src/neurons.ts - which neurons are behind the failures, and what they respond to */
import type { Context } from "./context";
import type { Neuron, Neurons } from "./data";
import { csvButton } from "./csv";
import { openDialog, type Page } from "./dialog";
import { h, replace, type Child } from "./dom";
import { count, isNumber, plural, real, share, signed } from "./format";
import { layerMap, type MapValue } from "./layer_map";
import { inputName } from "./names";
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

/* How far its score is above that of a neuron that is always active: the one scale of table and map. */
function above(neurons: Neurons, neuron: Neuron): number | null {
    const baseline = neuron.baseline ?? (isNumber(neuron.class) ? null : neurons.baseline);
    return isNumber(neuron.suspiciousness) && isNumber(baseline) ? neuron.suspiciousness - baseline : null;
}

/* "truck 7 of 15"; where no class has half of the inputs, there is no theme to name. */
function respondsTo(neuron: Neuron): Child {
    if (neuron.inactive) return h("i", null, "never active");
    const shared = neuron.shared;
    const theme = shared && 2 * shared.count >= shared.of ? `${shared.class} ${count(shared.count)} of ${count(shared.of)}` : null;
    if (neuron.words || theme) return [neuron.words, theme].filter(Boolean).join("; ");
    return shared ? h("i", null, "no common theme") : "–";
}

function wrongIfActive(neuron: Neuron): string {
    const s = neuron.spectrum;
    if (!s) return "–";
    const range = neuron.interval ? ` (${share(neuron.interval[0], 0)} to ${share(neuron.interval[1], 0)})` : "";
    return `${count(s.af)} of ${count(s.af + s.as)}${range}`;
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
        title: [h("span", { class: "hidden" }, "Neuron "), h("code", { title: context.neuronName([neuron.layer, neuron.unit]) }, context.neuronShort([neuron.layer, neuron.unit]))],
        body: [
            neuron.inactive ? h("p", { class: "notice" }, "No input of the data set makes this neuron active.") : null,
            neuron.words || neuron.shared ? h("blockquote", null, respondsTo(neuron), " ", validationTag(neurons, neuron)) : null,
            neuron.words && neurons.validation_note ? h("p", { class: "fine" }, neurons.validation_note) : null,
            facts([
                ["Neuron", h("code", null, context.neuronName([neuron.layer, neuron.unit]))],
                isNumber(neuron.suspiciousness) ? [neurons.measure_title ?? "Suspiciousness", `${real(neuron.suspiciousness)}${above(neurons, neuron) !== null ? `, ${signed(above(neurons, neuron))} to one that is always active` : ""}`] : null,
                neuron.spectrum ? ["Wrong while it is active", wrongIfActive(neuron)] : null,
                typeof neuron.suspect === "boolean" ? ["Suspect", neuron.suspect ? "yes: wrong more often than over all, beyond chance" : "no: not wrong more often than over all"] : null,
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
                              return h("li", { class: "shown" }, context.pictures.masked(shown.picture, shown.mask, alt), h("span", { class: "shown-words" }, name), h("small", { title: shown.name ?? null }, `${inputName(shown)}${isNumber(shown.score) ? `, ${real(shown.score)}` : ""}`));
                          }),
                      ),
                  ]
                : null,
        ],
    };
}

function sortKey(context: Context, neurons: Neurons, neuron: Neuron, column: Column): number | string | null {
    switch (column) {
        case "neuron":
            return neuron.layer * 1e7 + neuron.unit;
        case "class":
            return isNumber(neuron.class) ? context.className(neuron.class).toLowerCase() : null;
        case "words":
            return (neuron.shared ? neuron.shared.class : neuron.words)?.toLowerCase() ?? null;
        case "af":
            return neuron.interval?.[0] ?? neuron.spectrum?.af ?? null; /* the low end: few inputs prove little */
        case "suspiciousness":
            if (isNumber(neuron.suspiciousness)) return above(neurons, neuron) ?? neuron.suspiciousness;
            return isNumber(neuron.rank) ? 1e300 / neuron.rank : null; /* infinite, by its rank */
        case "sensitivity":
            return neuron.sensitivity ?? null;
    }
}

function neuronTable(context: Context, neurons: Neurons): Child {
    const { items } = neurons;
    const has = {
        class: items.some((item) => isNumber(item.class)),
        above: items.some((item) => above(neurons, item) !== null),
        sensitivity: items.some((item) => isNumber(item.sensitivity)),
        suspiciousness: items.some((item) => isNumber(item.suspiciousness) || isNumber(item.rank)),
        af: items.some((item) => item.spectrum),
        words: items.some((item) => item.words || item.shared),
    };
    const all: [Column, string, boolean, string][] = [
        ["neuron", "Neuron", true, "minmax(8.5rem, 1.4fr)"],
        ["class", "Class", has.class, "minmax(4rem, 1fr)"],
        ["suspiciousness", has.above ? "Above constant" : "Suspicious", has.suspiciousness, "minmax(6.6rem, .7fr)"],
        ["sensitivity", "Sensitive", has.sensitivity, "minmax(5rem, .7fr)"],
        ["af", "Wrong if active", has.af, "minmax(12rem, 1.4fr)"],
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

    function score(neuron: Neuron): Child {
        const gap = above(neurons, neuron);
        const raw = isNumber(neuron.suspiciousness) ? real(neuron.suspiciousness) : isNumber(neuron.rank) ? "∞" : "–";
        if (gap === null) return raw;
        return h("span", { class: neuron.suspect ? "bad" : null, title: `${neurons.measure ?? "score"} ${raw}; a neuron that is always active has ${real(neuron.suspiciousness! - gap)}` }, signed(gap));
    }

    function row(neuron: Neuron): HTMLElement {
        const cells: Record<Column, Child> = {
            neuron: h("code", { title: context.neuronName([neuron.layer, neuron.unit]) }, context.neuronShort([neuron.layer, neuron.unit])),
            class: isNumber(neuron.class) ? context.className(neuron.class) : "all",
            suspiciousness: score(neuron),
            sensitivity: real(neuron.sensitivity),
            af: [wrongIfActive(neuron), neuron.suspect ? h("span", { class: "hidden" }, ", a suspect") : null],
            words: respondsTo(neuron),
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
            [context.neuronName([item.layer, item.unit]), context.neuronShort([item.layer, item.unit]), item.shared?.class ?? "", isNumber(item.class) ? context.className(item.class) : "", item.words ?? "", ...(item.labels ?? []).map((label) => label.label)].join(" ").toLowerCase();
        shown = items.filter((item) => terms.every((term) => texts(item).includes(term)));
        shown.sort((a, b) => {
            const x = sortKey(context, neurons, a, sorted),
                y = sortKey(context, neurons, b, sorted);
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
    const file = csvButton("neurons.csv", ["neuron", "class", "score", "above_constant", "wrong_if_active", "active", "low", "high", "suspect", "responds_to"], () =>
        shown.map((item) => {
            const words = item.shared ? `${item.shared.class} ${item.shared.count} of ${item.shared.of}` : item.words;
            return [context.neuronName([item.layer, item.unit]), isNumber(item.class) ? context.className(item.class) : "all", item.suspiciousness, above(neurons, item), item.spectrum?.af, item.spectrum && item.spectrum.af + item.spectrum.as, item.interval?.[0], item.interval?.[1], item.suspect === undefined || item.suspect === null ? null : item.suspect ? "yes" : "no", words];
        }),
    );
    return [h("div", { class: "toolbar" }, h("label", { class: "select" }, h("span", null, "Search"), search), status, file), h("div", { class: "neuron-table" }, header, list.element)];
}

/* A neuron may have a row per class; what it responds to is the same in all of them. */
function sharedWords(items: Neuron[]): Neuron[] {
    const known = new Map<string, Neuron>();
    const key = (item: Neuron): string => `${item.layer}:${item.unit}`;
    const told = (item: Neuron): boolean => !!(item.words || item.shared || item.top?.length);
    for (const item of items) if (told(item)) known.set(key(item), item);
    return items.map((item) => {
        const other = known.get(key(item));
        if (!other || told(item)) return item;
        return { ...item, words: other.words, shared: other.shared, labels: other.labels, top: other.top, inactive: other.inactive, validation: other.validation };
    });
}

/* How much of the network the scores are about at all, and what they are measured from. */
function silence(neurons: Neurons): Child {
    const none = neurons.uninformative;
    const units = neurons.layers.reduce((sum, layer) => sum + layer.units, 0);
    const said: string[] = [];
    if (none && none.always + none.never > 0)
        said.push(`${count(none.always)} of ${plural(units, "neuron")} are active on (almost) all inputs${none.never > 0 ? `, ${count(none.never)} on (almost) none` : ""}: they say nothing, are not ranked, and are hatched on the map.`);
    if (isNumber(neurons.baseline))
        said.push(`A neuron that is always active has ${neurons.measure ?? "a score of"} ${real(neurons.baseline)} over all inputs (each class has its own such value). Table and map show how far a score is above or below it.`);
    if (isNumber(neurons.suspects))
        said.push(`${plural(neurons.suspects, "neuron is a suspect", "neurons are suspects")}: while active, the network is wrong more often than over all inputs, beyond chance (the 95% interval lies above).`);
    return said.length > 0 ? h("ul", { class: "notes" }, said.map((text) => h("li", null, text))) : null;
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
        const scale = { baseline: isNumber(neurons.baseline) ? neurons.baseline : null, short: (layer: number) => context.shortLayer(layer) };
        const map = layerMap(neurons.layers, scale, title, (layer, unit) => {
            const index = neurons.items.findIndex((item) => item.layer === layer && item.unit === unit);
            const info = neurons.layers[layer]!;
            const bare: Neuron = { layer, unit, suspiciousness: info.suspiciousness?.[unit], sensitivity: info.sensitivity?.[unit] };
            if (index >= 0) context.openNeuron(neurons.items, index);
            else context.openNeuron([bare], 0);
        });
        map.show(values[0]!);
        mapBox = [h("h3", null, "Map"), values.length > 1 ? choice("Colour by", values.map((value): [MapValue, string] => [value, title(value)]), values[0]!, map.show) : null, map.element];
    }
    const described = neurons.items.some((item) => item.words || item.shared);
    return {
        id: "neurons",
        title: "Neurons",
        lead: "Which neurons are active when the network is wrong, and what do they respond to? A score is a hint where to look, not a proof.",
        body: [
            silence(neurons),
            notes(context, "neurons", neurons.notes),
            neurons.definition ? h("p", { class: "fine" }, `A neuron here: ${neurons.definition}.`) : null,
            described ? h("p", { class: "fine" }, "Descriptions: ", neurons.describer ?? "words", " ", validationTag(neurons), neurons.validation_note ? ` ${neurons.validation_note}` : null) : null,
            mapBox,
            neurons.items.length > 0 ? [h("h3", null, "Table"), neuronTable(context, neurons)] : null,
            more(neurons.more, "neurons"),
        ],
    };
}
