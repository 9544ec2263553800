/* web/src/data.ts - what a report is made of: the types of the one JSON object inside the page
 *
 * plexor writes the object (include/plexor/report.h puts it into the page), the page only shows it.
 * docs/report.md says the same in words. Rules:
 *
 * - Every part and every key with a question mark may be missing or null; the page then says so
 *   instead of showing an empty chart. A part that was skipped is missing, and its stage says why.
 * - Shares are fractions 0-1. A number that is undefined is null, never 0.
 * - Classes are indices into `classes`; inputs are indices into the data set.
 * - Texts are plain text. They are never read as HTML or Markdown.
 * - Pictures are tiles of sprite sheets, see `Sheet`.
 * - Keys may be added; the meaning of those that are here stays. Readers ignore what they do not
 *   know. `schema` changes only when that promise is broken.
 */

export const SCHEMA = "plexor-report/1";

export interface Report {
    schema: typeof SCHEMA;
    title?: string | null; /* default: the model's name */
    created?: string | null; /* ISO 8601, UTC: "2026-03-01T12:00:00Z" */
    version?: string | null; /* of plexor */
    model?: Model | null;
    data?: Data | null;
    classes?: string[] | null; /* names; without them "class 3" is shown */
    sheets?: Sheet[] | null;
    stages?: Stage[] | null; /* in the order in which they ran */
    summary?: Summary | null;
    doctor?: Doctor | null;
    evaluation?: Evaluation | null;
    coverage?: Coverage | null;
    selection?: Selection | null;
    findings?: Findings | null;
    modes?: Modes | null;
    clusters?: Clusters | null;
    neurons?: Neurons | null;
    quality?: Quality | null;
    provenance?: Provenance | null;
}

export interface Model {
    name: string; /* "mobilenetv2_cifar10.onnx" */
    parameters?: number | null;
    layers?: number | null; /* hidden ones */
    neurons?: number | null;
    flops?: number | null; /* of one input */
    input?: string | null; /* "3 x 32 x 32" */
}

export interface Data {
    name: string; /* the SPEC as given, or a known name */
    split?: string | null;
    count: number; /* inputs that were looked at */
    of?: number | null; /* inputs that there are, if fewer were looked at */
    labelled?: boolean | null; /* false: no labels, the page says what that rules out */
}

/* --- pictures --- */

/* Tiles of one size, row by row from the top left, `columns` in a row. */
export interface Sheet {
    png: string; /* "data:image/png;base64,..." and nothing else */
    width: number; /* of a tile, in pixels */
    height: number;
    columns: number;
    count: number; /* tiles */
}

/* A picture: sheet and tile, both from 0. */
export type Picture = [sheet: number, tile: number];

/* --- stages --- */

/* A part of the report that is missing takes the words of the stage with the same id. */
export type StageId =
    | "profile"
    | "evaluation"
    | "coverage"
    | "selection"
    | "neurons"
    | "findings"
    | "quality"
    | "descriptions"
    | "clusters";

export interface Stage {
    id: StageId | string;
    title?: string | null;
    status: "done" | "partial" | "skipped" | "failed"; /* partial: the time ran out */
    reason?: string | null; /* why it was skipped, failed or cut short, and what to do */
    seconds?: number | null;
    command?: string | null; /* that does this part alone */
}

/* --- summary --- */

export interface Summary {
    verdict: "pass" | "fail" | "none"; /* none: nothing was asked for that could fail */
    headline?: string | null; /* three sentences at most: how right, what breaks it, how far to trust it */
    gates?: Gate[] | null;
    remarks?: string[] | null; /* what a reader must know first: assumptions, warnings */
}

export interface Gate {
    name: string; /* "accuracy", "faults" */
    title?: string | null; /* "Accuracy" */
    relation: ">=" | "<=";
    threshold: number;
    value?: number | null; /* null: could not be measured, which does not pass */
    unit?: Unit | null;
    pass: boolean;
    note?: string | null;
}

export type Unit = "share" | "count" | "real" | "seconds";

/* --- data and preprocessing --- */

/* What the doctor found: whether data and network belong together. */
export interface Doctor {
    findings: DoctorFinding[];
    notes?: string[] | null;
}

