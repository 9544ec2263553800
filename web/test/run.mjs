/* web/test/run.mjs - the page is what its sources give, and does what it should in a real browser. Speaks TAP.
 *
 *     node test/run.mjs MAKE_PAGE FOLDER COMMITTED [PART OF A TITLE]
 *
 * MAKE_PAGE (tests/report/make_page.c) puts a JSON file into the page with the library's own code;
 * COMMITTED is the built page of the repository; FOLDER takes what is made on the way.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { makeSample } from "../sample/make-sample.mjs";
import { findChromium, openBrowser, openReport } from "./browser.mjs";
import { CASES } from "./cases.mjs";

const [makePage, folder, committed, only = ""] = process.argv.slice(2);
const WEB = fileURLToPath(new URL("..", import.meta.url));
mkdirSync(folder, { recursive: true });

/* --- without a browser --- */

function node(script, ...words) {
    execFileSync(process.execPath, [join(WEB, "node_modules", script), ...words], { cwd: WEB, stdio: "pipe" });
}

const BUILD = [
    ["types hold", () => node("typescript/bin/tsc", "--noEmit")],
    [
        "the committed page is what its sources give, byte by byte",
        () => {
            const out = join(folder, "dist");
            node("vite/bin/vite.js", "build", "--outDir", out, "--emptyOutDir", "--logLevel", "error");
            if (!readFileSync(join(out, "report.html")).equals(readFileSync(committed))) throw new Error("they differ: cd web && npm run build, and commit web/dist/report.html");
        },
    ],
];

/* --- with one --- */

const made = new Map();
function report(title, options) {
    const name = typeof options === "function" ? title.replace(/\W+/g, "-") : ["sample", ...Object.entries(options).flat()].join("-");
    if (!made.has(name)) {
        const json = join(folder, `${name}.json`),
            html = join(folder, `${name}.html`);
        writeFileSync(json, JSON.stringify(typeof options === "function" ? options() : makeSample(options)));
        execFileSync(makePage, [json, html]);
        made.set(name, html);
    }
    return made.get(name);
}

async function inBrowser(browser, [title, options, steps, look], say) {
    const { page, troubles, close } = await openReport(browser, report(title, options), look);
    try {
        await steps(page, say);
        if (troubles.length > 0) throw new Error(`the console says: ${troubles.join(" | ")}`);
    } finally {
        await close();
    }
}

const wanted = ([title]) => title.includes(only);
const build = BUILD.filter(wanted),
    cases = CASES.filter(wanted);
let number = 0,
    failed = 0;
async function run(title, work) {
    const remarks = [];
    number++;
    try {
        await work((text) => remarks.push(text));
        console.log(`ok ${number} - ${title}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${number} - ${title}`);
        remarks.push(...[error?.message ?? error, error?.stdout ?? ""].join("\n").split("\n").slice(0, 12));
    }
    for (const remark of remarks) console.log(`# ${remark}`);
}

console.log(`1..${build.length + cases.length}`);
for (const [title, work] of build) await run(title, work);
if (findChromium()) {
    const browser = await openBrowser();
    for (const one of cases) await run(one[0], (say) => inBrowser(browser, one, say));
    await browser.close();
} else {
    for (const [title] of cases) console.log(`ok ${++number} - ${title} # SKIP there is no Chromium (package chromium)`);
}
process.exitCode = failed > 0 ? 1 : 0;
