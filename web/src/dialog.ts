/* web/src/dialog.ts - details of one thing, with its neighbours in the list it was opened from */
import { h, icon, replace, type Child } from "./dom";

export interface Page {
    title: Child;
    body: Child;
    link?: string; /* the fragment under which it is found again: "failure-8" */
}

const title = h("h2", { id: "details-title", tabindex: -1 });
const place = h("span", { class: "place" });
const back = h("button", { type: "button", class: "quiet", "aria-label": "Previous" }, icon("back"));
const next = h("button", { type: "button", class: "quiet", "aria-label": "Next" }, icon("next"));
const close = h("button", { type: "button", class: "quiet", "aria-label": "Close" }, icon("close"));
const body = h("div", { class: "dialog-body" });
const dialog = h(
    "dialog",
    { "aria-labelledby": "details-title" },
    h("div", { class: "dialog-head" }, title, place, back, next, close),
    body,
);

let show: (index: number) => Page;
let index = 0,
    length = 0;
let linked = ""; /* the address's fragment, where it names what is open */

/* Pages from a disk may not be allowed to touch their address; then there is none to copy. */
function address(fragment: string): void {
    try {
        history.replaceState(null, "", fragment ? `#${fragment}` : location.href.split("#")[0]!);
    } catch {
        /* as it is */
    }
}

function draw(): void {
    const page = show(index);
    replace(title, page.title);
    replace(place, length > 1 ? `${index + 1} of ${length.toLocaleString("en-US")}` : "");
    back.hidden = next.hidden = length < 2;
    back.disabled = index === 0;
    next.disabled = index === length - 1;
    replace(body, page.body);
    body.scrollTop = 0;
    if (page.link || linked) address(page.link ?? "");
    linked = page.link ? location.hash : "";
}

function step(by: number): void {
    if (index + by < 0 || index + by >= length) return;
    index += by;
    draw();
}

export function openDialog(count: number, at: number, page: (index: number) => Page): void {
    show = page;
    index = at;
    length = count;
    draw();
    if (!dialog.open) dialog.showModal();
    title.focus();
}

export function closeDialog(): void {
    dialog.close();
}

export function startDialog(parent: Element): void {
    parent.appendChild(dialog);
    back.addEventListener("click", () => step(-1));
    next.addEventListener("click", () => step(1));
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
        if (dialog.open) return; /* again, before this event came */
        replace(body); /* what plays falls silent */
        if (linked && location.hash === linked) address(""); /* not where it leads to another one by now */
        linked = "";
    });
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog) dialog.close(); /* the ground around it */
    });
    dialog.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        if (event.key === "ArrowLeft") step(-1);
        else if (event.key === "ArrowRight") step(1);
    });
}
