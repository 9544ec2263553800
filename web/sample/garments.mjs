/* web/sample/garments.mjs - small grey pictures of clothes, drawn from a seed: no data set is needed */

export const SIDE = 28;

export const CLASSES = ["T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"];

/* Mulberry32: small, and the same everywhere. */
export function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const SLEEVES = (length) => [
    [0.36, 0.1], [0.64, 0.1], [0.8, 0.18], [0.8 + 0.16 * length, 0.22 + 0.62 * length], [0.86 - 0.04 * length, 0.26 + 0.62 * length],
    [0.72, 0.38], [0.72, 0.92], [0.28, 0.92], [0.28, 0.38], [0.14 + 0.04 * length, 0.26 + 0.62 * length], [0.2 - 0.16 * length, 0.22 + 0.62 * length], [0.2, 0.18],
];

const OUTLINES = [
    SLEEVES(0.25),
    [[0.33, 0.05], [0.67, 0.05], [0.72, 0.95], [0.55, 0.95], [0.5, 0.32], [0.45, 0.95], [0.28, 0.95]],
    SLEEVES(0.95),
    [[0.4, 0.05], [0.6, 0.05], [0.62, 0.38], [0.74, 0.95], [0.26, 0.95], [0.38, 0.38]],
    SLEEVES(0.9).map(([x, y]) => [x, y * 1.04]),
    [[0.04, 0.68], [0.3, 0.48], [0.42, 0.56], [0.62, 0.4], [0.7, 0.46], [0.92, 0.62], [0.95, 0.74], [0.5, 0.74], [0.04, 0.8]],
    SLEEVES(0.8).map(([x, y]) => [0.5 + (x - 0.5) * 0.94, y]),
    [[0.04, 0.5], [0.28, 0.46], [0.5, 0.56], [0.92, 0.66], [0.96, 0.78], [0.04, 0.78]],
    [[0.12, 0.4], [0.3, 0.38], [0.36, 0.2], [0.64, 0.2], [0.7, 0.38], [0.88, 0.4], [0.92, 0.86], [0.08, 0.86]],
    [[0.16, 0.14], [0.46, 0.14], [0.48, 0.5], [0.92, 0.66], [0.94, 0.84], [0.12, 0.84]],
];

function inside(outline, x, y) {
    let odd = false;
    for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
        const [ax, ay] = outline[i],
            [bx, by] = outline[j];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
    return odd;
}

/* A garment of class c, turned and moved as told. */
export function garment(c, seed, { angle = 0, dx = 0, dy = 0 } = {}) {
    const draw = random(seed * 977 + c);
    const outline = OUTLINES[c].map(([x, y]) => [x + (draw() - 0.5) * 0.05, y + (draw() - 0.5) * 0.04]);
    const shade = 120 + draw() * 110,
        stripes = draw() < 0.35 ? 4 + draw() * 10 : 0,
        slope = (draw() - 0.5) * 90;
    const zip = c === 4;
    const pixels = new Uint8Array(SIDE * SIDE);
    const cos = Math.cos(angle),
        sin = Math.sin(angle);
    for (let py = 0; py < SIDE; py++)
        for (let px = 0; px < SIDE; px++) {
            let sum = 0;
            for (let s = 0; s < 9; s++) {
                const ox = (px + (s % 3) / 3 + 1 / 6) / SIDE - 0.5 - dx,
                    oy = (py + Math.floor(s / 3) / 3 + 1 / 6) / SIDE - 0.5 - dy;
                const x = cos * ox + sin * oy + 0.5,
                    y = -sin * ox + cos * oy + 0.5;
                if (!inside(outline, x, y)) continue;
                let value = shade + slope * (x - 0.5) + 18 * Math.sin(y * 9);
                if (stripes) value += 22 * Math.sign(Math.sin(y * stripes * Math.PI));
                if (zip && Math.abs(x - 0.5) < 0.025) value -= 70;
                sum += Math.min(Math.max(value, 20), 255) / 9;
            }
            pixels[py * SIDE + px] = Math.round(Math.min(255, sum + (sum > 0 ? (draw() - 0.5) * 10 : 0)));
        }
    return pixels;
}

/* +-eps on every pixel, more where the garment is: what a gradient attack looks like. */
export function attacked(pixels, seed, eps) {
    const draw = random(seed);
    return pixels.map((value) => Math.min(255, Math.max(0, value + (draw() < 0.5 ? -eps : eps) * (value > 0 || draw() < 0.4 ? 1 : 0))));
}

export function brightened(pixels, by) {
    return pixels.map((value) => (value > 0 ? Math.min(255, Math.max(0, value + by)) : value));
}

export function blob(seed) {
    const draw = random(seed);
    const cx = 6 + draw() * 16,
        cy = 6 + draw() * 16,
        rx = 3 + draw() * 5,
        ry = 3 + draw() * 6;
    return Uint8Array.from({ length: SIDE * SIDE }, (_, i) => (((i % SIDE) - cx) / rx) ** 2 + ((Math.floor(i / SIDE) - cy) / ry) ** 2 < 1 ? 255 : 0);
}
