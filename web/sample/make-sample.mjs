/* web/sample/make-sample.mjs - an invented report, for development and tests
 *
 *     node sample/make-sample.mjs [--findings N] [--unlabelled] [--hostile] [--bare] [-o FILE]
 *
 * Nothing in it was measured; the page says so. The same options give the same bytes.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { attacked, blob, brightened, CLASSES, garment, random, SIDE } from "./garments.mjs";
import { SheetMaker } from "./sheet.mjs";

const PAIRS = [[6, 0, 9], [0, 6, 7], [2, 4, 8], [4, 2, 6], [6, 4, 5], [3, 4, 3], [7, 9, 4], [5, 7, 4], [9, 7, 3], [2, 6, 5]];
const LAYERS = [
    { name: "conv1/Relu", kind: "Conv", shape: "6 x 28 x 28", units: 6 },
    { name: "conv2/Relu", kind: "Conv", shape: "16 x 14 x 14", units: 16 },
    { name: "fc1/Relu", kind: "Gemm", shape: "120", units: 120 },
    { name: "fc2/Relu", kind: "Gemm", shape: "84", units: 84 },
];
const WORDS = ["long sleeves at the sides", "dark vertical line in the middle", "bright collar", "edge of a sole, lower left", "horizontal stripes", "wide bright area", "narrow shape, upper half", "gap between two legs", "handle above a box", "soft lower border"];
const METHODS = ["attack", "synthesize", "fuzz"];
const digits = (value, n = 3) => Number(value.toPrecision(n));
const shares = (value) => Number(value.toFixed(4));

/* Inputs of the data set that results name by their place. */
class Inputs {
    constructor() {
        this.all = {};
    }
    add(index, label, prediction, confidence, picture, name = `t10k/${index}.png`) {
        this.all[index] = { index, name, label, prediction, confidence, picture };
        return index;
    }
}

function evaluation(draw, sheet, inputs, labelled) {
    const confusion = [],
        per_class = [];
    for (let c = 0; c < 10; c++) {
        const row = new Array(10).fill(0);
        row[c] = 100;
        for (const [a, b, n] of PAIRS)
            if (a === c) {
                row[b] += n;
                row[c] -= n;
            }
        row.forEach((n, p) => n > 0 && confusion.push([c, p, n]));
        per_class.push({ class: c, name: CLASSES[c], count: 100, correct: row[c], accuracy: row[c] / 100, confidence: shares(0.86 + draw() * 0.12) });
    }
    for (const row of per_class) {
        row.predicted = confusion.filter(([, p]) => p === row.class).reduce((sum, [, , n]) => sum + n, 0);
        row.precision = shares(row.correct / row.predicted);
    }
    const right = per_class.reduce((sum, row) => sum + row.correct, 0);
    const counts = [0, 0, 2, 9, 21, 34, 47, 66, 118, 703];
    const bins = counts.map((count, i) => ({ low: i / 10, high: (i + 1) / 10, count, confidence: count ? shares(i / 10 + 0.055) : null, accuracy: count ? shares(Math.max(0, i / 10 + 0.02 - 0.004 * (9 - i))) : null }));
    const base = { count: 1000, not_numbers: 0, confidence: 0.931 };
    if (!labelled) return { ...base, per_class: per_class.map(({ class: c, name, predicted }) => ({ class: c, name, predicted })) };
    const items = PAIRS.slice(0, 6).map(([label, prediction], i) => {
        const input = inputs.add(12 + i * 77, label, prediction, shares(0.999 - i * 0.004), sheet.add(garment(prediction, 600 + i)), `test/${CLASSES[label].toLowerCase().replace(/\W+/g, "-")}/${12 + i * 77}.png`);
        return { input, given: shares(0.0004 + i * 0.0009) };
    });
    items.push({ input: 990, given: 0.01 }, { input: 991, given: 0.02 }); /* not on the page */
    const label_suspects = { total: 8, rule: "The threshold of a class is the network's mean confidence on inputs of that class that have its label.", items };
    return { ...base, accuracy: right / 1000, interval: [0.926, 0.9572], loss: 0.2214, calibration: { ece: 0.0287, bins }, per_class, worst: { class: 6, name: "Shirt", accuracy: 0.77 }, confusion, confusion_left_out: 0, label_suspects };
}

