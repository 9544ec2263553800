/* web/src/layer_map.ts - every neuron a cell, layer after layer, coloured by a value
 *
 * Suspiciousness is drawn as its distance from the score of a neuron that is always active, which says
 * nothing: above it red, below it blue. Neurons that say nothing themselves are hatched.
 */
import type { NeuronLayer } from "./data";
import { h, replace } from "./dom";
import { count, isNumber, plural, real, signed } from "./format";
import { colour, css, onTheme, ramp } from "./theme";

const CELLS_LARGE = 3000; /* neurons from which cells are small */

interface Strip {
    layer: number;
    values: (number | null)[];
    canvas: HTMLCanvasElement;
    columns: number;
}

const WHY: Record<string, string> = {
    a: "active on (almost) all inputs: says nothing",
    n: "active on (almost) no input: says nothing",
    f: "active on too few inputs to say anything",
};

/* What is known of all neurons together. */
export interface MapScale {
    baseline: number | null; /* of the suspiciousness; null: it has none */
    short: (layer: number) => string;
}

/* `open` is called with a neuron's layer and unit. */
export function layerMap(layers: NeuronLayer[], about: MapScale, title: string, open: (layer: number, unit: number) => void): HTMLElement {
    const total = layers.reduce((sum, layer) => sum + layer.units, 0);
    const cell = total > CELLS_LARGE ? 6 : 12;
    const told = h("p", { class: "told", role: "status" });
    const scale = h("span", { class: "scale", "aria-hidden": "true" });
    const ends = [h("small"), h("small")];
    const key = h("small", { class: "key" });
    const box = h("div", { class: "layer-map" });
    let low = 0,
        high = 1;
    let cursor: [number, number] | null = null;
    const diverging = about.baseline !== null;
    const activity = (strip: Strip, unit: number): string => layers[strip.layer]!.activity?.[unit] ?? "s";

    const strips: Strip[] = layers.map((layer, index) => {
        const canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map of neurons" });
        canvas.setAttribute("aria-label", `${layer.name}: ${plural(layer.units, "neuron")}. Arrow keys move, Enter opens`);
        const strip: Strip = { layer: index, values: [], canvas, columns: 1 };
        canvas.addEventListener("pointermove", (event) => move(strip, at(strip, event)));
        canvas.addEventListener("pointerleave", () => move(strip, -1));
        canvas.addEventListener("click", (event) => {
            const unit = at(strip, event);
            if (unit >= 0) open(index, unit);
        });
        canvas.addEventListener("keydown", (event) => onKey(strip, event));
        canvas.addEventListener("focus", () => move(strip, Math.max(0, cursor?.[0] === index ? cursor[1] : 0)));
        canvas.addEventListener("blur", () => move(strip, -1));
        box.appendChild(
            h("div", { class: "layer" }, h("span", { class: "layer-name", title: layer.name }, about.short(index), h("small", null, [layer.kind, layer.shape ?? plural(layer.units, "unit")].filter(Boolean).join(", "))), canvas),
        );
        return strip;
    });

    function at(strip: Strip, event: MouseEvent): number {
        const box = strip.canvas.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left) / cell),
            row = Math.floor((event.clientY - box.top) / cell);
        const unit = row * strip.columns + column;
        return column >= 0 && column < strip.columns && row >= 0 && unit < strip.values.length ? unit : -1;
    }

    function move(strip: Strip, unit: number): void {
        const before = cursor;
        cursor = unit >= 0 ? [strip.layer, unit] : null;
        if (before && (before[0] !== strip.layer || before[1] !== unit)) draw(strips[before[0]]!);
        if (cursor) {
            draw(strip);
            const value = strip.values[unit];
            const known = isNumber(value) ? `${real(value)}${diverging ? `, ${signed(value - about.baseline!)} to one that is always active` : ""}` : "unknown";
            replace(told, h("code", { title: `${layers[strip.layer]!.name}:${unit}` }, `${about.short(strip.layer)} #${unit}`), ` ${WHY[activity(strip, unit)] ?? `${title.toLowerCase()} ${known}`}`);
        }
    }

    function onKey(strip: Strip, event: KeyboardEvent): void {
        const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -strip.columns, ArrowDown: strip.columns };
        const unit = cursor ? cursor[1] : 0;
        const step = steps[event.key];
        if (event.key === "Enter" || event.key === " ") open(strip.layer, unit);
        else if (step === undefined) return;
        else if (unit + step >= 0 && unit + step < strip.values.length) move(strip, unit + step);
        event.preventDefault();
    }

    function draw(strip: Strip): void {
        const { canvas, values } = strip;
        const room = canvas.parentElement!.clientWidth - (canvas.offsetLeft - canvas.parentElement!.offsetLeft);
        if (room <= 0) return;
        strip.columns = Math.max(1, Math.min(values.length, Math.floor(room / cell)));
        const rows = Math.ceil(values.length / strip.columns);
        const dense = window.devicePixelRatio || 1;
        const width = strip.columns * cell,
            height = rows * cell;
        if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
            canvas.width = Math.round(width * dense);
            canvas.height = Math.round(height * dense);
            canvas.style.width = `${width}px`;
            canvas.style.height = `${height}px`;
        }
        const drawing = canvas.getContext("2d")!;
        drawing.setTransform(dense, 0, 0, dense, 0, 0);
        drawing.clearRect(0, 0, width, height);
        const gap = cell > 8 ? 1.5 : 1;
        const hatched = hatch(drawing);
        values.forEach((value, unit) => {
            const x = (unit % strip.columns) * cell,
                y = Math.floor(unit / strip.columns) * cell;
            if (WHY[activity(strip, unit)]) {
                drawing.fillStyle = hatched;
                drawing.fillRect(x, y, cell - gap, cell - gap);
                return;
            }
            drawing.fillStyle = isNumber(value) ? css(tint(value)) : colour("line");
            drawing.fillRect(x, y, cell - gap, cell - gap);
        });
        if (cursor?.[0] === strip.layer) {
            const unit = cursor[1];
            drawing.strokeStyle = colour("ink");
            drawing.lineWidth = 1.5;
            drawing.strokeRect((unit % strip.columns) * cell - 0.25, Math.floor(unit / strip.columns) * cell - 0.25, cell - gap + 0.5, cell - gap + 0.5);
        }
    }

    /* Each side of the baseline has its own full range: few neurons are above it, and they are what one looks for. */
    function tint(value: number): ReturnType<typeof ramp> {
        if (!diverging) return ramp("heat", high > low ? (value - low) / (high - low) : 0);
        const gap = value - about.baseline!;
        return ramp("diverging", 0.5 + (0.5 * gap) / (gap < 0 ? about.baseline! - low : high - about.baseline!));
    }

    /* Grey lines, so that it is no colour of the scale. */
    function hatch(drawing: CanvasRenderingContext2D): CanvasPattern | string {
        const tile = h("canvas", { width: 4, height: 4 });
        const lines = tile.getContext("2d");
        if (!lines) return colour("line");
        lines.fillStyle = colour("raised");
        lines.fillRect(0, 0, 4, 4);
        lines.fillStyle = colour("line");
        for (let i = 0; i < 4; i++) lines.fillRect(i, 3 - i, 1, 1);
        return drawing.createPattern(tile, "repeat") ?? colour("line");
    }

    function drawAll(): void {
        const shown = diverging ? "diverging" : "heat";
        scale.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((v) => css(ramp(shown, v))).join(", ")})`;
        for (const strip of strips) draw(strip);
    }

    function start(): void {
        let least = Infinity,
            most = -Infinity;
        layers.forEach((layer, i) => {
            const given = layer.suspiciousness;
            strips[i]!.values = given ? given.slice(0, layer.units) : new Array<null>(layer.units).fill(null);
            for (const v of strips[i]!.values)
                if (isNumber(v)) {
                    least = Math.min(least, v);
                    most = Math.max(most, v);
                }
        });
        [low, high] = most >= least ? [Math.min(least, 0), most] : [0, 1];
        if (diverging) [low, high] = [Math.min(least, about.baseline! - 1e-6), Math.max(most, about.baseline! + 1e-6)];
        replace(ends[0]!, diverging ? signed(low - about.baseline!) : real(low));
        replace(ends[1]!, diverging ? signed(high - about.baseline!) : real(high));
        const silent = layers.reduce((sum, layer) => sum + [...(layer.activity ?? "")].filter((letter) => WHY[letter]).length, 0);
        replace(key, diverging ? [h("span", { class: "swatch hatch", "aria-hidden": "true" }), `says nothing (${count(silent)})`] : null);
        replace(told, "Point at a cell, or move with the arrow keys.");
        drawAll();
    }

    let width = 0;
    new ResizeObserver(() => {
        if (box.clientWidth !== width) {
            width = box.clientWidth;
            drawAll();
        }
    }).observe(box);
    start();
    onTheme(drawAll);
    return h("div", null, h("div", { class: "map-head" }, h("span", { class: "scale-box" }, ends[0], scale, ends[1], key), told), box);
}
