/* web/src/findings.ts - the gallery of failures, and the details of one */
import type { Context } from "./context";
import type { Attack, Finding, Fuzz, Picture, Synthesize } from "./data";
import { recordings } from "./audio";
import { csvButton, download } from "./csv";
import { closeDialog, openDialog, type Page } from "./dialog";
import { h, replace, type Child } from "./dom";
import { brief, count, fraction, isNumber, plural, real, seconds, share } from "./format";
import { Virtual } from "./virtual";
import { absent, arrow, copyable, facts, list as bullets, more, select, table, type Part } from "./widgets";

const CARD_WIDTH = 238,
    CARD_HEIGHT = 146;

interface Filter {
    methods: Set<string>; /* empty: all */
    label: string;
    prediction: string;
    cluster: string;
    close: boolean; /* only those near their originals */
    ids: Set<number> | null; /* of a failure mode; null: all */
    order: string;
}

interface Step {
    what: string; /* "seed", "rotation", "pgd" */
    settings?: string; /* "angle=12.5" */
    prediction?: number | null;
    confidence?: number | null;
    picture?: Picture | null;
}

/* How it was made: each mutation is a step; an attack or an engine is one, with all the rest as its settings. Of the
 * ends, the original and the failure, pictures and answers are known. */
function lineage(finding: Finding): Step[] {
    const { chain } = finding;
    const steps: Step[] = [{ what: "seed", picture: finding.original, ...finding.before }];
    if (Array.isArray(chain)) {
        for (const link of chain) steps.push({ what: link.split(" ", 1)[0]!, settings: link.slice(link.split(" ", 1)[0]!.length + 1) });
    } else if (chain) {
        const text = (value: unknown): string => (isNumber(value) ? brief(value) : typeof value === "string" ? value : "?");
        const { method, engine, ...rest } = chain;
        steps.push({ what: text(method ?? engine), settings: Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`).join(" ") });
    }
    if (steps.length > 1) Object.assign(steps[steps.length - 1]!, { picture: finding.failing, prediction: finding.prediction, confidence: finding.confidence });
    return steps;
}

const ORDERS: [string, string, (a: Finding, b: Finding) => number][] = [
    ["given", "as chosen", () => 0],
    ["near", "closest to the original", (a, b) => Number(b.close ?? false) - Number(a.close ?? false) || (b.similarity ?? -1) - (a.similarity ?? -1)],
    ["sure", "most confident", (a, b) => (b.confidence ?? -1) - (a.confidence ?? -1)],
    ["unsure", "least confident", (a, b) => (a.confidence ?? 2) - (b.confidence ?? 2)],
    ["small", "smallest change", (a, b) => (a.l2 ?? Infinity) - (b.l2 ?? Infinity)],
    ["large", "largest change", (a, b) => (b.l2 ?? -1) - (a.l2 ?? -1)],
    ["steps", "longest lineage", (a, b) => lineage(b).length - lineage(a).length],
];

function said(context: Context, finding: Finding): Child {
    return [h("span", null, context.className(finding.label)), arrow(), h("b", { class: "bad" }, context.className(finding.prediction))];
}

/* "0.93 similar": to its original, moves and turns undone. */
function nearness(finding: Finding): string | null {
    if (isNumber(finding.similarity)) return `${finding.similarity.toFixed(2)} similar`;
    return isNumber(finding.l2) ? `L2 ${real(finding.l2)}` : null;
}

function card(context: Context, finding: Finding): HTMLElement {
    return h(
        "button",
        { type: "button", class: "card" },
        h("span", { class: "triple" }, context.pictures.triple(finding.original, finding.failing, "original, failing input, difference ten times as strong")),
        h("span", { class: "card-line" }, said(context, finding), h("span", { class: "sure" }, share(finding.confidence, 0))),
        h("span", { class: "card-line fine" }, h("span", { class: "tag" }, context.methodName(finding.method)), nearness(finding), finding.audio?.failing ? h("span", { class: "tag" }, "recording") : null),
    );
}

function stepItem(context: Context, step: Step): HTMLElement {
    return h(
        "li",
        null,
        context.pictures.has(step.picture) ? context.pictures.tile(step.picture, `after ${step.what}`) : h("span", { class: "dot", "aria-hidden": "true" }),
        h(
            "div",
            null,
            h("b", null, step.what),
            step.settings ? h("code", null, step.settings) : null,
            isNumber(step.prediction) ? h("small", null, `seen as ${context.className(step.prediction)}${isNumber(step.confidence) ? `, ${share(step.confidence)}` : ""}`) : null,
        ),
    );
}

/* The three pictures side by side, as they are, in one file. */
function pictureButton(finding: Finding, pictures: HTMLElement[]): Child {
    const canvases = pictures.filter((picture): picture is HTMLCanvasElement => picture instanceof HTMLCanvasElement);
    if (canvases.length === 0) return null;
    return download("Download the pictures (PNG)", `failure-${finding.id}.png`, () => {
        const gap = 4;
        const all = h("canvas", { width: canvases.reduce((sum, canvas) => sum + canvas.width + gap, -gap), height: Math.max(...canvases.map((canvas) => canvas.height)) });
        const drawing = all.getContext("2d");
        let x = 0;
        for (const canvas of canvases) {
            drawing?.drawImage(canvas, x, 0);
            x += canvas.width + gap;
        }
        return all.toDataURL("image/png");
    });
}

function replayed(context: Context, finding: Finding): string {
    return `plexor replay ${context.path("campaign")} ${finding.id}`;
}

function closeness(finding: Finding): string | null {
    if (!isNumber(finding.similarity)) return null;
    const inside = isNumber(finding.inside) ? `, ${share(finding.inside, 0)} of it in the frame` : "";
    return `${finding.similarity.toFixed(2)} of 1 similar${inside}: ${finding.close ? "close to its original" : "far from its original"}`;
}

/* Values are those of pictures, from 0 to 1: not features, nor what is normalised already. */
function inLevels(context: Context): boolean {
    const [low, high] = context.result("attack")?.range ?? [0, 1];
    return !context.report.data?.recordings && low === 0 && high === 1;
}

function details(context: Context, finding: Finding): Page {
    const { pictures } = context;
    const cluster = context.cluster(finding);
    const original = pictures.tile(finding.original, `original, ${context.className(finding.label)}`);
    const failing = pictures.tile(finding.failing, `failing, seen as ${context.className(finding.prediction)}`);
    const difference = pictures.difference(finding.original, finding.failing, "difference, ten times as strong");
    const caption = (title: string, note: Child): HTMLElement => h("figcaption", null, h("b", null, title), h("small", null, note));
    const before = finding.before;
    return {
        title: [h("span", { class: "hidden" }, "Failure: "), said(context, finding)],
        link: `failure-${finding.id}`,
        body: [
            h(
                "div",
                { class: "large-triple" },
                h("figure", null, original, caption("original", before ? `seen as ${context.className(before.prediction)}${isNumber(before.confidence) ? `, ${share(before.confidence)}` : ""}` : null)),
                h("figure", null, failing, caption("failing", `seen as ${context.className(finding.prediction)}${isNumber(finding.confidence) ? `, ${share(finding.confidence)}` : ""}`)),
                h("figure", null, difference, caption(typeof finding.failing === "string" ? "what is new" : "difference ×10", [isNumber(finding.linf) ? `largest ${real(finding.linf)}` : null, isNumber(finding.l2) ? ` L2 ${real(finding.l2)}` : null])),
            ),
            recordings(finding),
            facts([
                ["Made by", context.methodName(finding.method)],
                ["Failure", h("a", { href: `#failure-${encodeURIComponent(finding.id)}` }, `#${finding.id}`)],
                isNumber(finding.index) ? ["Original", `${finding.name ? `${finding.name}, ` : ""}input ${finding.index}`] : null,
                closeness(finding) ? ["How near", closeness(finding)] : null,
                isNumber(finding.linf) ? ["Largest change", `${real(finding.linf)}${inLevels(context) ? ` (${real(finding.linf * 255)} levels of 255)` : ""}`] : null,
                finding.l0 ? ["Values changed", count(finding.l0)] : null,
                isNumber(cluster) ? ["Cluster", clusterLink(context, cluster)] : null,
            ]),
            h("h3", null, "Lineage"),
            h("ol", { class: "lineage" }, lineage(finding).map((step) => stepItem(context, step))),
            h("h3", null, "Replay"),
            copyable(replayed(context, finding), "the command"),
            h("p", { class: "actions" }, pictureButton(finding, [original, failing, difference])),
        ],
    };
}

