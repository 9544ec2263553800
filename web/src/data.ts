/* web/src/data.ts - what a report is made of: the types of the one JSON object inside the page
 *
 * plexor writes the object (include/plexor/report.h puts it into the page), the page only shows it. Its heart are the
 * results of the stages, each the file FOLDER/STAGE.json as it is; beside them stands what no result has: pictures,
 * recordings, failures of the campaign, values of all neurons, where everything comes from. Rules:
 *
 * - Every part and every key with a question mark may be missing or null; the page then says so instead of showing an
 *   empty chart. A stage without a result says why.
 * - Shares are fractions 0-1. A number that is undefined is null, never 0.
 * - Classes are indices into `classes`, -1 or null is none; `input` is a place in the data as they were read.
 * - Texts are plain text. They are never read as HTML or Markdown.
 * - Pictures are tiles of sprite sheets, see `Sheet`.
 * - Keys may be added; the meaning of those that are here stays. Readers ignore what they do not know. `schema` changes
 *   only when that promise is broken.
 */

export const SCHEMA = "plexor-report/2";

type Maybe<T> = T | null | undefined;

export interface Report {
    schema: typeof SCHEMA;
    title?: string | null; /* default: the model's name */
    created?: string | null; /* ISO 8601, UTC: "2026-03-01T12:00:00Z" */
    version?: string | null; /* of plexor */
    folder?: string | null; /* of the examination, as others may read it */
    model?: { name: string; parameters?: number | null; layers?: number | null; neurons?: number | null } | null;
    data?: Data | null;
    classes?: string[] | null; /* names; without them "class 3" is shown */
    verdict?: "pass" | "fail" | "none" | null; /* none: nothing was asked for that could fail */
    gates?: Gate[] | null;
    stages?: Stage[] | null; /* in the order in which they run */
    results?: Results | null;
    beside?: { eval?: BesideEval | null; localize?: NeuronMap | null; describe?: BesideDescribe | null } | null;
    inputs?: Record<string, Input> | null; /* of the data set, by place: those that are shown */
    failures?: { total: number; items: Finding[] } | null; /* total: found, not only those in `items` */
    doctor?: { findings: DoctorFinding[] } | null; /* FOLDER/doctor.json */
    remarks?: string[] | null; /* of the run */
    provenance?: Provenance | null;
    sheets?: Sheet[] | null;
}

