/* web/src/chart.ts - lines (uPlot), with a table of the same numbers for those who do not see them */
import uPlot from "uplot";

import type { Curve, Series, Unit } from "./data";
import { h, replace } from "./dom";
import { count, inUnit, real } from "./format";
import { colour, onTheme } from "./theme";

const TABLE_ROWS = 12;
const HEIGHT = 260;
const LOG_SPAN = 200; /* of x, from which on it is logarithmic */

interface Look {
    stroke: string;
    width: number;
    dash?: number[];
}

function look(series: Series): Look {
    return series.role === "main" ? { stroke: colour("accent"), width: 2.5 } : { stroke: colour("muted"), width: 1.5, dash: [5, 4] };
}

function tick(value: number, unit: Unit | null | undefined): string {
    if (unit === "share" || !unit) return `${Number((value * 100).toFixed(1))}%`;
    return unit === "count" ? count(value) : real(value);
}

function swatch(style: Look): HTMLElement {
    const line = h("span", { class: "swatch", "aria-hidden": "true" });
    line.style.borderTopColor = style.stroke;
    line.style.borderTopStyle = style.dash ? "dashed" : "solid";
    return line;
}

/* In words: where each line begins and ends. */
function told(curve: Curve): string {
    const ends = curve.series.map((series) => {
        const known = series.y.filter((y) => y !== null);
        if (known.length === 0) return `${series.name} has no values`;
        return `${series.name} from ${inUnit(known[0], curve.y_unit)} to ${inUnit(known[known.length - 1], curve.y_unit)}`;
    });
    return `${curve.y_title} against ${curve.x_title}: ${ends.join("; ")}`;
}

function asTable(curve: Curve): HTMLElement {
    const step = Math.max(1, Math.ceil(curve.x.length / TABLE_ROWS));
    const rows = curve.x.map((_, i) => i).filter((i) => i % step === 0 || i === curve.x.length - 1);
    return h(
        "details",
        { class: "numbers" },
        h("summary", null, "Numbers"),
        h(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": `${curve.y_title} as numbers` },
            h(
                "table",
                null,
                h("thead", null, h("tr", null, h("th", { scope: "col" }, curve.x_title), curve.series.map((s) => h("th", { scope: "col" }, s.name)))),
                h(
                    "tbody",
                    null,
                    rows.map((i) =>
                        h("tr", null, h("th", { scope: "row" }, count(curve.x[i])), curve.series.map((s) => h("td", null, inUnit(s.y[i], curve.y_unit)))),
                    ),
                ),
            ),
        ),
    );
}

export function lineChart(curve: Curve): HTMLElement {
    const box = h("div", { class: "plot", role: "img", "aria-label": told(curve) });
    const legend = h("ul", { class: "legend" });
    let plot: uPlot | null = null;

    const values: HTMLElement[] = [];
    function showValues(at: number | null | undefined): void {
        curve.series.forEach((series, i) => {
            const y = at === null || at === undefined ? null : series.y[at];
            replace(values[i]!, y === null || y === undefined ? "" : inUnit(y, curve.y_unit));
        });
    }

    function draw(): void {
        plot?.destroy();
        const looks = curve.series.map(look);
        replace(legend, curve.series.map((series, i) => h("li", null, swatch(looks[i]!), series.name, (values[i] = h("b")))));
        if (box.clientWidth === 0) return;
        const data: (number | null)[][] = [curve.x, ...curve.series.map((series) => series.y)];
        const lines: uPlot.Series[] = [{}, ...looks.map((style) => ({ ...style, points: { show: curve.x.length < 16, size: 5 } }))];
        const isLog = curve.x.length > 2 && curve.x[0]! > 0 && curve.x[curve.x.length - 1]! / curve.x[0]! >= LOG_SPAN;
        const axis = {
            stroke: colour("muted"),
            grid: { stroke: colour("line"), width: 1 },
            ticks: { stroke: colour("line"), width: 1, size: 4 },
            font: "12px system-ui, sans-serif",
            labelFont: "12px system-ui, sans-serif",
            labelSize: 20,
            labelGap: 2,
        };
        plot = new uPlot(
            {
                width: box.clientWidth,
                height: HEIGHT,
                series: lines,
                scales: {
                    x: { time: false, ...(isLog ? { distr: 3, log: 10 } : {}) },
                    y: { range: (_u, low, high) => [low > 0 && low < high * 0.5 ? 0 : Math.min(low, high - 1e-9), high + (high - low || Math.abs(high) || 1) * 0.04] },
                },
                axes: [
                    { ...axis, label: curve.x_title, size: 34, values: (_u, ticks) => ticks.map((v) => (v === null || (isLog && !/^10*$/.test(String(v))) ? "" : count(v))) },
                    { ...axis, label: curve.y_title, size: 56, values: (_u, ticks) => ticks.map((v) => tick(v, curve.y_unit)) },
                ],
                legend: { show: false },
                cursor: { y: false, drag: { x: false, y: false } },
                hooks: { setCursor: [(u) => showValues(u.cursor.idx)] },
            },
            data as uPlot.AlignedData,
            box,
        );
    }

    let width = 0;
    new ResizeObserver(() => {
        if (box.clientWidth === width) return;
        width = box.clientWidth;
        if (plot) plot.setSize({ width, height: HEIGHT });
        else draw();
    }).observe(box);
    onTheme(draw);
    return h("figure", { class: "chart" }, box, legend, asTable(curve));
}
