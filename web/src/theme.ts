/* web/src/theme.ts - light and dark: the reader's system decides, a button overrides */
import { h, replace } from "./dom";

type Theme = "light" | "dark";

const KEY = "plexor-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];

function stored(): Theme | null {
    try {
        const value = localStorage.getItem(KEY);
        return value === "light" || value === "dark" ? value : null;
    } catch {
        return null; /* storage is not there for every file:// page */
    }
}

let chosen = stored();

export function isDark(): boolean {
    return chosen ? chosen === "dark" : system.matches;
}

function apply(): void {
    document.documentElement.dataset["theme"] = isDark() ? "dark" : "light";
    for (const listener of listeners) listener();
}

/* Called now and whenever colours change. */
export function onTheme(draw: () => void): void {
    listeners.push(draw);
    draw();
}

export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function themeButton(): HTMLElement {
    const button = h("button", { class: "quiet", type: "button" });
    button.addEventListener("click", () => {
        chosen = isDark() ? "light" : "dark";
        try {
            localStorage.setItem(KEY, chosen);
        } catch {
            /* then for this visit only */
        }
        apply();
    });
    onTheme(() => {
        replace(button, isDark() ? "Light" : "Dark");
        button.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`);
    });
    return button;
}

export function startTheme(): void {
    system.addEventListener("change", apply);
    apply();
}

/* --- colours of values 0-1 --- */

type Rgb = readonly [number, number, number];

type Ramp = "heat" | "accent" | "diverging";

const RAMPS: Record<Ramp, Record<Theme, readonly Rgb[]>> = {
    /* Blue below the middle, red above it; told apart by most people (after Brewer's RdBu). */
    diverging: {
        light: [[33, 102, 172], [146, 197, 222], [240, 241, 241], [244, 165, 130], [178, 24, 43]],
        dark: [[110, 180, 240], [52, 96, 136], [44, 50, 56], [150, 78, 54], [255, 150, 110]],
    },
    heat: {
        light: [[236, 239, 240], [252, 214, 150], [236, 124, 64], [150, 24, 36]],
        dark: [[42, 48, 54], [112, 62, 44], [224, 116, 58], [255, 226, 160]],
    },
    accent: {
        light: [[243, 245, 245], [166, 212, 214], [11, 110, 117]],
        dark: [[36, 42, 47], [28, 96, 102], [96, 208, 213]],
    },
};

export function ramp(name: Ramp, value: number): Rgb {
    const stops = RAMPS[name][isDark() ? "dark" : "light"];
    const at = Math.min(Math.max(value, 0), 1) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const mix = (c: 0 | 1 | 2): number => Math.round(stops[low]![c] + (at - low) * (stops[low + 1]![c] - stops[low]![c]));
    return [mix(0), mix(1), mix(2)];
}

export function css([r, g, b]: Rgb): string {
    return `rgb(${r}, ${g}, ${b})`;
}

/* Black or white, whichever is easier to read on it: their contrasts (WCAG 2) are equal at 0.179. */
export function inkOn([r, g, b]: Rgb): string {
    const linear = (v: number): number => (v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    return luminance > 0.179 ? "#000" : "#fff";
}

/* Colours of clusters: Okabe and Ito's, told apart by most people; then they repeat. */
const KINDS: Record<Theme, readonly string[]> = {
    light: ["#0072b2", "#d55e00", "#007a5a", "#b0468c", "#8a6d00", "#2f8fc4", "#5b5f66", "#7a3e9d"],
    dark: ["#56b4e9", "#ff9440", "#3ccf9f", "#e58fc4", "#e8cf45", "#8fd0f5", "#b6bcc4", "#c39be6"],
};

export function kindColour(index: number): string {
    const kinds = KINDS[isDark() ? "dark" : "light"];
    return kinds[((index % kinds.length) + kinds.length) % kinds.length]!;
}
