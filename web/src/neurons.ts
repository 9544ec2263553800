/* web/src/neurons.ts - which neurons are behind the failures, and what they respond to */
import type { Context } from "./context";
import type { Described, Localize, Neuron, NeuronMap, Suspect } from "./data";
import { csvButton } from "./csv";
import { openDialog, type Page } from "./dialog";
import { h, replace, type Child } from "./dom";
import { count, isNumber, plural, real, share, signed } from "./format";
import { layerMap } from "./layer_map";
import { inputName } from "./names";
import { Virtual } from "./virtual";
import { absent, facts, list as bullets, type Part } from "./widgets";

const ROW_HEIGHT = 44;

type Column = "neuron" | "class" | "suspiciousness" | "af" | "words";
const SHOWN_PER_CLASS = 3;

/* What a description is worth; said wherever there is one. */
function validationTag(context: Context): Child {
    const level = context.result("describe")?.validation;
    return level ? h("span", { class: `tag ${/not validated/i.test(level) ? "warn" : ""}` }, level) : null;
}

function scoreOf(neuron: Neuron): number | null {
    return (neuron.suspect ? neuron.suspect.score : neuron.score) ?? null;
}

/* How far its score is above that of a neuron that is always active: the one scale of table and map. */
function above(map: NeuronMap, neuron: Neuron): number | null {
    const score = scoreOf(neuron);
    const c = neuron.suspect?.class;
    const baseline = isNumber(c) ? map.baselines?.[c] : map.baseline;
    return isNumber(score) && isNumber(baseline) ? score - baseline : null;
}

/* "truck 7 of 15"; where no class has half of the inputs, there is no theme to name. */
function respondsTo({ described }: Neuron): Child {
    if (described?.inactive) return h("i", null, "never active");
    const shared = described?.shared;
    const theme = shared && 2 * shared.count >= shared.of ? `${shared.class} ${count(shared.count)} of ${count(shared.of)}` : null;
    if (described?.words || theme) return [described?.words, theme].filter(Boolean).join("; ");
    return shared ? h("i", null, "no common theme") : "–";
}

function wrongIfActive(s: Suspect): string {
    return `${count(s.af)} of ${count(s.af + s.as)} (${share(s.low, 0)} to ${share(s.high, 0)})`;
}