function cover() {
    const growth_inputs = Array.from({ length: 40 }, (_, i) => (i + 1) * 25);
    const grow = (most, pace) => growth_inputs.map((n) => shares(most * (1 - Math.exp(-n / pace))));
    const criteria = [
        { id: "kmnc", title: "k-multisection neuron coverage", settings: "k=1000", value: 0.6123, covered: 138380, total: 226000, random: 0.2871, layers: [0.83, 0.78, 0.61, 0.57] },
        { id: "nbc", title: "neuron boundary coverage", value: 0.1217, covered: 55, total: 452, random: 0.4137, layers: [0.33, 0.25, 0.12, 0.08] },
        { id: "tknc", title: "top-k neuron coverage", settings: "k=10", value: 0.9159, covered: 207, total: 226, random: 0.7434, layers: [1, 1, 0.93, 0.87] },
        { id: "nlc", title: "layer-wise distribution coverage", value: 412.7, covered: 0, total: 0, random: 91.3 },
    ];
    return {
        definition: "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons", inputs: 1000, layer_names: LAYERS.map(({ name, kind, units }) => ({ name, kind, neurons: units })),
        criteria, growth_inputs, growth: [grow(0.64, 320), grow(0.13, 200), grow(0.92, 90), grow(430, 300)], random_growth: [grow(0.29, 80), grow(0.42, 60), grow(0.745, 60), grow(92, 120)],
    };
}

function select(draw, sheet, inputs, labelled) {
    const top = Array.from({ length: 24 }, (_, i) => {
        const [label, prediction] = PAIRS[i % 10];
        const wrong = draw() < 0.45;
        const picture = sheet.add(garment(label, 700 + i));
        return { input: labelled ? i : inputs.add((i * 137 + 11) % 1000, null, wrong ? prediction : label, shares(0.36 + draw() * 0.4), picture), score: digits(0.98 - i * 0.011) };
    });
    return { selector: "gini", title: "DeepGini", budget: 50, count: 1000, top };
}

function failures(draw, sheet, wanted) {
    const distinct = Math.min(wanted, 420);
    const base = Array.from({ length: distinct }, (_, i) => {
        const [label, prediction] = PAIRS[Math.floor(draw() * draw() * PAIRS.length)];
        const method = METHODS[Math.floor(draw() * 3)];
        const seed = 1000 + Math.floor(draw() * 120);
        const original = garment(label, seed);
        let failing, how;
        if (method === "fuzz") {
            const angle = (draw() - 0.5) * 0.7,
                dx = (draw() - 0.5) * 0.16;
            const turned = digits((angle * 180) / Math.PI);
            failing = brightened(garment(label, seed, { angle, dx }), Math.round(draw() * 60 - 20));
            how = { chain: [`translate x=${digits(dx * SIDE)}`, "brightness by=0.12", `rotation angle=${turned}`], mutation: "rotation", band: Math.min(2, Math.floor(Math.abs(turned) / 10)) };
        } else {
            failing = attacked(original, seed + i, method === "attack" ? 8 : 20);
            how = { chain: method === "attack" ? { method: "pgd", norm: "linf", eps: 8 / 255, steps: 20 } : { engine: "synthesize", step: 0.1, distance: 0.1 } };
        }
        const changes = failing.map((value, k) => Math.abs(value - original[k]));
        const item = {
            method, label, prediction, confidence: shares(0.4 + draw() * 0.59), before: { prediction: label, confidence: shares(0.8 + draw() * 0.19) }, original: sheet.add(original), failing: sheet.add(failing),
            index: seed, name: `t10k/${seed}.png`, similarity: shares(method === "fuzz" ? 0.45 + draw() * 0.5 : 0.86 + draw() * 0.13), inside: shares(method === "fuzz" ? 0.7 + draw() * 0.3 : 1),
            l0: changes.filter((v) => v > 0).length, l2: digits(Math.sqrt(changes.reduce((sum, v) => sum + (v / 255) ** 2, 0))), linf: digits(Math.max(...changes) / 255), ...how,
        };
        return { ...item, close: item.similarity >= 0.75 && item.inside >= 0.8 };
    });
    const items = Array.from({ length: wanted }, (_, i) => ({ id: i + 1, ...base[i % distinct] }));
    return { total: wanted + (wanted > 1000 ? 0 : 183), items };
}

const made = ({ items }, method, more) => items.filter((item) => item.method === method).length + more;

