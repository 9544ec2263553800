/* web/src/context.ts - what every part of the page needs */
import type { Finding, Input, More, Neuron, NeuronLayer, NeuronRef, Report, Results, Stage, Timed } from "./data";
import { isNumber } from "./format";
import { shortNames } from "./names";
import { Pictures } from "./pictures";

type Result<K extends keyof Results> = NonNullable<Results[K]>["result"];

export class Context {
    readonly pictures: Pictures;
    readonly findings: Finding[];
    readonly layers: NeuronLayer[];
    /* Set by the parts that offer them. */
    openFinding: (list: readonly Finding[], index: number) => void = () => undefined;
    openNeuron: (list: readonly Neuron[], index: number) => void = () => undefined;
    showCluster: (cluster: number) => void = () => undefined;
    showFindings: (ids: readonly number[], what: string) => void = () => undefined;
    private readonly shortLayers: string[];
    private readonly clusters = new Map<number, number>();

    constructor(readonly report: Report) {
        this.pictures = new Pictures(report.sheets ?? []);
        this.findings = report.failures?.items ?? [];
        this.layers = report.beside?.localize?.layers ?? [];
        this.shortLayers = shortNames(this.layers.map((layer) => layer.name));
        for (const [method, id, cluster] of this.result("cluster")?.points ?? []) if (method !== "right" && method !== "data" && cluster >= 0) this.clusters.set(id, cluster);
    }

    /* What a stage found out. */
    result<K extends keyof Results>(id: K): Result<K> | undefined {
        return this.report.results?.[id]?.result as Result<K> | undefined;
    }

    stage(id: string): Stage | undefined {
        return this.report.stages?.find((stage) => stage.id === id);
    }

    seconds(id: string): number | null | undefined {
        return this.report.results?.[id as keyof Results]?.seconds;
    }

    /* Its time was up before its work was done. */
    cutShort(id: string): boolean {
        return (this.result(id as keyof Results) as Timed | undefined)?.cut_short === true;
    }

    /* Why a stage has no result, or not all of it. */
    reason(id: string): string | null {
        const stage = this.stage(id);
        const result = this.result(id as keyof Results) as Timed | undefined;
        if (result && this.cutShort(id)) return `the time was up after ${result.turns ?? result.count} of ${result.planned}; more --minutes go further, and another machine may get another way`;
        if (stage?.state === "left out") return stage.why ?? null;
        return stage?.state === "skipped" ? "it was not asked for" : null;
    }

    /* An input of the data set, by its place. */
    input(place: number): Input {
        return this.report.inputs?.[place] ?? { index: place };
    }

    /* In the folder of the examination. */
    path(name: string): string {
        return `${this.report.folder ?? "plexor-check"}/${name}`;
    }

    rest(count: number, name: string): More {
        return { count, where: this.path(name) };
    }

    cluster(finding: Finding): number | undefined {
        return this.clusters.get(finding.id);
    }

    className(index: number | null | undefined): string {
        if (!isNumber(index) || index < 0) return "–";
        return this.report.classes?.[index] ?? `class ${index}`;
    }

    layerName(index: number): string {
        return this.layers[index]?.name ?? `layer ${index}`;
    }

    /* In full, as the command line has it. */
    neuronName([layer, unit]: NeuronRef): string {
        return `${this.layerName(layer)}:${unit}`;
    }

    shortLayer(layer: number): string {
        return this.shortLayers[layer] ?? `layer ${layer}`;
    }

    /* What fits into a row; the full name belongs into its title. */
    neuronShort([layer, unit]: NeuronRef): string {
        return `${this.shortLayer(layer)} #${unit}`;
    }

    methodName(id: string): string {
        return this.stage(id)?.title ?? id;
    }
}