export interface DoctorFinding {
    id: string; /* "preprocess", "classes" */
    level: "error" | "warning" | "info";
    sentence: string;
    advice?: string | null;
    count?: number | null; /* inputs that it is about */
    inputs?: string[] | null; /* the names of some of them */
}

/* --- evaluation --- */

export interface Evaluation {
    count: number;
    accuracy?: number | null;
    interval?: [low: number, high: number] | null; /* of the accuracy, 95% */
    top5?: number | null;
    loss?: number | null;
    confidence?: number | null; /* mean of the highest probability */
    ece?: number | null; /* expected calibration error, over `calibration` */
    per_class?: ClassRow[] | null; /* in order; of many classes the worst first, or the most answered */
    classes_more?: More | null; /* not in `per_class` */
    calibration?: CalibrationBin[] | null; /* by confidence, ascending */
    confusion?: [label: number, prediction: number, count: number][] | null; /* cells above 0 */
    confusion_left_out?: number | null; /* cells above 0 that are not listed: the smallest */
    wrong?: Shown[] | null; /* inputs of the data set that it gets wrong, most confident first */
    robust?: { accuracy?: number | null; count?: number | null; settings?: string | null } | null; /* under attack */
    label_suspects?: LabelSuspects | null;
    notes?: string[] | null;
}

export interface ClassRow {
    class: number;
    count: number; /* inputs with this label; without labels 0 */
    correct?: number | null;
    predicted?: number | null; /* inputs that were given this class */
    recall?: number | null; /* the class's accuracy */
    precision?: number | null;
    confidence?: number | null; /* mean, of inputs with this label */
}

export interface CalibrationBin {
    low: number;
    high: number;
    count: number;
    confidence?: number | null; /* mean; null: no input */
    accuracy?: number | null;
}

/* An input of the data set. */
export interface Shown {
    index: number;
    name?: string | null;
    label?: number | null;
    prediction?: number | null;
    confidence?: number | null;
    score?: number | null; /* of the selector, or the neuron's value */
    picture?: Picture | null;
}

/* Inputs whose label may be wrong, or that are broken: the network is sure of another class. */
export interface LabelSuspects {
    total: number; /* found, not only those in `items` */
    items: LabelSuspect[]; /* most likely first */
    more?: More | null;
    notes?: string[] | null;
}

export interface LabelSuspect extends Shown {
    given?: number | null; /* probability of the label that it has */
}

/* --- lines --- */

export interface Curve {
    title?: string | null;
    x: number[]; /* ascending */
    x_title: string; /* "inputs" */
    y_title: string; /* "covered" */
    y_unit?: Unit | null;
    series: Series[];
}

export interface Series {
    name: string; /* "nss", "random", "ideal" */
    role: "main" | "random" | "ideal" | "other"; /* random and ideal are drawn as references */
    y: (number | null)[]; /* one per x */
    low?: (number | null)[] | null; /* a band around it */
    high?: (number | null)[] | null;
}

/* --- coverage --- */

export interface Coverage {
    definition?: string | null; /* what a neuron is here: "hidden layers, tap post, view chan" */
    inputs?: number | null;
    neurons?: number | null;
    layers?: CoverLayer[] | null;
    criteria: Criterion[];
    growth?: (Curve & { criterion: string })[] | null; /* with a series of role random */
    notes?: string[] | null;
}

export interface CoverLayer {
    name: string;
    kind?: string | null; /* "Conv", "Gemm" */
    neurons?: number | null;
}

export interface Criterion {
    id: string; /* "kmnc" */
    title?: string | null;
    help?: string | null; /* one line */
    settings?: string | null; /* "k=1000" */
    value?: number | null;
    unit?: Unit | null; /* share by default; nlc is real */
    covered?: number | null;
    total?: number | null;
    random?: number | null; /* value of as many random inputs: the baseline */
    seconds?: number | null;
    layers?: (number | null)[] | null; /* value per layer, in the order of Coverage.layers */
}

/* --- selection --- */

