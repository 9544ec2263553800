/* web/vite.config.ts - one HTML file with everything inside */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

import { sourcesId } from "./build/sources";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const MARK = "@PLEXOR_REPORT_DATA@";

function sha256(text: string): string {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/* Puts script and style into the page. The policy lets nothing else run and nothing be loaded;
 * the data block is no script, so that it needs no hash. */
function selfContained(): Plugin {
    return {
        name: "self-contained",
        enforce: "post",
        generateBundle(_options, bundle) {
            let script = "",
                style = "";
            for (const [name, part] of Object.entries(bundle)) {
                if (part.type === "chunk") script += part.code.trim();
                else if (name.endsWith(".css")) style += String(part.source).trim();
                else continue;
                delete bundle[name];
            }
            if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style) || script.includes(MARK))
                this.error("the script or the style holds what would end its block");
            const page = bundle["index.html"];
            if (!page || page.type !== "asset") return this.error("there is no index.html");
            const policy =
                `default-src 'none'; script-src ${sha256(script)}; style-src ${sha256(style)}; ` +
                `img-src data:; media-src data:; base-uri 'none'; form-action 'none'`;
            const head =
                `<meta http-equiv="Content-Security-Policy" content="${policy}">\n` +
                `<meta name="plexor-sources" content="${sourcesId(ROOT)}">\n` +
                `<style>${style}</style>\n</head>`;
            page.source =
                String(page.source)
                    .replace(/\s*<script type="module"[^>]*><\/script>/g, "")
                    .replace(/\s*<link rel="(stylesheet|modulepreload)"[^>]*>/g, "")
                    .replace("</head>", () => head)
                    .replace("</body>", () => `<script>${script}</script>\n</body>`);
            page.fileName = "report.html";
        },
    };
}

/* `npm run dev` shows the sample. */
function sampleData(): Plugin {
    return {
        name: "sample-data",
        apply: "serve",
        transformIndexHtml(html) {
            const path = join(ROOT, "sample/sample.json");
            if (!existsSync(path)) throw new Error("sample/sample.json is missing: npm run sample");
            return html.replace(MARK, () => readFileSync(path, "utf-8").replace(/</g, "\\u003c"));
        },
    };
}

export default defineConfig({
    base: "./",
    plugins: [selfContained(), sampleData()],
    build: {
        target: "es2021",
        modulePreload: false,
        cssCodeSplit: false,
        assetsInlineLimit: 0,
        rollupOptions: { output: { format: "iife" } },
    },
});