/* Mutations in bands of strength, by class. */
function fuzz(found) {
    const modes = ["rotation up to 10 degrees", "rotation of 10 to 20 degrees", "rotation beyond 20 degrees"].map((text, band) => {
        const mine = found.items.filter((item) => item.mutation === "rotation" && item.band === band);
        const counts = (some, tries) => ({ count: some.length, tries, close: some.filter((item) => item.close).length, rate: shares(Math.min(1, some.length / tries)) });
        return { mutation: "rotation", band, text, ...counts(mine, 800), cells: Array.from({ length: 10 }, (_, label) => ({ label, ...counts(mine.filter((item) => item.label === label), 80) })) };
    });
    return { policy: "deephunter", guide: "kmnc", definition: "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons", turns: 380, planned: 600, cut_short: true, executions: Math.max(6240, found.items.length), unique_faults: made(found, "fuzz", 61), modes };
}

function attack(found) {
    return { method: "pgd", norm: "linf", eps: 8 / 255, steps: 20, count: Math.max(500, found.items.length), planned: 500, cut_short: false, faults: made(found, "attack", 61), robust_accuracy: 0.412 };
}

function synthesize(found) {
    return { measure: "ochiai", k: 10, step: 0.1, distance: 0.1, definition: "layers=fc1 tap=pre", count: Math.max(500, found.items.length), planned: 500, cut_short: false, faults: made(found, "synthesize", 61) };
}

function cluster(draw, found) {
    const groups = new Map();
    for (const item of found.items) {
        const id = PAIRS.findIndex(([a, b]) => a === item.label && b === item.prediction) % 6;
        groups.set(id, [...(groups.get(id) ?? []), item]);
    }
    const centre = (id) => [Math.cos(id * 1.05) * 10, Math.sin(id * 1.05) * 7];
    const clusters = [...groups].map(([id, mine]) => {
        const [label, prediction] = PAIRS[id];
        const share = shares(mine.filter((item) => item.label === label).length / mine.length);
        return { id, title: `${CLASSES[label]}: rotation, mostly taken for ${CLASSES[prediction]} (${Math.round(100 * share)}%)`, count: mine.length, label, prediction, share, medoid_method: "fuzz", medoid: mine[Math.floor(mine.length / 3)].id };
    });
    const points = [...groups].flatMap(([id, mine]) => mine.map((item) => [item.method, item.id, id, item.label, item.prediction, ...centre(id).map((c) => digits(c + (draw() + draw() + draw() - 1.5) * 3, 4))]));
    points.push(["right", 3, -1, 0, 0, 1.5, 2.5], ["data", 4, 0, 6, 0, null, null]); /* of the data set, and one without a place */
    return { definition: "layers=last-hidden tap=post neurons=chan: 1 layer, 84 neurons", failures: found.items.length, k: clusters.length, silhouette: 0.31, weak: false, clusters, points };
}

/* The 95% interval of a share. */
function wilson(part, all) {
    const z = 1.96,
        p = part / all,
        middle = (p + (z * z) / (2 * all)) / (1 + (z * z) / all),
        half = (z / (1 + (z * z) / all)) * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all));
    return [shares(Math.max(0, middle - half)), shares(middle + half)];
}

