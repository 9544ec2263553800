/* web/src/provenance.ts - where every number comes from, and how to get it again */
import type { Context } from "./context";
import { h } from "./dom";
import { seconds } from "./format";
import { copyable, facts, statusWord, table, type Part } from "./widgets";

/* Of all results, of earlier runs too. */
export function totalSeconds(context: Context): number {
    return Object.values(context.report.results ?? {}).reduce((sum, file) => sum + (file?.seconds ?? 0), 0);
}

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
                totalSeconds(context) > 0 ? ["Time", seconds(totalSeconds(context))] : null,
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
                          stages.map((stage) => {
                              const word = statusWord(context, stage);
                              const reason = context.reason(stage.id);
                              const time = context.seconds(stage.id);
                              return h(
                                  "li",
                                  null,
                                  h("p", null, h("b", null, stage.title ?? stage.id), h("span", { class: `tag ${word === "done" ? "" : "warn"}` }, word), h("small", null, time ? seconds(time) : null)),
                                  reason ? h("p", { class: "fine" }, reason) : null,
                                  stage.command ? copyable(stage.command, `the command of ${stage.title ?? stage.id}`) : null,
                              );
                          }),
                      ),
                  ]
                : null,
            (provenance.files ?? []).length > 0
                ? [h("h3", null, "Files written"), table("Files written", ["Path", "What"], provenance.files!.map((row) => [h("code", null, row.path), row.what]))]
                : null,
        ],
    };
}
