/* web/src/pictures.ts - thumbnails: tiles of sprite sheets, their differences, their masks
 *
 * A sheet is decoded when the first of its tiles is wanted, off the main thread. Every thumbnail is
 * a small canvas of the tile's own size that CSS enlarges, so that pixels stay pixels.
 */
import type { Picture, Sheet } from "./data";
import { h } from "./dom";

const PREFIX = "data:image/png;base64,";
const DIFFERENCE_FACTOR = 10;
const SMOOTH_FROM = 96; /* tiles this wide are photographs, not pixels */

type Draw = (context: CanvasRenderingContext2D, width: number, height: number) => void;

export class Pictures {
    private readonly bitmaps: (Promise<ImageBitmap> | undefined)[] = [];

    constructor(private readonly sheets: Sheet[]) {}

    has(picture: Picture | null | undefined): picture is Picture {
        if (!Array.isArray(picture)) return false;
        const sheet = this.sheets[picture[0]];
        return !!sheet && picture[1] >= 0 && picture[1] < sheet.count;
    }

    private bitmap(index: number): Promise<ImageBitmap> {
        return (this.bitmaps[index] ??= (async () => {
            const { png } = this.sheets[index]!;
            if (!png.startsWith(PREFIX)) throw new Error("a sheet that is no PNG");
            const text = atob(png.slice(PREFIX.length));
            const bytes = new Uint8Array(text.length);
            for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
            return createImageBitmap(new Blob([bytes], { type: "image/png" }));
        })());
    }

    /* Draws tiles, once their sheets are there, into a new canvas. */
    private make(tiles: Picture[], alt: string, draw: (sources: Draw[]) => Draw): HTMLCanvasElement {
        const sheet = this.sheets[tiles[0]![0]]!;
        const canvas = h("canvas", { class: "thumb", width: sheet.width, height: sheet.height, role: "img", "aria-label": alt });
        if (sheet.width < SMOOTH_FROM) canvas.classList.add("pixels");
        canvas.style.aspectRatio = `${sheet.width} / ${sheet.height}`;
        Promise.all(tiles.map((tile) => this.bitmap(tile[0])))
            .then((bitmaps) => {
                const sources = tiles.map(([index, tile], i): Draw => {
                    const { width, height, columns } = this.sheets[index]!;
                    const x = (tile % columns) * width,
                        y = Math.floor(tile / columns) * height;
                    return (context, w, hh) => context.drawImage(bitmaps[i]!, x, y, width, height, 0, 0, w, hh);
                });
                const context = canvas.getContext("2d", { willReadFrequently: tiles.length > 1 });
                if (context) draw(sources)(context, canvas.width, canvas.height);
            })
            .catch(() => {
                canvas.classList.add("broken");
                canvas.setAttribute("aria-label", `${alt} (the picture cannot be read)`);
            });
        return canvas;
    }

    tile(picture: Picture | null | undefined, alt: string): HTMLElement {
        if (!this.has(picture)) return this.missing(alt);
        return this.make([picture], alt, ([source]) => source!);
    }

    /* clip(.5 + 10 (failing - original)): grey is no change */
    difference(original: Picture | null | undefined, failing: Picture | null | undefined, alt: string): HTMLElement {
        if (!this.has(original) || !this.has(failing)) return this.missing(alt);
        return this.make([original, failing], alt, ([before, after]) => (context, width, height) => {
            before!(context, width, height);
            const a = context.getImageData(0, 0, width, height);
            after!(context, width, height);
            const b = context.getImageData(0, 0, width, height);
            for (let i = 0; i < b.data.length; i++)
                if (i % 4 !== 3) b.data[i] = 127.5 + DIFFERENCE_FACTOR * (b.data[i]! - a.data[i]!);
            context.putImageData(b, 0, 0);
        });
    }

    /* The picture, dimmed where the mask is black. */
    masked(picture: Picture | null | undefined, mask: Picture | null | undefined, alt: string): HTMLElement {
        if (!this.has(picture) || !this.has(mask)) return this.tile(picture, alt);
        return this.make([picture, mask], alt, ([source, over]) => (context, width, height) => {
            over!(context, width, height);
            const m = context.getImageData(0, 0, width, height);
            source!(context, width, height);
            const p = context.getImageData(0, 0, width, height);
            const inside = (x: number, y: number): boolean =>
                x >= 0 && y >= 0 && x < width && y < height && m.data[4 * (y * width + x)]! > 127;
            for (let y = 0; y < height; y++)
                for (let x = 0; x < width; x++) {
                    const at = 4 * (y * width + x);
                    const within = inside(x, y);
                    for (let c = 0; c < 3; c++)
                        if (!within) p.data[at + c] = 0.3 * p.data[at + c]! + 0.7 * 96;
                    const edge =
                        within && !(inside(x - 1, y) && inside(x + 1, y) && inside(x, y - 1) && inside(x, y + 1));
                    if (edge) {
                        p.data[at] = 255;
                        p.data[at + 1] = 140;
                        p.data[at + 2] = 0;
                    }
                }
            context.putImageData(p, 0, 0);
        });
    }

    missing(alt: string): HTMLElement {
        return h("span", { class: "thumb missing", role: "img", "aria-label": `${alt}: no picture` });
    }
}
