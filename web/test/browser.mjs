/* web/test/browser.mjs - the Chromium that is installed */
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function findChromium() {
    return PLACES.find((path) => path && existsSync(path));
}

export function openBrowser() {
    return chromium.launch({
        executablePath: findChromium(),
        args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    });
}

/* A page from file://, with what went wrong on it: messages, exceptions, and whatever it tried to load. */
export async function openReport(browser, path, { dark = false, width = 1280, height = 900, touch = false } = {}) {
    const context = await browser.newContext({
        colorScheme: dark ? "dark" : "light",
        viewport: { width, height },
        hasTouch: touch,
        deviceScaleFactor: touch ? 2 : 1,
        reducedMotion: "reduce",
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120000);
    const troubles = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(String(error)));
    page.on("request", (request) => !request.url().startsWith("file:") && !request.url().startsWith("data:") && troubles.push(`loads ${request.url()}`));
    await page.goto(pathToFileURL(path).href);
    return { page, troubles, close: () => context.close() };
}
