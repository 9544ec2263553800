/* web/src/context.ts - what every part of the page needs */
import type { Finding, Neuron, NeuronRef, Report, Stage } from "./data";
import { shortNames } from "./names";
import { Pictures } from "./pictures";

export class Context {
    readonly pictures: Pictures;
    /* Set by the parts that offer them. */
    openFinding: (list: readonly Finding[], index: number) => void = () => undefined;
    openNeuron: (list: readonly Neuron[], index: number) => void = () => undefined;
    showCluster: (cluster: number) => void = () => undefined;
    showFindings: (ids: readonly (number | string)[], what: string) => void = () => undefined;
    private readonly shortLayers: string[];

    constructor(readonly report: Report) {
        this.pictures = new Pictures(report.sheets ?? []);
        this.shortLayers = shortNames((report.neurons?.layers ?? []).map((layer) => layer.name));
    }

    className(index: number | null | undefined): string {
        if (index === null || index === undefined) return "–";
        return this.report.classes?.[index] ?? `class ${index}`;
    }

    stage(id: string): Stage | undefined {
        return this.report.stages?.find((stage) => stage.id === id);
    }

    layerName(index: number): string {
        return this.report.neurons?.layers[index]?.name ?? `layer ${index}`;
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
        return this.report.findings?.methods?.find((method) => method.id === id)?.title ?? id;
    }
}