/* localize, describe, and what stands beside them. */
function neurons(draw, sheet, masks, inputs) {
    /* In the first layers most are always active, as in real networks. */
    const activity = (l, unit) => (l < 2 && unit % 3 > 0 ? "a" : l === 3 && unit % 29 === 28 ? "n" : l === 2 && unit % 40 === 39 ? "f" : "s");
    const layers = LAYERS.map((layer, l) => ({ ...layer, position: 2 * l + 1, activity: Array.from({ length: layer.units }, (_, unit) => activity(l, unit)).join(""), suspiciousness: Array.from({ length: layer.units }, (_, unit) => (activity(l, unit) === "s" ? digits(draw() ** 3 * 0.62) : null)) }));
    const suspects = [],
        described = [],
        pictures = [];
    layers.forEach((layer, l) => {
        for (let unit = 0; unit < layer.units; unit++) {
            if (activity(l, unit) !== "s") continue;
            const inactive = l === 3 && unit % 29 === 27;
            const af = Math.round(layer.suspiciousness[unit] * 58),
                as = Math.round(200 + draw() * 500);
            const [low, high] = wilson(af, af + as);
            suspects.push({ class: null, layer: layer.name, position: layer.position, index: unit, score: layer.suspiciousness[unit], as, af, ns: 942 - as, nf: 58 - af, low, high, suspect: low > 0.058 });
            const words = inactive ? {} : unit % 4 === 3 ? { shared: { class: CLASSES[unit % 10], count: 4 + (unit % 9), of: 15 } } : { words: WORDS[(l * 7 + unit * 3) % WORDS.length] };
            const top = inactive ? [] : Array.from({ length: 5 }, (_, k) => {
                const label = (unit + k) % 10;
                return { input: inputs.add(400 + ((unit * 31 + k * 7 + l) % 500), label, label, 0.9, sheet.add(garment(label, 1100 + ((unit + k) % 12)))), value: digits(4 - k * 0.3) };
            });
            described.push({ position: layer.position, index: unit, inactive, ...words, labels: [{ label: "stripes", iou: digits(draw() * 0.2) }, { label: "dark line", iou: digits(draw() * 0.1) }], top });
            pictures.push(top.map((_, k) => masks.add(blob((unit * 5 + k) % 60))));
        }
    });
    const silent = (letter) => layers.reduce((sum, layer) => sum + [...layer.activity].filter((one) => one === letter).length, 0);
    suspects.sort((a, b) => b.score - a.score).forEach((item, i) => (item.rank = i + 1));
    const definition = "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons";
    return {
        localize: { measure: "ochiai", definition, almost_always_active: silent("a"), almost_never_active: silent("n"), suspects: suspects.filter((item) => item.suspect).length, neurons: suspects, by_class: [] },
        describe: { describer: "dissect", validation: "measured labels", sentences: ["Labels are the concepts whose areas overlap most with where the neuron is active; no language model is involved."], inputs: 1000, neurons: described },
        map: { measure_title: "Suspiciousness", baseline: digits(Math.sqrt(0.058)), baselines: {}, layers },
        masks: pictures,
    };
}

function assess(found) {
    const metrics = [["acac", "Confidence of the wrong class"], ["actc", "Confidence of the true class"], ["ald_2", "Mean L2 distortion"], ["ass", "Structural similarity"], ["rgb", "Robust to Gaussian blur"]];
    const set = (name, pairs, values) => ({ name, pairs, values: metrics.map(([id, title], i) => ({ id, title, definition: title, ...(values[i] === null ? { value: null, n: 0, why: "needs pairs of one shape" } : { value: values[i], n: pairs }) })) });
    return { close_faults: found.items.filter((item) => item.close).length + (found.total - found.items.length), sets: [set("synthesize", 135, [0.64, 0.19, 1.83, 0.88, 0.66]), set("attack", 300, [0.71, 0.14, 1.12, 0.93, 0.58]), set("fuzz", 300, [0.69, 0.17, 5.4, 0.41, null])] };
}

function doctor() {
    return {
        findings: [
            { id: "preprocess", level: "warning", sentence: "mean and std are defaults, and one class takes 41% of the answers", advice: "with --preprocess fashion-mnist accuracy on 200 inputs is 91% instead of 62%" },
            { id: "damaged", level: "error", sentence: "3 files cannot be read", count: 3, inputs: ["test/coat/0007.png", "test/bag/0101.png"] },
            { id: "sizes", level: "info", sentence: "10 of 1,000 pictures were resized from 64 x 48", count: 10 },
        ],
    };
}

function provenance() {
    return {
        command: "plexor check demo/lenet5.onnx --data fashion-mnist --limit 1000 --minutes 1 -o demo", seed: "1", threads: 2,
        hashes: [{ what: "model", path: "demo/lenet5.onnx", hash: "4f1d2a90c35be778" }, { what: "data", path: "fashion-mnist", hash: "9be02c11a47f3d60" }],
        assumptions: [{ name: "scale", value: "1/255", from: "8-bit data" }, { name: "mean", value: "0", from: "default" }, { name: "std", value: "1", from: "default" }],
        files: [{ path: "demo/campaign/", what: "all findings: for plexor replay, export and assess" }, { path: "demo/selection.csv", what: "the inputs to label" }],
    };
}