export interface Selection {
    selector: string; /* "nss", the one that `top` is of */
    title?: string | null;
    budget: number; /* inputs chosen */
    count: number; /* of so many */
    fault_rate?: number | null; /* share of inputs that it gets wrong; null without labels */
    selectors?: SelectorRow[] | null; /* compared, if there are labels */
    curve?: Curve | null; /* faults found against inputs labelled; series of role random, ideal */
    top: Shown[];
    more?: More | null; /* chosen ones that are not in `top` */
    notes?: string[] | null;
}

export interface SelectorRow {
    id: string;
    title?: string | null;
    fdr?: Record<string, number | null> | null; /* fault detection rate, by budget in percent */
    rauc?: number | null;
    apfd?: number | null;
    seconds?: number | null;
}

/* What is not on the page, and where it is. */
export interface More {
    count: number;
    where?: string | null; /* "demo/selection.csv" */
    command?: string | null; /* that shows them */
}

/* --- findings --- */

export interface Findings {
    total: number; /* found, not only those in `items` */
    close?: number | null; /* of these, how many are close to their originals */
    close_note?: string | null; /* what makes one close */
    methods?: Method[] | null;
    items: Finding[];
    more?: More | null;
    notes?: string[] | null;
}

export interface Method {
    id: string; /* "pgd", "fuzz", "synthesize" */
    title?: string | null;
    help?: string | null;
    tried?: number | null; /* inputs it made */
    found?: number | null; /* that the network gets wrong */
    seconds?: number | null;
    settings?: string | null; /* "eps=8/255 steps=10" */
}

/* What breaks it: kinds of change and how strong, by class. */
export interface Modes {
    rows: Mode[]; /* worst first */
    note?: string | null;
}

/* Over all classes. */
export interface Mode extends ModeCounts {
    mutation: string; /* "rotation" */
    band: number; /* of its strength, from 0 */
    text?: string | null; /* "rotation beyond 40 degrees" */
    cells?: ModeCell[] | null;
}

/* Of one class. */
export interface ModeCell extends ModeCounts {
    label?: number | null;
    ids?: (number | string)[] | null; /* Finding.id, of those on the page */
}

export interface ModeCounts {
    count: number; /* failures */
    tries?: number | null;
    close?: number | null; /* of the failures, those close to their originals */
    rate?: number | null; /* count / tries */
}

export interface Finding {
    id: number | string; /* in the campaign */
    method: string;
    label?: number | null; /* what it shows */
    prediction: number; /* what the network says */
    confidence?: number | null;
    before?: { prediction?: number | null; confidence?: number | null } | null; /* the original */
    original?: Picture | null;
    failing?: Picture | null;
    difference?: Picture | null; /* clip(.5 + 10 rho); without it the page makes it of the two */
    index?: number | null; /* of the original in the data set */
    name?: string | null;
    cluster?: number | null; /* Cluster.id */
    l0?: number | null; /* values changed */
    l2?: number | null; /* in scaled pixel units */
    linf?: number | null;
    similarity?: number | null; /* to the original, 0-1: structural similarity, moves and turns undone */
    inside?: number | null; /* share of the object that is still in the frame */
    close?: boolean | null; /* both are above their thresholds */
    audio?: { original?: string | null; failing?: string | null } | null; /* "data:audio/wav;base64,..." */
    lineage?: Step[] | null; /* from the original to the finding */
    neurons?: NeuronRef[] | null; /* involved in it */
    words?: string | null; /* its decision path, described */
    command?: string | null; /* that replays it */
}

export interface Step {
    what: string; /* "seed", "rotate", "pgd" */
    settings?: string | null; /* "angle=12.5" */
    id?: number | string | null;
    prediction?: number | null;
    confidence?: number | null;
    picture?: Picture | null;
}

export type NeuronRef = [layer: number, unit: number]; /* into Neurons.layers */

/* --- clusters --- */

export interface Clusters {
    method?: string | null; /* "k-medoids of last-encoder activations" */
    items: Cluster[];
    weak?: boolean | null; /* the groups are hardly more alike inside than outside */
    map?: ClusterMap | null;
    notes?: string[] | null;
}

