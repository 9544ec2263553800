/* web/src/doctor.ts - whether data and network belong together: what to look at before any figure */
import type { Context } from "./context";
import type { DoctorFinding } from "./data";
import { h, icon, type Child } from "./dom";
import { count, isNumber } from "./format";
import { list, type Part } from "./widgets";

const WORDS: Record<DoctorFinding["level"], string> = { error: "Problem", warning: "Warning", info: "Remark" };
const ORDER: DoctorFinding["level"][] = ["error", "warning", "info"];
const NAMES_MOST = 40;

function item(finding: DoctorFinding): HTMLElement {
    const inputs = (finding.inputs ?? []).slice(0, NAMES_MOST);
    const left = (finding.count ?? inputs.length) - inputs.length;
    const names: Child = inputs.length > 0 ? h("details", null, h("summary", null, `${isNumber(finding.count) ? count(finding.count) : count(inputs.length)} inputs`), h("ul", { class: "file-names" }, inputs.map((name) => h("li", null, h("code", null, name))), left > 0 ? h("li", null, `and ${count(left)} more`) : null)) : null;
    return h(
        "li",
        { class: `finding ${finding.level}` },
        h("span", { class: "level" }, icon(finding.level === "info" ? "none" : "warn"), WORDS[finding.level] ?? finding.level),
        h("div", null, h("p", null, finding.sentence), finding.advice ? h("p", { class: "advice" }, finding.advice) : null, names),
    );
}

export function troubled(context: Context): boolean {
    return (context.report.doctor?.findings ?? []).some((finding) => finding.level !== "info");
}

export function doctorPart(context: Context): Part | null {
    const found = context.report.doctor?.findings ?? [];
    const remarks = context.report.remarks ?? [];
    if (!context.report.doctor && remarks.length === 0) return null;
    const findings = [...found].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
    const bad = findings.filter((finding) => finding.level !== "info").length;
    return {
        id: "data",
        title: "Data and preprocessing",
        lead: bad > 0 ? "Look at these first: where data and network do not belong together, every figure below is about something else." : "Nothing speaks against data and network belonging together.",
        body: [findings.length > 0 ? h("ul", { class: "doctor" }, findings.map(item)) : null, list(remarks)],
    };
}