function stages(without) {
    const list = [["profile", "Profile"], ["eval", "Evaluation"], ["cover", "Coverage"], ["select", "Selection"], ["localize", "Suspicious neurons"], ["synthesize", "DeepFault synthesis"], ["attack", "PGD attack"], ["fuzz", "Fuzzing"], ["assess", "Quality of failures"], ["describe", "What neurons respond to"], ["cluster", "Kinds of failures"]];
    return list.map(([id, title]) => (without(id) ? { id, title, state: "left out", why: `${id} could not be: no labels` } : { id, title, state: "done", command: `plexor ${id} demo/lenet5.onnx --data fashion-mnist --limit 1000 --seed 1` }));
}

/* Names as an attacker would choose them: the page must show them and do nothing else. */
function poison(report) {
    const evil = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "javascript:window.hacked=1", "\"'><svg onload=window.hacked=1>", "<!--<script>", "{{constructor.constructor('window.hacked=1')()}}", "\u202eevil\u202c", "&lt;b&gt;", "a".repeat(300), "line\u2028separator"];
    const result = (id) => report.results[id].result;
    report.classes = evil;
    report.title = evil[0];
    report.model.name = evil[1];
    report.folder = evil[1];
    report.provenance.command = evil[0];
    report.failures.items.forEach((item, i) => Object.assign(item, { name: evil[i % 10], chain: i % 2 ? [evil[(i + 1) % 10]] : { [evil[2]]: evil[i % 10], method: evil[(i + 3) % 10] } }));
    result("describe").neurons.forEach((item, i) => Object.assign(item, { words: evil[i % 10] }, item.shared ? { shared: { ...item.shared, class: evil[1] } } : {}));
    report.beside.localize.layers.forEach((layer, i) => (layer.name = evil[i]));
    report.remarks = evil;
    result("fuzz").modes.forEach((mode, i) => Object.assign(mode, { mutation: evil[i], text: evil[5 + i] }));
    report.failures.items.slice(0, 4).forEach((item) => (item.audio = { original: evil[2], failing: "data:text/html,<script>window.hacked=1</script>" }));
    result("cluster").clusters.forEach((item, i) => (item.title = evil[i % 10]));
    result("eval").worst.name = evil[1];
    report.stages.forEach((stage, i) => (stage.command = evil[i % 10]));
    report.doctor.findings.forEach((item, i) => Object.assign(item, { sentence: evil[i], advice: evil[i + 3], inputs: evil }));
    Object.values(report.inputs).forEach((input, i) => (input.name = evil[i % 10]));
    return report;
}

/* As of a network with very many classes. */
function crowded(report, many) {
    const result = report.results.eval.result;
    report.classes = Array.from({ length: many }, (_, i) => `species ${i}`);
    result.per_class = report.classes.map((name, i) => ({ class: i, name, predicted: 2, count: 3, correct: i % 3, accuracy: shares((i % 3) / 3), precision: 0.5, confidence: 0.4 }));
    result.confusion = Array.from({ length: 4000 }, (_, i) => [(i * 5) % many, (i * 5 + (i % 4)) % many, i % 9 === 0 ? 2 : 1]);
    result.confusion_left_out = many - 4000;
    return report;
}

/* A second of a tone, 8 kHz, 16 bits. */
function tone(pitch) {
    const wav = Buffer.alloc(44 + 16000);
    wav.write("RIFF", 0);
    wav.writeUInt32LE(36 + 16000, 4);
    wav.write("WAVEfmt ", 8);
    wav.writeUInt32LE(16, 16);
    wav.writeUInt16LE(1, 20);
    wav.writeUInt16LE(1, 22);
    wav.writeUInt32LE(8000, 24);
    wav.writeUInt32LE(16000, 28);
    wav.writeUInt16LE(2, 32);
    wav.writeUInt16LE(16, 34);
    wav.write("data", 36);
    wav.writeUInt32LE(16000, 40);
    for (let i = 0; i < 8000; i++) wav.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * pitch * i) / 8000)), 44 + 2 * i);
    return `data:audio/wav;base64,${wav.toString("base64")}`;
}

/* Some failures are recordings that can be heard, some have neither picture nor sound. */
function recorded(report) {
    report.data.recordings = true;
    report.failures.items.forEach((item, i) => {
        if (i < 6) item.audio = { original: tone(300 + 40 * i), failing: tone(320 + 40 * i) };
        else if (i < 12) item.original = item.failing = null;
    });
    return report;
}

