/* web/src/pictures.ts - thumbnails: tiles of sprite sheets, their differences, their masks
 *
 * Sheets are decoded as images of the page, so that its load event waits for them: whoever takes a
 * picture of the page when it is loaded has the thumbnails too. They are kept as pixels: what is drawn
 * then is copied, never scaled, into small canvases that CSS enlarges, so that pixels stay pixels.
 * (Drawing from the image itself took ten times as long per card.)
 */
import type { Picture, Sheet } from "./data";
import { h, type Child } from "./dom";

const PREFIX = "data:image/png;base64,";
const DIFFERENCE_FACTOR = 10;
const SMOOTH_FROM = 96; /* tiles this wide are photographs, not pixels */
const DIMMED = 96, /* what is outside of a mask goes towards this grey ... */
    DIM = 0.7; /* ... by so much */

/* Four bytes per pixel, row by row. */
type Tile = Uint8ClampedArray;
type Place = Exclude<Picture, string>;

/* Words of `after`, those that `before` lacks in the same order marked. */
function changedWords(before: string, after: string): Child[] {
    const a = before.split(/\s+/),
        b = after.split(/\s+/);
    const same = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) same[i]![j] = a[i] === b[j] ? same[i + 1]![j + 1]! + 1 : Math.max(same[i + 1]![j]!, same[i]![j + 1]!);
    const out: Child[] = [];
    for (let i = 0, j = 0; j < b.length; ) {
        const kept = i < a.length && a[i] === b[j];
        if (!kept && i < a.length && same[i + 1]![j]! >= same[i]![j + 1]!) i++;
        else {
            out.push(kept ? b[j]! : h("mark", null, b[j]!), " ");
            j++;
            i += Number(kept);
        }
    }
    return out;
}

export class Pictures {
    private readonly pixels: (Promise<ImageData> | undefined)[] = [];

    constructor(private readonly sheets: Sheet[]) {
        sheets.forEach((_, index) => this.sheetPixels(index).catch(() => undefined)); /* its tiles say so */
    }

    /* Whether there is anything to show: a picture, or a text. */
    has(picture: Picture | null | undefined): picture is Picture {
        return typeof picture === "string" || this.drawn(picture);
    }

    private drawn(picture: Picture | null | undefined): picture is Place {
        if (!Array.isArray(picture)) return false;
        const sheet = this.sheets[picture[0]];
        return !!sheet && picture[1] >= 0 && picture[1] < sheet.count;
    }

    private sheetPixels(index: number): Promise<ImageData> {
        return (this.pixels[index] ??= new Promise((done, failed) => {
            const { png } = this.sheets[index]!;
            if (!png.startsWith(PREFIX)) throw new Error("a sheet that is no PNG");
            const image = new Image();
            image.onerror = () => failed(new Error("a sheet that cannot be decoded"));
            image.onload = () => {
                const canvas = h("canvas", { width: image.naturalWidth, height: image.naturalHeight });
                const context = canvas.getContext("2d", { willReadFrequently: true })!;
                context.drawImage(image, 0, 0);
                done(context.getImageData(0, 0, canvas.width, canvas.height));
            };
            image.src = png;
        }));
    }

    private async read([index, tile]: Place): Promise<Tile> {
        const pixels = await this.sheetPixels(index);
        const { width, height, columns } = this.sheets[index]!;
        const left = (tile % columns) * width,
            top = Math.floor(tile / columns) * height;
        const out = new Uint8ClampedArray(4 * width * height);
        for (let y = 0; y < height; y++) {
            const from = 4 * ((top + y) * pixels.width + left);
            out.set(pixels.data.subarray(from, from + 4 * width), 4 * y * width);
        }
        return out;
    }

