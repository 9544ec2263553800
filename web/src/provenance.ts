/* web/src/provenance.ts - where every number comes from, and how to get it again */
import type { Context } from "./context";
import { h } from "./dom";
import { bytes, seconds } from "./format";
import { copyable, facts, statusWord, table, type Part } from "./widgets";

export function provenancePart(context: Context): Part {
    const { report } = context;
    const provenance = report.provenance ?? {};
    const stages = report.stages ?? [];
    return {
        id: "provenance",
        title: "Provenance",
        lead: "The same command, seed and files give the same numbers, whatever the number of threads.",
        body: [
            provenance.command ? copyable(provenance.command, "the command that made this report") : null,
            facts([
                report.version ? ["plexor", report.version] : null,
                provenance.seed !== null && provenance.seed !== undefined ? ["Seed", String(provenance.seed)] : null,
                provenance.threads ? ["Threads", String(provenance.threads)] : null,
                provenance.seconds ? ["Time", seconds(provenance.seconds)] : null,
                provenance.machine ? ["Machine", provenance.machine] : null,
                ...(provenance.versions ?? []).filter(({ name }) => name !== "plexor").map(({ name, version }): [string, string] => [name, version]),
            ]),
            (provenance.hashes ?? []).length > 0
                ? [h("h3", null, "Files read"), table("Files read", ["What", "Path", "Hash"], provenance.hashes!.map((row) => [row.what, row.path ? h("code", null, row.path) : "–", h("code", null, row.hash)]))]
                : null,
            (provenance.assumptions ?? []).length > 0
                ? [h("h3", null, "Assumed about the inputs"), table("Assumptions", ["What", "Value", "From"], provenance.assumptions!.map((row) => [row.name, h("code", null, row.value), row.from ?? "–"]))]
                : null,
            stages.length > 0
                ? [
                      h("h3", null, "Stages, and how to run each alone"),
                      h(
                          "ol",
                          { class: "stages" },
                          stages.map((stage) =>
                              h(
                                  "li",
                                  null,
                                  h("p", null, h("b", null, stage.title ?? stage.id), h("span", { class: `tag ${stage.status === "failed" ? "bad" : stage.status === "done" ? "" : "warn"}` }, statusWord(stage.status)), h("small", null, stage.seconds ? seconds(stage.seconds) : null)),
                                  stage.reason ? h("p", { class: "fine" }, stage.reason) : null,
                                  stage.command ? copyable(stage.command, `the command of ${stage.title ?? stage.id}`) : null,
                              ),
                          ),
                      ),
                  ]
                : null,
            (provenance.files ?? []).length > 0
                ? [h("h3", null, "Files written"), table("Files written", ["Path", "What", "Size"], provenance.files!.map((row) => [h("code", null, row.path), row.what, bytes(row.bytes)]))]
                : null,
        ],
    };
}