export interface Data {
    name: string; /* the SPEC as given, or a known name */
    split?: string | null;
    count: number; /* inputs that were looked at */
    labelled?: boolean | null; /* false: no labels, the page says what that rules out */
    no_labels?: string | null; /* why */
    recordings?: boolean | null;
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

/* A picture: sheet and tile, both from 0. Of data that are texts, the text. */
export type Picture = [sheet: number, tile: number] | string;

/* An input of the data set. */
export interface Input {
    index: number; /* in the file or folder it is from */
    name?: string | null;
    label?: number | null;
    prediction?: number | null;
    confidence?: number | null;
    picture?: Picture | null;
}

/* --- stages and verdict --- */

export interface Stage {
    id: string; /* "cover" */
    title?: string | null;
    help?: string | null;
    labels?: boolean | null; /* it needs them */
    state: "done" | "kept" | "left out" | "skipped"; /* kept: done by an earlier run */
    why?: string | null; /* it was left out, and what to do */
    command?: string | null; /* that does this part alone */
}

export type Unit = "share" | "count" | "real" | "seconds";

export interface Gate {
    name: string; /* "accuracy", "faults" */
    title?: string | null; /* what it measures */
    unit?: Unit | null;
    relation: ">=" | "<=";
    threshold: number;
    value?: number | null; /* null: was not measured, which does not hold */
    held: boolean;
}

/* --- results: docs/check.md says what the stages do --- */

export interface ResultFile<T> {
    seconds?: number | null;
    result: T;
}

export interface Results {
    profile?: ResultFile<Timed>;
    eval?: ResultFile<Eval>;
    cover?: ResultFile<Cover>;
    select?: ResultFile<Select>;
    localize?: ResultFile<Localize>;
    synthesize?: ResultFile<Synthesize>;
    attack?: ResultFile<Attack>;
    fuzz?: ResultFile<Fuzz>;
    assess?: ResultFile<Assess>;
    describe?: ResultFile<Describe>;
    cluster?: ResultFile<Cluster>;
}

/* What may be in the result of any stage. */
export interface Timed {
    cut_short?: boolean; /* the time for failures was up ... */
    planned?: number; /* ... before so many ... */
    count?: number; /* ... with so many done */
    turns?: number;
}

export interface Eval {
    count: number;
    not_numbers?: number; /* inputs without a prediction */
    accuracy?: number | null;
    interval?: [low: number, high: number]; /* of the accuracy, 95% */
    top5?: number | null;
    loss?: number | null;
    confidence?: number | null; /* mean of the highest probability */
    calibration?: { ece?: number | null; bins: CalibrationBin[] }; /* bins by confidence, ascending */
    per_class?: ClassRow[]; /* in order */
    worst?: { class: number; name: string; accuracy: number };
    confusion?: [label: number, prediction: number, count: number][]; /* cells above 0, largest first */
    confusion_left_out?: number; /* cells above 0 that are not listed: the smallest */
    regression?: Regression | null; /* of a network that gives numbers: accuracy is the share within the tolerance */
    label_suspects?: { total: number; rule: string; items: { input: number; given?: number | null }[] }; /* most likely first */
}

export interface Regression {
    count: number; /* inputs with a target and an answer */
    tolerance: number;
    mae?: number | null;
    rmse?: number | null;
    r2?: number | null;
    bias?: number | null; /* mean of output - target */
    median?: number | null; /* of the errors */
    most?: number | null;
    worst: { input: number; index: number; error: number; output: number; target: number }[]; /* largest errors first */
    pairs: [target: number, output: number][]; /* of some of all inputs */
}

export interface ClassRow {
    class: number;
    predicted: number; /* inputs that were given this class */
    count?: number; /* inputs with this label; the rest too only where there are labels */
    correct?: number;
    accuracy?: number | null;
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

export interface BesideEval {
    mistakes?: number[]; /* inputs it gets wrong, most confident first; where there are label suspects, those are it */
}

export interface Cover {
    definition?: string; /* what a neuron is here: "layers=hidden tap=post neurons=chan ..." */
    inputs: number;
    layer_names?: { name: string; kind: string; neurons: number }[];
    criteria: Criterion[];
    growth_inputs?: number[];
    growth?: (number | null)[][]; /* [criterion][point] */
    random_growth?: (number | null)[][];
}

export interface Criterion {
    id: string; /* "kmnc" */
    title: string;
    settings?: string | null; /* "k=1000" */
    definition?: string | null;
    value?: number | null; /* a share where something is counted */
    covered: number;
    total: number; /* 0: nothing is counted */
    random?: number | null; /* value of as many random inputs: the baseline */
    layers?: (number | null)[]; /* value per layer */
}

export interface Select {
    selector: string; /* "gini" */
    title: string;
    budget: number; /* inputs chosen */
    count: number; /* of so many */
    top: { input: number; score: number }[];
}

export interface Localize {
    measure: string; /* "ochiai" */
    definition: string;
    almost_always_active: number;
    almost_never_active: number;
    suspects: number;
    neurons: Suspect[]; /* over all classes */
    by_class?: Suspect[];
}

/* Inputs with the neuron active (a) or not (n), that succeed (s) or fail (f). */
export interface Spectrum {
    as: number;
    af: number;
    ns: number;
    nf: number;
}

export interface Suspect extends Spectrum {
    class: number | null; /* that it is suspicious for; null: all */
    rank: number; /* from 1 */
    position: number; /* of its layer in the network */
    index: number; /* in its layer */
    score: number | null; /* null: infinite */
    low: number; /* share of wrong answers while it is active, 95% interval */
    high: number;
    suspect: boolean; /* that share is above the one over all, beyond chance */
}

/* All neurons, for the map. */
export interface NeuronMap {
    measure_title?: string | null;
    baseline?: number | null; /* the score of a neuron that is always active: the middle of the map's scale */
    baselines?: Record<string, number | null> | null; /* the same by class */
    layers: NeuronLayer[];
}

export interface NeuronLayer {
    name: string;
    position: number; /* in the network */
    kind?: string | null;
    shape?: string | null; /* "16 x 14 x 14" */
    units: number;
    suspiciousness?: (number | null)[] | null; /* per unit; three digits are enough; null: it says nothing */
    activity?: string | null; /* a letter per unit: s sometimes active, a (almost) always, n (almost) never, f on too few inputs */
}

export interface Synthesize extends Timed {
    measure: string;
    k: number;
    step: number;
    distance: number;
    definition: string;
    count: number;
    faults: number;
}

export interface Attack extends Timed {
    space?: "input" | "embedding"; /* where inputs are moved: of texts, the vectors of their tokens */
    nearest_faults?: number; /* of these: texts of the nearest tokens that fail too */
    method: string;
    norm: string;
    eps: number;
    steps: number;
    count: number;
    faults: number;
    robust_accuracy?: number | null;
    range?: [number, number] | null; /* which values an input may have */
}

export interface Fuzz extends Timed {
    policy: string;
    guide: string;
    definition: string;
    turns: number;
    executions: number;
    unique_faults: number;
    modes: Mode[]; /* worst first */
}

export interface ModeCounts {
    count: number; /* failures */
    tries: number;
    close: number; /* of the failures, those close to their originals */
    rate?: number | null; /* count / tries */
}

/* A kind of change and how strong, over all classes. */
export interface Mode extends ModeCounts {
    mutation: string; /* "rotation" */
    band: number; /* of its strength, from 0 */
    text: string; /* "rotation beyond 40 degrees" */
    cells: (ModeCounts & { label: number })[]; /* by class */
}

export interface Assess {
    close_faults: number;
    sets: { name: string; pairs: number; values: Metric[] }[]; /* of each way of making failures */
}

export interface Metric {
    id: string; /* "acac" */
    title: string;
    definition: string;
    value?: number | null;
    n: number; /* pairs that it is the mean of */
    why?: string | null; /* it is undefined */
}

export interface Describe {
    describer?: string; /* "dissect" */
    validation?: string; /* of the bank: "measured labels", "validated", "descriptions not validated" */
    sentences?: string[];
    wordless?: string; /* why there are no words */
    inputs: number; /* that were looked at */
    neurons: Described[];
}

export interface Described {
    position: number;
    index: number;
    inactive?: boolean; /* never above its level */
    words?: string;
    shared?: { class: string; count: number; of: number }; /* the class that most of the inputs that excite it have */
    labels?: { label: string; iou: number }[]; /* measured, best first */
    top: { input: number; value: number }[]; /* inputs that excite it most */
}

export interface BesideDescribe {
    masks?: (Picture | null)[][] | null; /* [neuron][top]: grey, white where it activates */
}

export interface Cluster {
    definition: string;
    failures: number;
    k: number;
    silhouette?: number | null;
    weak: boolean; /* the groups are hardly more alike inside than outside */
    clusters: ClusterRow[]; /* largest first */
    points: ClusterPoint[];
}

export interface ClusterRow {
    id: number;
    title?: string; /* what most of them share; default: the most frequent label and prediction */
    count: number; /* failures in it, on the page or not */
    label: number; /* most frequent */
    prediction: number;
    share?: number | null; /* of its failures that have this label and prediction */
    medoid_method?: string; /* "data": an input of the data */
    medoid?: number;
}

/* Method ("right" and "data" are of the data set), id (of the campaign, else an input), cluster (-1: none), classes, place. */
export type ClusterPoint = [method: string, id: number, cluster: number, label: number, prediction: number, x: number | null, y: number | null];

/* --- failures --- */

export interface Finding {
    id: number; /* in the campaign */
    method: string; /* the stage that made it */
    label?: number | null; /* what it shows */
    prediction: number; /* what the network says */
    confidence?: number | null;
    before?: { prediction?: number | null; confidence?: number | null } | null; /* the original */
    original?: Picture | null;
    failing?: Picture | null;
    index?: number | null; /* of the original in the data set */
    name?: string | null;
    l0?: number | null; /* values changed */
    l2?: number | null; /* in scaled pixel units */
    linf?: number | null;
    similarity?: number | null; /* to the original, 0-1: structural similarity, moves and turns undone */
    inside?: number | null; /* share of the object that is still in the frame */
    close?: boolean | null; /* both are above their thresholds */
    chain?: string[] | Record<string, unknown> | null; /* how it was made: mutations one after the other, or an engine's settings */
    mutation?: string | null; /* the last one, and its strength: the failure mode that counts it */
    band?: number | null;
    audio?: { original?: string | null; failing?: string | null } | null; /* "data:audio/wav;base64,..." */
}

/* --- the rest --- */

export interface DoctorFinding {
    id: string; /* "preprocess", "classes" */
    level: "error" | "warning" | "info";
    sentence: string;
    advice?: string | null;
    count?: number | null; /* inputs that it is about */
    inputs?: string[] | null; /* the names of some of them */
}

export interface Provenance {
    command?: string | null; /* that made this report */
    seed?: number | string | null; /* a string if beyond 2^53 */
    threads?: number | null;
    hashes?: { what: string; path?: string | null; hash: string }[] | null; /* model, data */
    assumptions?: { name: string; value: string; from?: string | null }[] | null; /* preprocessing */
    files?: { path: string; what: string }[] | null; /* written beside it */
}

/* --- what the page itself makes of them --- */

/* Lines over the same x. */
export interface Curve {
    x: number[]; /* ascending */
    x_title: string; /* "inputs" */
    y_title: string; /* "covered" */
    y_unit?: Unit | null;
    series: Series[];
}

export interface Series {
    name: string; /* "the data", "random pictures" */
    role: "main" | "random"; /* random is drawn as a reference */
    y: (number | null)[]; /* one per x */
}

/* A row of the table of neurons: a suspect of all or one class, and what is known of its neuron. */
export interface Neuron {
    layer: number; /* into NeuronMap.layers */
    unit: number;
    suspect?: Suspect;
    described?: Described;
    masks?: Maybe<(Picture | null)[]>; /* of Described.top */
    score?: number | null; /* of a neuron without a row: the map's */
}

export type NeuronRef = [layer: number, unit: number]; /* into NeuronMap.layers */

/* What is not on the page, and where it is. */
export interface More {
    count: number;
    where?: string; /* "demo/selection.csv" */
    command?: string; /* that shows them */
}