function clusterLink(context: Context, cluster: number): HTMLElement {
    const button = h("button", { type: "button", class: "link" }, `${cluster}: show its failures`);
    button.addEventListener("click", () => {
        closeDialog();
        context.showCluster(cluster);
    });
    return button;
}

function classOptions(context: Context, items: Finding[], key: "label" | "prediction"): [string, string][] {
    const found = new Map<number, number>();
    for (const item of items) {
        const c = item[key];
        if (isNumber(c)) found.set(c, (found.get(c) ?? 0) + 1);
    }
    const sorted = [...found].sort((a, b) => a[0] - b[0]);
    return [["", "any"], ...sorted.map(([c, n]): [string, string] => [String(c), `${context.className(c)} (${count(n)})`])];
}

/* The stages that make failures: what they tried, what they found, how. */
function methodRows(context: Context): [id: string, found: number, tried: number, settings: string][] {
    const rows: [string, number, number, string][] = [];
    const synthesize: Synthesize | undefined = context.result("synthesize");
    const attack: Attack | undefined = context.result("attack");
    const fuzz: Fuzz | undefined = context.result("fuzz");
    if (synthesize) rows.push(["synthesize", synthesize.faults, synthesize.count, `measure=${synthesize.measure} k=${synthesize.k} step=${brief(synthesize.step)} distance=${brief(synthesize.distance)}, ${synthesize.definition}`]);
    if (attack) rows.push(["attack", attack.faults, attack.count, `method=${attack.method} norm=${attack.norm} eps=${fraction(attack.eps)} steps=${attack.steps}`]);
    if (fuzz) rows.push(["fuzz", fuzz.unique_faults, fuzz.executions, `policy=${fuzz.policy} guide=${fuzz.guide} turns=${fuzz.turns}, ${fuzz.definition}`]);
    return rows;
}