    /* A canvas with the made tiles side by side, `gap` tile pixels between them. */
    private show(like: Place, count: number, gap: number, alt: string, make: () => Promise<Tile[]>): HTMLElement {
        const { width, height } = this.sheets[like[0]]!;
        const whole = count * width + (count - 1) * gap;
        const canvas = h("canvas", { class: "thumb", width: whole, height, role: "img", "aria-label": alt });
        if (width < SMOOTH_FROM) canvas.classList.add("pixels");
        canvas.style.aspectRatio = `${whole} / ${height}`;
        make()
            .then((tiles) => {
                const context = canvas.getContext("2d", { willReadFrequently: true });
                tiles.forEach((tile, i) => {
                    const data = new ImageData(width, height);
                    data.data.set(tile.subarray(0, data.data.length));
                    context?.putImageData(data, i * (width + gap), 0);
                });
            })
            .catch(() => {
                canvas.classList.add("broken");
                canvas.setAttribute("aria-label", `${alt} (the picture cannot be read)`);
            });
        return canvas;
    }

    tile(picture: Picture | null | undefined, alt: string): HTMLElement {
        if (typeof picture === "string") return this.text(picture);
        if (!this.drawn(picture)) return this.missing(alt);
        return this.show(picture, 1, 0, alt, async () => [await this.read(picture)]);
    }

    /* The one that is given, or clip(.5 + 10 (failing - original)): grey is no change. */
    private async readDifference(original: Place, failing: Place): Promise<Tile> {
        const [before, after] = await Promise.all([this.read(original), this.read(failing)]);
        for (let i = 0; i < after.length; i++)
            if (i % 4 !== 3) after[i] = 127.5 + DIFFERENCE_FACTOR * (after[i]! - before[i]!);
        return after;
    }

    difference(original: Picture | null | undefined, failing: Picture | null | undefined, alt: string): HTMLElement {
        if (typeof original === "string" && typeof failing === "string") return this.text(...changedWords(original, failing));
        if (!this.drawn(original) || !this.drawn(failing)) return this.missing(alt);
        return this.show(failing, 1, 0, alt, async () => [await this.readDifference(original, failing)]);
    }

    /* Original, failing, difference in one canvas: one per card is what scrolling can bear. */
    triple(original: Picture | null | undefined, failing: Picture | null | undefined, alt: string): HTMLElement {
        if (typeof failing === "string") return typeof original === "string" ? h("span", { class: "texts" }, this.text(original), this.text(...changedWords(original, failing))) : this.text(failing);
        if (!this.drawn(failing)) return this.missing(alt);
        if (!this.drawn(original) || this.sheets[original[0]]!.width !== this.sheets[failing[0]]!.width) return this.tile(failing, alt);
        const gap = Math.max(1, Math.round(this.sheets[failing[0]]!.width / 14));
        return this.show(failing, 3, gap, alt, () => Promise.all([this.read(original), this.read(failing), this.readDifference(original, failing)]));
    }

    /* The picture, dimmed where the mask is black; an orange line around where it is white. */
    masked(picture: Picture | null | undefined, mask: Picture | null | undefined, alt: string): HTMLElement {
        if (!this.drawn(picture) || !this.drawn(mask)) return this.tile(picture, alt);
        const { width, height } = this.sheets[picture[0]]!;
        const over = this.sheets[mask[0]]!;
        if (over.width !== width || over.height !== height) return this.tile(picture, alt);
        return this.show(picture, 1, 0, alt, async () => {
            const [p, m] = await Promise.all([this.read(picture), this.read(mask)]);
            const inside = (x: number, y: number): boolean => x >= 0 && y >= 0 && x < width && y < height && m[4 * (y * width + x)]! > 127;
            for (let y = 0; y < height; y++)
                for (let x = 0; x < width; x++) {
                    const at = 4 * (y * width + x);
                    if (!inside(x, y)) for (let c = 0; c < 3; c++) p[at + c] = (1 - DIM) * p[at + c]! + DIM * DIMMED;
                    else if (!(inside(x - 1, y) && inside(x + 1, y) && inside(x, y - 1) && inside(x, y + 1))) p.set([255, 140, 0], at);
                }
            return [p];
        });
    }

    private text(...words: Child[]): HTMLElement {
        return h("span", { class: "thumb text" }, words);
    }

    missing(alt: string): HTMLElement {
        return h("span", { class: "thumb missing", role: "img", "aria-label": `${alt}: no picture` }, "no picture");
    }
}