function spectrumTable(s: Suspect): Child {
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

function exciting(context: Context, neuron: Neuron): Child {
    const top = neuron.described?.top ?? [];
    if (top.length === 0) return null;
    const masked = (neuron.masks ?? []).some((mask) => context.pictures.has(mask));
    return [
        h("h3", null, "Inputs that excite it most"),
        masked ? h("p", { class: "fine" }, "Dimmed where it does not activate.") : null,
        h(
            "ul",
            { class: "shown-list" },
            top.map(({ input, value }, k) => {
                const shown = context.input(input);
                const name = context.className(shown.label ?? shown.prediction);
                return h("li", { class: "shown" }, context.pictures.masked(shown.picture, neuron.masks?.[k], `input ${shown.index}, ${name}`), h("span", { class: "shown-words" }, name), h("small", { title: shown.name ?? null }, `${inputName(shown)}, ${real(value)}`));
            }),
        ),
    ];
}

function details(context: Context, map: NeuronMap, neuron: Neuron): Page {
    const ref: [number, number] = [neuron.layer, neuron.unit];
    const { suspect, described } = neuron;
    const layer = map.layers[neuron.layer];
    const score = scoreOf(neuron);
    const gap = above(map, neuron);
    return {
        title: [h("span", { class: "hidden" }, "Neuron "), h("code", { title: context.neuronName(ref) }, context.neuronShort(ref))],
        body: [
            described?.inactive ? h("p", { class: "notice" }, "No input of the data set makes this neuron active.") : null,
            described?.words || described?.shared ? h("blockquote", null, respondsTo(neuron), " ", validationTag(context)) : null,
            facts([
                ["Neuron", h("code", null, context.neuronName(ref))],
                isNumber(score) ? [map.measure_title ?? "Suspiciousness", `${real(score)}${gap !== null ? `, ${signed(gap)} to one that is always active` : ""}`] : null,
                suspect ? ["Wrong while it is active", wrongIfActive(suspect)] : null,
                suspect ? ["Suspect", suspect.suspect ? "yes: wrong more often than over all, beyond chance" : "no: not wrong more often than over all"] : null,
                suspect ? ["Rank", `${count(suspect.rank)}${isNumber(suspect.class) ? ` for ${context.className(suspect.class)}` : ""}`] : null,
                layer?.kind ? ["Layer", `${layer.kind}${layer.shape ? `, ${layer.shape}` : ""}`] : null,
            ]),
            suspect ? spectrumTable(suspect) : null,
            (described?.labels ?? []).length > 0
                ? [h("h3", null, "Measured labels"), h("ul", { class: "chips" }, described!.labels!.map((label) => h("li", null, h("span", { class: "chip" }, label.label, h("small", null, `IoU ${real(label.iou)}`)))))]
                : null,
            exciting(context, neuron),
        ],
    };
}

function sortKey(context: Context, map: NeuronMap, neuron: Neuron, column: Column): number | string | null {
    const { suspect, described } = neuron;
    switch (column) {
        case "neuron":
            return neuron.layer * 1e7 + neuron.unit;
        case "class":
            return isNumber(suspect?.class) ? context.className(suspect.class).toLowerCase() : null;
        case "words":
            return (described?.shared?.class ?? described?.words)?.toLowerCase() ?? null;
        case "af":
            return suspect?.low ?? null; /* the low end: few inputs prove little */
        case "suspiciousness":
            if (isNumber(scoreOf(neuron))) return above(map, neuron) ?? scoreOf(neuron);
            return suspect ? 1e300 / suspect.rank : null; /* infinite, by its rank */
    }
}

function neuronTable(context: Context, map: NeuronMap, items: Neuron[]): Child {
    const has = {
        class: items.some((item) => isNumber(item.suspect?.class)),
        above: items.some((item) => above(map, item) !== null),
        words: items.some((item) => item.described?.words || item.described?.shared),
    };
    const all: [Column, string, boolean, string][] = [
        ["neuron", "Neuron", true, "minmax(8.5rem, 1.9fr)"],
        ["class", "Class", has.class, "minmax(4rem, 1fr)"],
        ["suspiciousness", has.above ? "Above constant" : "Suspicious", true, "minmax(6.6rem, .7fr)"],
        ["af", "Wrong if active", true, "minmax(12rem, 1.4fr)"],
        ["words", "Responds to", has.words, "minmax(9rem, 2.2fr)"],
    ];
    const columns = all.filter((column) => column[2]);
    let sorted: Column = "suspiciousness";
    let descending = true;
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
        const gap = above(map, neuron);
        const value = scoreOf(neuron);
        const raw = isNumber(value) ? real(value) : "∞";
        if (gap === null) return raw;
        return h("span", { class: neuron.suspect?.suspect ? "bad" : null, title: `${context.result("localize")?.measure ?? "score"} ${raw}; a neuron that is always active has ${real(value! - gap)}` }, signed(gap));
    }

    /* Where there is no room, the end of the layer's name goes; the number stays. */
    function neuronCell({ layer, unit }: Neuron): Child {
        const name = h("span", { class: "layer-part" }, context.shortLayer(layer));
        name.style.maxWidth = `calc(100% - ${String(unit).length + 2}ch)`;
        return h("code", { title: context.neuronName([layer, unit]) }, name, ` #${unit}`);
    }

    function row(neuron: Neuron): HTMLElement {
        const suspect = neuron.suspect!;
        const cells: Record<Column, Child> = {
            neuron: neuronCell(neuron),
            class: isNumber(suspect.class) ? context.className(suspect.class) : "all",
            suspiciousness: score(neuron),
            af: [wrongIfActive(suspect), suspect.suspect ? h("span", { class: "hidden" }, ", a suspect") : null],
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
            [context.neuronName([item.layer, item.unit]), context.neuronShort([item.layer, item.unit]), item.described?.shared?.class ?? "", isNumber(item.suspect?.class) ? context.className(item.suspect.class) : "", item.described?.words ?? "", ...(item.described?.labels ?? []).map((label) => label.label)].join(" ").toLowerCase();
        shown = items.filter((item) => terms.every((term) => texts(item).includes(term)));
        shown.sort((a, b) => {
            /* above by chance is no reason to be on top */
            if (sorted === "suspiciousness" && a.suspect?.suspect !== b.suspect?.suspect) return a.suspect?.suspect ? -1 : 1;
            const x = sortKey(context, map, a, sorted),
                y = sortKey(context, map, b, sorted);
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
        replace(status, `${count(shown.length)} of ${plural(items.length, "neuron")}, ${sorted === "suspiciousness" ? "suspects first, " : ""}by ${columns.find((column) => column[0] === sorted)![1].toLowerCase()}, ${descending ? "descending" : "ascending"}`);
    }

    const search = h("input", { type: "search", placeholder: "layer, class or word", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("input", () => {
        wanted = search.value;
        apply();
    });
    apply();
    const file = csvButton("neurons.csv", ["neuron", "class", "score", "above_constant", "wrong_if_active", "active", "low", "high", "suspect", "responds_to"], () =>
        shown.map((item) => {
            const { suspect, described } = item;
            const words = described?.shared ? `${described.shared.class} ${described.shared.count} of ${described.shared.of}` : described?.words;
            return [context.neuronName([item.layer, item.unit]), isNumber(suspect?.class) ? context.className(suspect.class) : "all", scoreOf(item), above(map, item), suspect?.af, suspect ? suspect.af + suspect.as : null, suspect?.low, suspect?.high, suspect?.suspect ? "yes" : "no", words];
        }),
    );
    return [h("div", { class: "toolbar" }, h("label", { class: "select" }, h("span", null, "Search"), search), status, file), h("div", { class: "neuron-table" }, header, list.element)];
}

/* How much of the network the scores are about at all, and what they are measured from. */
function silence(localize: Localize, map: NeuronMap): string[] {
    const { almost_always_active: always, almost_never_active: never, measure, suspects } = localize;
    const units = map.layers.reduce((sum, layer) => sum + layer.units, 0);
    const said: string[] = [];
    if (always + never > 0)
        said.push(`${count(always)} of ${plural(units, "neuron")} are active on (almost) all inputs${never > 0 ? `, ${count(never)} on (almost) none` : ""}: they say nothing, are not ranked, and are hatched on the map.`);
    if (isNumber(map.baseline))
        said.push(`A neuron that is always active has ${measure} ${real(map.baseline)} over all inputs (each class has its own such value). Table and map show how far a score is above or below it.`);
    said.push(`${plural(suspects, "neuron is a suspect", "neurons are suspects")}: while active, the network is wrong more often than over all inputs, beyond chance (the 95% interval lies above).`);
    return said;
}

function remarks(context: Context): string[] {
    const describe = context.result("describe");
    const said = ["That a neuron is active when the network is wrong does not show that it is the cause; the synthesized failures try that out."];
    if (!describe) return said;
    said.push(`The inputs beside a neuron excite it most, of ${count(describe.inputs)}; bright is where they do.`, ...(describe.sentences ?? []));
    if (describe.wordless) said.push(describe.wordless);
    return said;
}

/* The suspects of all classes together, then the first of each. */
function rows(context: Context, localize: Localize, map: NeuronMap): Neuron[] {
    const layers = new Map(map.layers.map((layer, i) => [layer.position, i]));
    const known = new Map<string, [Described, number]>();
    context.result("describe")?.neurons.forEach((neuron, i) => known.set(`${neuron.position}:${neuron.index}`, [neuron, i]));
    const masks = context.report.beside?.describe?.masks;
    const first = (localize.by_class ?? []).filter((suspect) => suspect.rank <= SHOWN_PER_CLASS);
    return [...localize.neurons, ...first].flatMap((suspect) => {
        const layer = layers.get(suspect.position);
        const [described, i] = known.get(`${suspect.position}:${suspect.index}`) ?? [];
        return layer === undefined ? [] : [{ layer, unit: suspect.index, suspect, described, masks: i === undefined ? null : masks?.[i] }];
    });
}

export function neuronsPart(context: Context): Part {
    const localize = context.result("localize");
    const map = context.report.beside?.localize;
    if (!localize || !map) return { ...absent(context, "localize", "Neurons"), id: "neurons" };
    const items = rows(context, localize, map);
    context.openNeuron = (list, index) => openDialog(list.length, index, (i) => details(context, map, list[i]!));

    const scale = { baseline: isNumber(map.baseline) ? map.baseline : null, short: (layer: number) => context.shortLayer(layer) };
    const known = map.layers.some((layer) => layer.suspiciousness?.some(isNumber));
    const open = (layer: number, unit: number): void => {
        const index = items.findIndex((item) => item.layer === layer && item.unit === unit);
        if (index >= 0) context.openNeuron(items, index);
        else context.openNeuron([{ layer, unit, score: map.layers[layer]!.suspiciousness?.[unit] }], 0);
    };
    const described = items.some((item) => item.described?.words || item.described?.shared);
    return {
        id: "neurons",
        title: "Neurons",
        lead: "Which neurons are active when the network is wrong, and what do they respond to? A score is a hint where to look, not a proof.",
        body: [
            bullets(silence(localize, map)),
            bullets(remarks(context)),
            h("p", { class: "fine" }, `A neuron here: ${localize.definition}.`),
            described ? h("p", { class: "fine" }, "Descriptions: ", context.result("describe")?.describer ?? "words", " ", validationTag(context)) : null,
            known ? [h("h3", null, "Map"), layerMap(map.layers, scale, map.measure_title ?? "Suspiciousness", open)] : null,
            items.length > 0 ? [h("h3", null, "Table"), neuronTable(context, map, items)] : null,
        ],
    };
}
