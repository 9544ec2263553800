/* web/src/main.ts - the page: reads the object, draws the parts one after the other */
import "uplot/dist/uPlot.min.css";
import "./style.css";

import { clustersPart } from "./clusters";
import { Context } from "./context";
import { coveragePart } from "./coverage";
import { SCHEMA, type Report } from "./data";
import { startDialog } from "./dialog";
import { h, svg, type Child } from "./dom";
import { evaluationPart } from "./evaluation";
import { doctorPart, troubled } from "./doctor";
import { findingsPart } from "./findings";
import { modesPart } from "./modes";
import { neuronsPart } from "./neurons";
import { provenancePart } from "./provenance";
import { qualityPart } from "./quality";
import { selectionPart } from "./selection";
import { head, summaryPart } from "./summary";
import { suspectsPart } from "./suspects";
import { startTheme, themeButton } from "./theme";
import { section, type Part } from "./widgets";

function logo(): SVGElement {
    return svg(
        "svg",
        { class: "logo", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false" },
        svg("path", { d: "M15 12.5L6.5 27.5", "stroke-width": 2.6 }),
        svg("path", { class: "hammer", d: "M8.6 6.2l15.6 8.9-2.1 4.6L10.9 13.3z" }),
    );
}

function read(): Report | string {
    const text = document.getElementById("report-data")?.textContent ?? "";
    try {
        const report = JSON.parse(text) as Report;
        if (report.schema !== SCHEMA) return `This page shows ${SCHEMA}, but the data inside it are ${String(report.schema)}.`;
        return report;
    } catch {
        return "The data inside this page cannot be read. Was the file cut off?";
    }
}

/* A part whose data are not as described must not take the page with it. */
function guarded(context: Context, title: string, make: (context: Context) => Part | null): Part | null {
    try {
        return make(context);
    } catch (error) {
        console.error(error);
        return { id: title.toLowerCase(), title, missing: true, body: h("p", { class: "notice" }, "The data of this part cannot be shown; they are not as the page expects them.") };
    }
}

function navigation(parts: Part[]): HTMLElement {
    const links = parts.map((part) => h("a", { href: `#${part.id}`, class: part.missing ? "faint" : null }, part.title));
    const bar = h("nav", { "aria-label": "Parts of the report" }, h("div", { class: "brand" }, logo(), h("span", null, "plexor"), themeButton()), h("div", { class: "links" }, links));
    const seen = new Map<string, boolean>();
    const observer = new IntersectionObserver(
        (entries) => {
            for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
            const current = parts.find((part) => seen.get(part.id));
            if (!current) return;
            links.forEach((link, i) => {
                const here = parts[i] === current;
                if (here && link.getAttribute("aria-current") !== "true") {
                    link.setAttribute("aria-current", "true");
                    const box = link.parentElement!;
                    if (box.scrollWidth > box.clientWidth) box.scrollLeft = link.offsetLeft - box.clientWidth / 3;
                } else if (!here) link.removeAttribute("aria-current");
            });
        },
        { rootMargin: "-20% 0px -60% 0px" },
    );
    requestAnimationFrame(() => {
        for (const part of parts) {
            const element = document.getElementById(part.id);
            if (element) observer.observe(element);
        }
    });
    return bar;
}

function start(app: HTMLElement): void {
    startTheme();
    const report = read();
    if (typeof report === "string") {
        app.appendChild(h("main", { class: "broken-page" }, h("h1", null, "This report cannot be shown"), h("p", null, report)));
        return;
    }
    const context = new Context(report);
    document.title = `${report.title ?? report.model?.name ?? "report"} · plexor`;

    /* Findings and neurons first: they offer the dialogs that others open. */
    const findings = guarded(context, "Failures", findingsPart);
    const neurons = guarded(context, "Neurons", neuronsPart);
    const data = guarded(context, "Data", doctorPart);
    const doubtful = troubled(context);
    const parts: Part[] = [
        guarded(context, "Summary", summaryPart),
        doubtful ? data : null,
        guarded(context, "Modes", modesPart),
        doubtful ? null : data,
        guarded(context, "Labels", suspectsPart),
        findings,
        guarded(context, "Clusters", clustersPart),
        guarded(context, "Evaluation", evaluationPart),
        neurons,
        guarded(context, "Coverage", coveragePart),
        guarded(context, "Quality", qualityPart),
        guarded(context, "Selection", selectionPart),
        guarded(context, "Provenance", provenancePart),
    ].filter((part) => part !== null);
    const foot: Child = ["Made by plexor", report.version ? ` ${report.version}` : null, ". This file holds everything it shows and loads nothing."];
    app.append(
        h("a", { class: "skip", href: "#summary" }, "Skip to the summary"),
        navigation(parts),
        h("main", null, head(context), parts.map(section), h("footer", null, foot)),
    );
    startDialog(app);
}

start(document.getElementById("app")!);
