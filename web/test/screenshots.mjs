/* web/test/screenshots.mjs - pictures of every part of a report
 *
 *     node test/screenshots.mjs REPORT.html FOLDER [NAME...]
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { openBrowser, openReport } from "./browser.mjs";

const [path, folder, ...only] = process.argv.slice(2);
const PARTS = ["summary", "data", "modes", "labels", "failures", "clusters", "evaluation", "neurons", "coverage", "quality", "provenance"];
const LOOKS = [
    ["light", { width: 1280, height: 900 }],
    ["dark", { width: 1280, height: 900, dark: true }],
    ["phone", { width: 390, height: 844, touch: true }],
];

mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
for (const [look, options] of LOOKS) {
    const { page, troubles, close } = await openReport(browser, path, options);
    const wanted = (name) => only.length === 0 || only.includes(`${look}-${name}`) || only.includes(name) || only.includes(look);
    await page.waitForTimeout(400);
    if (wanted("top")) await page.screenshot({ path: join(folder, `${look}-top.png`) });
    for (const part of PARTS) {
        const section = page.locator(`#${part}`);
        if (!wanted(part) || (await section.count()) === 0) continue;
        await section.scrollIntoViewIfNeeded();
        await page.waitForTimeout(150);
        await section.screenshot({ path: join(folder, `${look}-${part}.png`) });
    }
    for (const [name, target] of [["finding", "#failures .card"], ["neuron", "#neurons .neuron-row"]]) {
        if (!wanted(name) || (await page.locator(target).count()) === 0) continue;
        await page.locator(target).first().click();
        await page.waitForTimeout(200);
        await page.screenshot({ path: join(folder, `${look}-${name}.png`) });
        await page.keyboard.press("Escape");
    }
    for (const trouble of troubles) console.error(`${look}: ${trouble}`);
    await close();
}
await browser.close();
