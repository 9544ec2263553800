/* web/build/sources.ts - which files the page is made of, and their identity
 *
 * sha256 over "PATH SIZE\n" and the bytes of each file, in the order of the paths, 16 digits of it.
 * tests/report/check_page.py computes the same without Node.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SINGLE = ["index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
const FOLDERS = ["build", "src"];

export function sourcesId(root: string): string {
    const paths = [...SINGLE];
    for (const folder of FOLDERS)
        for (const name of readdirSync(join(root, folder))) paths.push(`${folder}/${name}`);
    paths.sort();
    const hash = createHash("sha256");
    for (const path of paths) {
        const bytes = readFileSync(join(root, path));
        hash.update(`${path} ${bytes.length}\n`).update(bytes);
    }
    return hash.digest("hex").slice(0, 16);
}
