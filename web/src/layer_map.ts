/* web/src/layer_map.ts - every neuron a cell, layer after layer, coloured by a value */
import type { NeuronLayer } from "./data";
import { h, replace } from "./dom";
import { isNumber, plural, real } from "./format";
import { colour, css, onTheme, ramp } from "./theme";

export type MapValue = "suspiciousness" | "sensitivity";

const CELLS_LARGE = 3000; /* neurons from which cells are small */

interface Strip {
    layer: number;
    values: (number | null)[];
    canvas: HTMLCanvasElement;
    columns: number;
}

export interface LayerMap {
    element: HTMLElement;
    show: (value: MapValue) => void;
}

/* `open` is called with a neuron's layer and unit. */
export function layerMap(layers: NeuronLayer[], title: (value: MapValue) => string, open: (layer: number, unit: number) => void): LayerMap {
    const total = layers.reduce((sum, layer) => sum + layer.units, 0);
    const cell = total > CELLS_LARGE ? 6 : 12;
    const told = h("p", { class: "told", role: "status" });
    const scale = h("span", { class: "scale", "aria-hidden": "true" });
    const ends = [h("small"), h("small")];
    const box = h("div", { class: "layer-map" });
    let kind: MapValue = "suspiciousness";
    let low = 0,
        high = 1;
    let cursor: [number, number] | null = null;

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
            h("div", { class: "layer" }, h("span", { class: "layer-name", title: layer.name }, layer.name, h("small", null, [layer.kind, layer.shape ?? plural(layer.units, "unit")].filter(Boolean).join(", "))), canvas),
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
            replace(told, h("code", null, `${layers[strip.layer]!.name}:${unit}`), ` ${title(kind).toLowerCase()} ${isNumber(value) ? real(value) : "unknown"}`);
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
        values.forEach((value, unit) => {
            const x = (unit % strip.columns) * cell,
                y = Math.floor(unit / strip.columns) * cell;
            drawing.fillStyle = isNumber(value) ? css(ramp("heat", high > low ? (value - low) / (high - low) : 0)) : colour("line");
            drawing.fillRect(x, y, cell - gap, cell - gap);
        });
        if (cursor?.[0] === strip.layer) {
            const unit = cursor[1];
            drawing.strokeStyle = colour("ink");
            drawing.lineWidth = 1.5;
            drawing.strokeRect((unit % strip.columns) * cell - 0.25, Math.floor(unit / strip.columns) * cell - 0.25, cell - gap + 0.5, cell - gap + 0.5);
        }
    }

    function drawAll(): void {
        scale.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((v) => css(ramp("heat", v))).join(", ")})`;
        for (const strip of strips) draw(strip);
    }

    function show(value: MapValue): void {
        kind = value;
        let least = Infinity,
            most = -Infinity;
        layers.forEach((layer, i) => {
            const given = layer[value];
            strips[i]!.values = given ? given.slice(0, layer.units) : new Array<null>(layer.units).fill(null);
            for (const v of strips[i]!.values)
                if (isNumber(v)) {
                    least = Math.min(least, v);
                    most = Math.max(most, v);
                }
        });
        [low, high] = most >= least ? [Math.min(least, 0), most] : [0, 1];
        replace(ends[0]!, real(low));
        replace(ends[1]!, real(high));
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
    show(kind);
    onTheme(drawAll);
    return { element: h("div", null, h("div", { class: "map-head" }, h("span", { class: "scale-box" }, ends[0], scale, ends[1]), told), box), show };
}
