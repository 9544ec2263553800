/* web/src/format.ts - numbers as people read them */
import type { Unit } from "./data";

const NONE = "–";
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

type Maybe = number | null | undefined;

export function isNumber(value: unknown): value is number {
    return typeof value === "number" && Number.isFinite(value);
}

export function count(value: Maybe): string {
    return isNumber(value) ? whole.format(value) : NONE;
}

/* "93.4%"; near the ends one more digit, so that 99.96% is not 100%. */
export function share(value: Maybe, digits = 1): string {
    if (!isNumber(value)) return NONE;
    const percent = value * 100;
    const rounded = percent.toFixed(digits);
    const ends = (Number(rounded) === 100 && value < 1) || (Number(rounded) === 0 && value > 0);
    return `${ends ? percent.toFixed(digits + 2) : rounded}%`;
}

/* Three digits that count. */
export function real(value: Maybe): string {
    if (!isNumber(value)) return NONE;
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    if (size >= 1000) return whole.format(value);
    return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/* "+0.05", "−0.3" */
export function signed(value: Maybe): string {
    if (!isNumber(value)) return NONE;
    const size = Math.abs(value) < 0.0005 ? "0" : Number(Math.abs(value).toFixed(3)).toString();
    return size === "0" ? size : `${value < 0 ? "\u2212" : "+"}${size}`;
}

/* Never broken between lines. */
export function seconds(value: Maybe): string {
    if (!isNumber(value)) return NONE;
    if (value < 0.995) return `${Math.round(value * 1000)}\u00a0ms`;
    if (value < 59.5) return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}\u00a0s`;
    const minutes = Math.floor(Math.round(value) / 60);
    if (minutes >= 60) return `${Math.floor(minutes / 60)}\u00a0h\u00a0${minutes % 60}\u00a0min`;
    return `${minutes}\u00a0min\u00a0${Math.round(value) % 60}\u00a0s`;
}

export function inUnit(value: Maybe, unit: Unit | null | undefined): string {
    switch (unit) {
        case "count":
            return count(value);
        case "real":
            return real(value);
        case "seconds":
            return seconds(value);
        default:
            return share(value);
    }
}

export function large(value: Maybe): string {
    if (!isNumber(value)) return NONE;
    if (value >= 1e9) return `${(value / 1e9).toFixed(1)} G`;
    if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
    if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
    return whole.format(value);
}

export function plural(n: number, one: string, many = `${one}s`): string {
    return `${whole.format(n)} ${n === 1 ? one : many}`;
}

/* "2026-03-01 12:00 UTC"; whatever else it is, as it is. */
export function moment(text: string): string {
    const found = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2}(\.\d+)?)?Z$/.exec(text);
    return found ? `${found[1]} ${found[2]} UTC` : text;
}

/* "1/255", "8/255", "0.1" */
export function fraction(value: number): string {
    const levels = value * 255,
        inverse = 1 / value;
    const whole = (v: number, slack: number): boolean => Math.abs(v - Math.round(v)) < slack;
    if (value > 0 && whole(levels, 1e-4) && levels >= 0.5 && levels < 254.5) return `${Math.round(levels)}/255`;
    if (inverse >= 1.5 && inverse < 1e6 && whole(inverse, 1e-3)) return `1/${Math.round(inverse)}`;
    return brief(value);
}

/* Six digits at most. */
export function brief(value: number): string {
    return String(Number(value.toPrecision(6)));
}