/* Data are texts: they stand where pictures would. */
function worded(report) {
    Object.values(report.inputs).forEach((input, i) => (input.picture = `the ${i}th of many texts <b>about</b> shirts`));
    for (const finding of report.failures.items) {
        finding.original = "a coat of many plain colours";
        finding.failing = `a coat of few plain shades ${finding.id}`;
    }
}

/* The network gives numbers. */
function numbered(report) {
    const { accuracy, interval, count } = report.results.eval.result;
    const pairs = Array.from({ length: 200 }, (_, i) => [i / 100 - 1, i / 100 - 1 + (i % 20 === 7 ? 0.3 : 0.02 * Math.sin(i))]);
    const worst = Object.keys(report.inputs).slice(0, 3).map((input, i) => ({ input: Number(input), index: Number(input), error: 0.3 - 0.01 * i, output: 0.5, target: 0.2 + 0.01 * i }));
    report.results.eval.result = { count, accuracy, interval, regression: { count, tolerance: 0.1, mae: 0.0123, rmse: 0.02, r2: 0.98, bias: 0.001, median: 0.011, most: 0.3, worst, pairs } };
}

export function makeSample({ findings: wanted = 240, unlabelled = false, hostile = false, bare = false, audio = false, texts = false, numbers = false, classes = 10 } = {}) {
    const draw = random(7);
    const sheet = new SheetMaker(0, SIDE, SIDE),
        masks = new SheetMaker(1, SIDE, SIDE),
        inputs = new Inputs();
    const report = {
        schema: "plexor-report/2",
        title: "LeNet-5 on Fashion-MNIST (invented sample)",
        created: "2026-01-31T09:30:00Z",
        version: "0.1.0",
        folder: "demo",
        model: { name: "lenet5.onnx", parameters: 107786, layers: 4, neurons: 226 },
        data: { name: "fashion-mnist", split: "test", count: 1000, labelled: !unlabelled },
        classes: CLASSES,
    };
    if (bare) return { ...report, stages: stages(() => true) };
    const found = failures(draw, sheet, wanted);
    const results = { profile: { count: 1000 }, eval: evaluation(draw, sheet, inputs, !unlabelled), cover: cover(), select: select(draw, sheet, inputs, !unlabelled), synthesize: synthesize(found), attack: attack(found), fuzz: fuzz(found), assess: assess(found), cluster: cluster(draw, found) };
    report.beside = { eval: unlabelled ? {} : { mistakes: results.eval.label_suspects.items.slice(0, 6).map((item) => item.input) } };
    if (unlabelled) {
        report.data.no_labels = "'fashion-mnist' has no labels";
        report.verdict = "none";
        report.gates = [];
    } else {
        const { localize, describe, map, masks: tiles } = neurons(draw, sheet, masks, inputs);
        Object.assign(results, { localize, describe });
        Object.assign(report.beside, { localize: map, describe: { masks: tiles } });
        report.verdict = "fail";
        report.gates = [
            { name: "accuracy", title: "Accuracy", unit: "share", relation: ">=", threshold: 0.9, value: 0.942, held: true },
            { name: "ece", title: "Calibration error", unit: "share", relation: "<=", threshold: 0.05, value: 0.0287, held: true },
            { name: "faults", title: "Failures found", unit: "count", relation: "<=", threshold: 100, value: found.total, held: false },
        ];
    }
    report.stages = stages((id) => unlabelled && (id === "localize" || id === "describe"));
    report.results = Object.fromEntries(Object.entries(results).map(([id, result], i) => [id, { stage: id, key: "0", seconds: digits(0.3 + 1.7 * i), result }]));
    Object.assign(report, { inputs: inputs.all, failures: found, doctor: doctor(), remarks: ["the data have 9 classes and the network 10: fewer is fine"], provenance: provenance(), sheets: [sheet.object(), masks.object()] });
    if (audio) recorded(report);
    if (texts) worded(report);
    if (numbers) numbered(report);
    if (classes > 10) crowded(report, classes);
    return hostile ? poison(report) : report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const words = process.argv.slice(2);
    const after = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
    const path = after("-o") ?? fileURLToPath(new URL("sample.json", import.meta.url));
    const report = makeSample({ findings: Number(after("--findings") ?? 240), unlabelled: words.includes("--unlabelled"), hostile: words.includes("--hostile"), bare: words.includes("--bare") });
    writeFileSync(path, JSON.stringify(report));
}
