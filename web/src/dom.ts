/* web/src/dom.ts - elements from data; a text only ever becomes a text node or an attribute's value */

export type Child = Node | string | number | null | undefined | false | Child[];

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function fill(parent: Node, children: Child[]): void {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        if (Array.isArray(child)) fill(parent, child);
        else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/* Attributes: `on...` with a function listens; false, null and undefined are left out, true is empty. */
function dress(element: Element, attributes: Attributes | null | undefined): void {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
}

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes?: Attributes | null,
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    dress(element, attributes);
    fill(element, children);
    return element;
}

export function svg(tag: string, attributes?: Attributes | null, ...children: Child[]): SVGElement {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    dress(element, attributes);
    fill(element, children);
    return element;
}

export function replace(parent: Element, ...children: Child[]): void {
    parent.textContent = "";
    fill(parent, children);
}

let serial = 0;
export function freshId(stem: string): string {
    return `${stem}-${++serial}`;
}

/* Icons, drawn with the colour of the text. */
const ICONS: Record<string, string> = {
    pass: "M4 12.5l5 5L20 6.5",
    fail: "M6 6l12 12M18 6L6 18",
    none: "M5 12h14",
    next: "M9 5l7 7-7 7",
    back: "M15 5l-7 7 7 7",
    close: "M6 6l12 12M18 6L6 18",
    arrow: "M4 12h15M13 6l6 6-6 6",
    warn: "M12 4v10M12 18.5v.5",
};

export function icon(name: keyof typeof ICONS | string): SVGElement {
    return svg(
        "svg",
        { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
        svg("path", { d: ICONS[name] ?? "" }),
    );
}
