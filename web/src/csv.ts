/* web/src/csv.ts - what is shown as a file: a table as CSV, a picture as PNG */
import { h } from "./dom";

export type Cell = string | number | null | undefined;

/* A text that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers. */
function field(value: Cell): string {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csv(head: string[], rows: Cell[][]): string {
    return [head, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/* The file is made when it is asked for. */
export function download(label: string, name: string, make: () => string): HTMLElement {
    const button = h("button", { type: "button", class: "quiet small" }, label);
    button.addEventListener("click", () => {
        const link = h("a", { href: make(), download: name });
        document.body.appendChild(link);
        link.click();
        link.remove();
    });
    return button;
}

export function csvButton(name: string, head: string[], rows: () => Cell[][]): HTMLElement {
    return download("CSV", name, () => `data:text/csv;charset=utf-8,${encodeURIComponent(csv(head, rows()))}`);
}
