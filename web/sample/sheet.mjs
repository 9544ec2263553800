/* web/sample/sheet.mjs - grey tiles into a sprite sheet, as px_sprites does it */
import { deflateSync } from "node:zlib";

const TABLE = Int32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
});

function crc32(bytes) {
    let c = -1;
    for (const b of bytes) c = TABLE[(c ^ b) & 255] ^ (c >>> 8);
    return (c ^ -1) >>> 0;
}

function chunk(kind, data) {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
}

export class SheetMaker {
    constructor(index, width, height) {
        Object.assign(this, { index, width, height, tiles: [], known: new Map() });
    }

    add(pixels) {
        const key = Buffer.from(pixels).toString("latin1");
        if (!this.known.has(key)) this.known.set(key, this.tiles.push(pixels) - 1);
        return [this.index, this.known.get(key)];
    }

    object() {
        const columns = Math.max(1, Math.ceil(Math.sqrt(this.tiles.length)));
        const rows = Math.max(1, Math.ceil(this.tiles.length / columns));
        const width = columns * this.width,
            height = rows * this.height;
        const raw = Buffer.alloc((width + 1) * height);
        this.tiles.forEach((pixels, i) => {
            for (let y = 0; y < this.height; y++) {
                const row = Math.floor(i / columns) * this.height + y;
                Buffer.from(pixels.subarray(y * this.width, (y + 1) * this.width)).copy(raw, row * (width + 1) + 1 + (i % columns) * this.width);
            }
        });
        const size = Buffer.alloc(13);
        size.writeUInt32BE(width, 0);
        size.writeUInt32BE(height, 4);
        size.writeUInt8(8, 8);
        const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", size), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
        return { png: `data:image/png;base64,${png.toString("base64")}`, width: this.width, height: this.height, columns, count: this.tiles.length };
    }
}