function methodTable(context: Context): Child {
    const rows = methodRows(context);
    if (rows.length === 0) return null;
    return table(
        "Methods",
        ["Method", "Found", "Tried", "Rate", "Settings", "Time"],
        rows.map(([id, found, tried, settings]) => [
            h("span", { title: context.stage(id)?.help ?? null }, context.methodName(id)),
            count(found),
            count(tried),
            tried > 0 ? share(found / tried) : "–",
            h("code", null, settings),
            seconds(context.seconds(id)),
        ]),
    );
}

/* What is said in front of the failures. */
function remarks(context: Context): string[] {
    const heard = context.findings.filter((item) => item.audio).length;
    if (!context.report.data?.recordings) return [];
    return [`${heard} of ${context.findings.length} failures can be heard. Pictures are spectrograms: time to the right, pitch upwards. What attacks and synthesis change are the features themselves: of those there is no recording.`];
}

function none(context: Context): Part {
    const made = methodRows(context).length > 0;
    return { ...absent(context, "findings", "Failures", { id: "findings", state: made ? "done" : "skipped", why: made ? "none was found" : "synthesize, attack and fuzz have no results" }), id: "failures" };
}

export function findingsPart(context: Context): Part {
    const found = context.report.failures;
    if (!found) return none(context);
    const { items } = found;
    const near = context.result("assess")?.close_faults;
    const filter: Filter = { methods: new Set(), label: "", prediction: "", cluster: "", close: false, ids: null, order: items.some((item) => isNumber(item.similarity)) ? "near" : "given" };
    let shown: Finding[] = items;

    const list = new Virtual<Finding>({
        label: "Failures",
        rowHeight: CARD_HEIGHT,
        columnWidth: CARD_WIDTH,
        render: (finding) => card(context, finding),
        open: (index) => context.openFinding(shown, index),
        empty: "No failure fits these filters.",
    });
    const status = h("p", { class: "status", role: "status" });

    function apply(): void {
        shown = items.filter(
            (item) =>
                (filter.methods.size === 0 || filter.methods.has(item.method)) &&
                (filter.label === "" || item.label === Number(filter.label)) &&
                (filter.prediction === "" || item.prediction === Number(filter.prediction)) &&
                (filter.cluster === "" || context.cluster(item) === Number(filter.cluster)) &&
                (!filter.close || item.close === true) &&
                (!filter.ids || filter.ids.has(item.id)),
        );
        const order = ORDERS.find(([id]) => id === filter.order)![2];
        if (filter.order !== "given") shown = [...shown].sort(order);
        list.set(shown);
        replace(status, shown.length === items.length ? `${plural(items.length, "failure")} on this page` : `${count(shown.length)} of ${plural(items.length, "failure")} on this page`);
    }

    /* An address such as report.html#failure-8 opens that failure. */
    const follow = (): void => {
        const wanted = /^#failure-(.+)$/.exec(location.hash)?.[1];
        const index = wanted === undefined ? -1 : items.findIndex((item) => String(item.id) === decodeURIComponent(wanted));
        if (index >= 0) context.openFinding(items, index);
    };
    addEventListener("hashchange", follow);
    queueMicrotask(follow);
    context.openFinding = (opened, index) => openDialog(opened.length, index, (i) => details(context, opened[i]!));

    const used = [...new Set(items.map((item) => item.method))];
    const chips = used.map((id) => {
        const n = items.filter((item) => item.method === id).length;
        const chip = h("button", { type: "button", class: "chip", "aria-pressed": "false" }, context.methodName(id), h("small", null, count(n)));
        chip.addEventListener("click", () => {
            if (!filter.methods.delete(id)) filter.methods.add(id);
            chip.setAttribute("aria-pressed", String(filter.methods.has(id)));
            apply();
        });
        return chip;
    });
    const closeCount = items.filter((item) => item.close).length;
    const closeChip = h("button", { type: "button", class: "chip", "aria-pressed": "false" }, "close to the original", h("small", null, count(closeCount)));
    closeChip.addEventListener("click", () => {
        filter.close = !filter.close;
        closeChip.setAttribute("aria-pressed", String(filter.close));
        apply();
    });
    /* What a failure mode left to show, and the way back to all. */
    const only = h("p", { class: "only", hidden: true });
    context.showFindings = (ids, what) => {
        filter.ids = new Set(ids);
        const all = h("button", { type: "button", class: "link" }, "show all failures");
        all.addEventListener("click", () => {
            filter.ids = null;
            only.hidden = true;
            apply();
        });
        replace(only, `Only ${what}. `, all);
        only.hidden = false;
        apply();
        lead();
    };
    function lead(): void {
        const title = document.getElementById("failures-title")!;
        title.scrollIntoView();
        title.focus({ preventScroll: true });
    }
    const clusters = [...new Set(items.map((item) => context.cluster(item)).filter(isNumber))].sort((a, b) => a - b);
    const clusterBox = select("Cluster", [["", "any"], ...clusters.map((c): [string, string] => [String(c), String(c)])], (value) => {
        filter.cluster = value;
        apply();
    });
    context.showCluster = (cluster) => {
        filter.cluster = String(cluster);
        clusterBox.querySelector("select")!.value = filter.cluster;
        apply();
        lead();
    };
    const known = ORDERS.filter(([id]) => id !== "near" || filter.order === "near");
    const orderBox = select("Order", known.map(([id, text]): [string, string] => [id, text]), (value) => ((filter.order = value), apply()));
    orderBox.querySelector("select")!.value = filter.order;
    const toolbar = h(
        "div",
        { class: "toolbar", role: "group", "aria-label": "Filter failures" },
        used.length > 1 || closeCount > 0 ? h("div", { class: "chips", role: "group", "aria-label": "Method and closeness" }, used.length > 1 ? chips : null, closeCount > 0 ? closeChip : null) : null,
        select("Label", classOptions(context, items, "label"), (value) => ((filter.label = value), apply())),
        select("Seen as", classOptions(context, items, "prediction"), (value) => ((filter.prediction = value), apply())),
        clusters.length > 1 ? clusterBox : null,
        orderBox,
        csvButton("failures.csv", ["id", "method", "label", "prediction", "confidence", "similarity", "inside", "close", "input", "name", "l2", "linf", "changes", "command"], () =>
            shown.map((item) => [item.id, item.method, isNumber(item.label) ? context.className(item.label) : null, context.className(item.prediction), item.confidence, item.similarity, item.inside, item.close === undefined || item.close === null ? null : item.close ? "yes" : "no", item.index, item.name, item.l2, item.linf, lineage(item).slice(1).map((step) => `${step.what}${step.settings ? ` ${step.settings}` : ""}`).join("; "), replayed(context, item)]),
        ),
    );
    apply();
    return {
        id: "failures",
        title: "Failures",
        lead: `${plural(found.total, "input was", "inputs were")} made that the network gets wrong${isNumber(near) ? `, ${count(near)} of them close to their originals` : ""}. Each shows the original, the failing input, and their difference ten times as strong.`,
        body: [
            bullets(remarks(context)),
            methodTable(context),
            [toolbar, only, status, list.element],
            more({ count: found.total - items.length, command: `plexor export ${context.path("campaign")} -o failures` }, "failures"),
        ],
    };
}
