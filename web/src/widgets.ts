/* web/src/widgets.ts - small things that several parts use */
import type { More, Stage } from "./data";
import { h, icon, replace, type Child } from "./dom";
import { count, isNumber, share } from "./format";
import type { Context } from "./context";

export interface Part {
    id: string;
    title: string;
    lead?: Child; /* what the part answers, in a sentence */
    body: Child;
    missing?: boolean;
}

export function section(part: Part): HTMLElement {
    return h(
        "section",
        { id: part.id, class: part.missing ? "missing-part" : null, "aria-labelledby": `${part.id}-title` },
        h("h2", { id: `${part.id}-title`, tabindex: -1 }, part.title),
        part.lead ? h("p", { class: "lead" }, part.lead) : null,
        part.body,
    );
}

export function statusWord(context: Context, stage: Stage): string {
    if (stage.state === "left out" || stage.state === "skipped") return "skipped";
    return context.reason(stage.id) ? "cut short" : "done";
}

/* In place of a part whose stage has no result. */
export function absent(context: Context, id: string, title: string, stage = context.stage(id)): Part {
    const unlabelled = context.report.data?.labelled === false;
    const skipped = stage && statusWord(context, stage) === "skipped";
    const why = (stage && (context.reason(stage.id) ?? stage.why)) ?? (stage ? "It has no results to show." : unlabelled ? "The data set has no labels." : "It was not part of this run.");
    return { id, title, missing: true, body: h("p", { class: "notice" }, h("b", null, skipped ? "This stage was skipped. " : "Nothing to show. "), why) };
}

export function list(texts: string[]): Child {
    return texts.length === 0 ? null : h("ul", { class: "notes" }, texts.map((text) => h("li", null, text)));
}

export function more(rest: More | null | undefined, what: string): Child {
    if (!rest || rest.count <= 0) return null;
    const said = `${count(rest.count)} more ${what} not on this page`;
    if (rest.command) return h("div", { class: "more" }, h("p", null, `${said}:`), copyable(rest.command, `the command for more ${what}`));
    return h("p", { class: "more" }, said, rest.where ? [": ", h("code", null, rest.where)] : null, ".");
}

/* A bar from 0 to 1, with a mark where the baseline is. */
export function bar(value: number | null | undefined, baseline?: number | null, kind = ""): HTMLElement {
    const track = h("span", { class: `bar ${kind}`, "aria-hidden": "true" });
    if (isNumber(value)) {
        const inner = h("span");
        inner.style.width = `${Math.min(Math.max(value, 0), 1) * 100}%`;
        track.appendChild(inner);
    }
    if (isNumber(baseline)) {
        const mark = h("i", { title: `random inputs: ${share(baseline)}` });
        mark.style.left = `${Math.min(Math.max(baseline, 0), 1) * 100}%`;
        track.appendChild(mark);
    }
    return track;
}

export function arrow(): HTMLElement {
    return h("span", { class: "becomes" }, icon("arrow"), h("span", { class: "hidden" }, "seen as"));
}

/* A command or hash that can be copied. */
export function copyable(text: string, label: string): HTMLElement {
    const code = h("code", null, text);
    const button = h("button", { type: "button", class: "quiet small", "aria-label": `Copy ${label}` }, "Copy");
    const said = (word: string): void => {
        replace(button, word);
        setTimeout(() => replace(button, "Copy"), 1500);
    };
    button.addEventListener("click", () => {
        const select = (): void => {
            const range = document.createRange();
            range.selectNodeContents(code);
            getSelection()?.removeAllRanges();
            getSelection()?.addRange(range);
            said("Selected");
        };
        if (!navigator.clipboard) select();
        else navigator.clipboard.writeText(text).then(() => said("Copied"), select);
    });
    return h("div", { class: "command" }, code, button);
}

export function facts(rows: ([string, Child] | null)[]): HTMLElement {
    return h("dl", { class: "facts" }, rows.map((row) => row && h("div", null, h("dt", null, row[0]), h("dd", null, row[1]))));
}

/* Columns of which no cell is known are left out. */
export function table(label: string, allHead: Child[], allRows: Child[][], className = ""): HTMLElement {
    const kept = allHead.map((title, i) => title === "" || allRows.some((row) => row[i] !== "–" && row[i] !== null && row[i] !== undefined));
    const head = allHead.filter((_, i) => kept[i]);
    const rows = allRows.map((row) => row.filter((_, i) => kept[i]));
    return h(
        "div",
        { class: `scroll ${className}`, tabindex: 0, role: "region", "aria-label": label },
        h(
            "table",
            null,
            h("thead", null, h("tr", null, head.map((cell) => h("th", { scope: "col" }, cell)))),
            h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", null, cell)))))),
        ),
    );
}

/* A group of buttons of which one is pressed. */
export function choice<T extends string>(label: string, options: [T, string][], start: T, choose: (value: T) => void): HTMLElement {
    const buttons = options.map(([value, text]) =>
        h("button", { type: "button", "aria-pressed": String(value === start), "data-value": value }, text),
    );
    const group = h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
    group.addEventListener("click", (event) => {
        const pressed = (event.target as Element).closest("button");
        if (!pressed) return;
        for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
        choose(pressed.dataset["value"] as T);
    });
    return group;
}

export function select(label: string, options: [string, string][], change: (value: string) => void): HTMLLabelElement {
    const box = h("select", null, options.map(([value, text]) => h("option", { value }, text)));
    box.addEventListener("change", () => change(box.value));
    return h("label", { class: "select" }, h("span", null, label), box);
}