export interface Cluster {
    id: number;
    title?: string | null; /* what most of them share; default: the most frequent label and prediction */
    count: number; /* findings in it, on the page or not */
    label?: number | null; /* most frequent */
    prediction?: number | null;
    share?: number | null; /* of its findings that have this label and prediction */
    medoid?: number | string | null; /* Finding.id */
    words?: string | null; /* what its findings have in common */
    neurons?: NeuronRef[] | null;
}

/* Findings in a plane whose axes mean nothing. */
export interface ClusterMap {
    method?: string | null; /* "t-SNE" */
    points: [x: number, y: number, cluster: number, finding: number | string | null][];
}

/* --- neurons --- */

export interface Neurons {
    definition?: string | null; /* as in Coverage */
    measure?: string | null; /* "ochiai" */
    measure_title?: string | null;
    sensitivity_title?: string | null; /* what `sensitivity` is: "Shapley value" */
    baseline?: number | null; /* the score of a neuron that is always active: the middle of the map's scale */
    uninformative?: { always: number; never: number; few?: number | null } | null; /* neurons that say nothing */
    suspects?: number | null; /* neurons that are; see `Neuron.suspect` */
    layers: NeuronLayer[];
    describer?: string | null; /* "dissect" */
    validation?: string | null; /* of the bank: "measured labels", "validated", "descriptions not validated" */
    validation_note?: string | null; /* the sentence that belongs to it */
    items: Neuron[]; /* those worth a row; layers have the values of all */
    more?: More | null;
    notes?: string[] | null;
}

export interface NeuronLayer {
    name: string;
    kind?: string | null;
    shape?: string | null; /* "16 x 14 x 14" */
    units: number;
    suspiciousness?: (number | null)[] | null; /* per unit; three digits are enough; null: it says nothing */
    activity?: string | null; /* a letter per unit: s sometimes active, a (almost) always, n (almost) never, f on too few inputs */
    sensitivity?: (number | null)[] | null;
}

export interface Neuron {
    layer: number; /* into Neurons.layers */
    unit: number;
    class?: number | null; /* that it is suspicious for; null: pooled */
    suspiciousness?: number | null; /* null may stand for infinite, see `rank` */
    rank?: number | null; /* from 1 */
    baseline?: number | null; /* of its class, if not that of all */
    interval?: [low: number, high: number] | null; /* of the share of wrong answers while it is active, 95% */
    suspect?: boolean | null; /* that share is above the one over all, beyond chance */
    sensitivity?: number | null;
    spectrum?: Spectrum | null;
    inactive?: boolean | null; /* never above its level */
    words?: string | null;
    shared?: { class: string; count: number; of: number } | null; /* the class that most of the inputs that excite it have */
    validation?: string | null; /* if other than the bank's */
    labels?: { label: string; iou?: number | null }[] | null; /* measured, best first */
    top?: (Shown & { mask?: Picture | null })[] | null; /* mask: grey, white where it activates */
}

/* Inputs with the neuron active (a) or not (n), that succeed (s) or fail (f). */
export interface Spectrum {
    as: number;
    af: number;
    ns: number;
    nf: number;
}

/* --- quality --- */

/* Metrics of generated inputs, one column per set of them. */
export interface Quality {
    metrics: QualityMetric[];
    sets: QualitySet[];
    notes?: string[] | null;
}

export interface QualityMetric {
    id: string; /* "acac" */
    title?: string | null;
    definition?: string | null;
    better?: "low" | "high" | null; /* for the network under test */
}

export interface QualitySet {
    name: string; /* a method, or "all" */
    pairs?: number | null;
    values: { value?: number | null; n?: number | null; why?: string | null }[]; /* one per metric; why: it is undefined */
}

/* --- provenance --- */

export interface Provenance {
    command?: string | null; /* that made this report */
    seed?: number | string | null; /* a string if beyond 2^53 */
    seconds?: number | null;
    threads?: number | null;
    versions?: { name: string; version: string }[] | null; /* plexor, oneDNN, ... */
    machine?: string | null;
    hashes?: { what: string; path?: string | null; hash: string }[] | null; /* model, data, bank */
    assumptions?: { name: string; value: string; from?: string | null }[] | null; /* preprocessing */
    files?: { path: string; what: string; bytes?: number | null }[] | null; /* written beside it */
}
