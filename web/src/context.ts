/* web/src/context.ts - what every part of the page needs */
import type { Finding, Neuron, NeuronRef, Report, Stage } from "./data";
import { Pictures } from "./pictures";

export class Context {
    readonly pictures: Pictures;
    /* Set by the parts that offer them. */
    openFinding: (list: readonly Finding[], index: number) => void = () => undefined;
    openNeuron: (list: readonly Neuron[], index: number) => void = () => undefined;
    showCluster: (cluster: number) => void = () => undefined;

    constructor(readonly report: Report) {
        this.pictures = new Pictures(report.sheets ?? []);
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

    neuronName([layer, unit]: NeuronRef): string {
        return `${this.layerName(layer)}:${unit}`;
    }

    methodName(id: string): string {
        return this.report.findings?.methods?.find((method) => method.id === id)?.title ?? id;
    }
}
