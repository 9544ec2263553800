/* web/src/virtual.ts - a scrolling box that has elements for the rows in sight only
 *
 * Items stand in rows of one height, one or more in a row. Arrow keys, Home, End and the page keys
 * move among items; one of them is in the tab order at a time.
 */
import { h } from "./dom";

const OVERSCAN = 3; /* rows above and below what is seen */

export interface VirtualOptions<T> {
    label: string;
    rowHeight: number;
    columnWidth?: number; /* at least; without it, one item per row */
    render: (item: T, index: number) => HTMLElement; /* focusable */
    open: (index: number) => void;
    empty: string;
}

export class Virtual<T> {
    readonly element: HTMLElement;
    private readonly space = h("div", { class: "virtual-space" });
    private readonly rows = new Map<number, HTMLElement>();
    private items: readonly T[] = [];
    private columns = 1;
    private active = 0;
    private pending = false;

    constructor(private readonly options: VirtualOptions<T>) {
        this.element = h("div", { class: "virtual", role: "list", "aria-label": options.label }, this.space);
        this.element.addEventListener("scroll", () => this.later(), { passive: true });
        this.element.addEventListener("keydown", (event) => this.onKey(event));
        this.element.addEventListener("click", (event) => {
            const item = (event.target as Element).closest<HTMLElement>("[data-index]");
            if (item) {
                this.active = Number(item.dataset["index"]);
                this.options.open(this.active);
            }
        });
        new ResizeObserver(() => this.layout()).observe(this.element);
    }

    set(items: readonly T[]): void {
        this.items = items;
        this.active = 0;
        this.element.scrollTop = 0;
        this.clear();
        this.layout();
    }

    refresh(): void {
        this.clear();
        this.draw();
    }

    private clear(): void {
        for (const row of this.rows.values()) row.remove();
        this.rows.clear();
    }

    private later(): void {
        if (this.pending) return;
        this.pending = true;
        requestAnimationFrame(() => {
            this.pending = false;
            this.draw();
        });
    }

    private layout(): void {
        const width = this.element.clientWidth;
        if (width === 0) return;
        const wanted = this.options.columnWidth ? Math.max(1, Math.floor(width / this.options.columnWidth)) : 1;
        if (wanted !== this.columns) {
            this.columns = wanted;
            this.clear();
        }
        this.space.style.height = `${this.rowCount() * this.options.rowHeight}px`;
        this.space.classList.toggle("nothing", this.items.length === 0);
        this.space.dataset["empty"] = this.options.empty;
        this.draw();
    }

    private rowCount(): number {
        return Math.ceil(this.items.length / this.columns);
    }

    private draw(): void {
        const { rowHeight } = this.options;
        const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - OVERSCAN);
        const seen = Math.ceil(this.element.clientHeight / rowHeight);
        const last = Math.min(this.rowCount() - 1, Math.floor(this.element.scrollTop / rowHeight) + seen + OVERSCAN);
        for (const [index, row] of this.rows)
            if ((index < first || index > last) && !row.contains(document.activeElement)) {
                row.remove();
                this.rows.delete(index);
            }
        for (let index = first; index <= last; index++)
            if (!this.rows.has(index)) this.rows.set(index, this.space.appendChild(this.makeRow(index)));
    }

    private makeRow(rowIndex: number): HTMLElement {
        const row = h("div", { class: "virtual-row", role: "presentation" });
        row.style.top = `${rowIndex * this.options.rowHeight}px`;
        row.style.height = `${this.options.rowHeight}px`;
        row.style.gridTemplateColumns = `repeat(${this.columns}, minmax(0, 1fr))`;
        const begin = rowIndex * this.columns;
        for (let i = begin; i < Math.min(begin + this.columns, this.items.length); i++) {
            const item = this.options.render(this.items[i]!, i);
            item.dataset["index"] = String(i);
            item.tabIndex = i === this.active ? 0 : -1;
            row.appendChild(
                h("div", { role: "listitem", "aria-setsize": this.items.length, "aria-posinset": i + 1 }, item),
            );
        }
        return row;
    }

    /* Brings an item into sight and gives it the focus. */
    focus(index: number): void {
        if (this.items.length === 0) return;
        const { rowHeight } = this.options;
        const before = this.find(this.active);
        if (before) before.tabIndex = -1;
        this.active = Math.min(Math.max(index, 0), this.items.length - 1);
        const top = Math.floor(this.active / this.columns) * rowHeight;
        if (top < this.element.scrollTop) this.element.scrollTop = top;
        else if (top + rowHeight > this.element.scrollTop + this.element.clientHeight)
            this.element.scrollTop = top + rowHeight - this.element.clientHeight;
        this.draw();
        const now = this.find(this.active);
        if (now) {
            now.tabIndex = 0;
            now.focus({ preventScroll: true });
        }
    }

    private find(index: number): HTMLElement | null {
        return this.space.querySelector<HTMLElement>(`[data-index="${index}"]`);
    }

    private onKey(event: KeyboardEvent): void {
        const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight)) * this.columns;
        const steps: Record<string, number> = {
            ArrowRight: 1,
            ArrowLeft: -1,
            ArrowDown: this.columns,
            ArrowUp: -this.columns,
            PageDown: page,
            PageUp: -page,
            Home: -this.items.length,
            End: this.items.length,
        };
        const step = steps[event.key];
        if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.focus(this.active + step);
    }
}
