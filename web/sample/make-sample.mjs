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
const METHODS = [
    { id: "pgd", title: "PGD attack", tried: 1000, found: 0, seconds: 4.1, settings: "eps=8/255 steps=10" },
    { id: "synthesize", title: "DeepFault synthesis", tried: 500, found: 0, seconds: 2.7, settings: "step=0.1 distance=0.1" },
    { id: "fuzz", title: "Fuzzing (NLC)", tried: 6240, found: 0, seconds: 18.4, settings: "policy=nlc guide=nlc" },
];
const digits = (value, n = 3) => Number(value.toPrecision(n));
const shares = (value) => Number(value.toFixed(4));

function evaluation(draw, sheet) {
    const confusion = [],
        perClass = [];
    for (let c = 0; c < 10; c++) {
        const row = new Array(10).fill(0);
        row[c] = 100;
        for (const [a, b, n] of PAIRS)
            if (a === c) {
                row[b] += n;
                row[c] -= n;
            }
        row.forEach((n, p) => n > 0 && confusion.push([c, p, n]));
        perClass.push({ class: c, count: 100, correct: row[c], recall: row[c] / 100, confidence: shares(0.86 + draw() * 0.12) });
    }
    for (const row of perClass) {
        row.predicted = confusion.filter(([, p]) => p === row.class).reduce((sum, [, , n]) => sum + n, 0);
        row.precision = shares(row.correct / row.predicted);
    }
    const right = perClass.reduce((sum, row) => sum + row.correct, 0);
    const counts = [0, 0, 2, 9, 21, 34, 47, 66, 118, 703];
    const calibration = counts.map((count, i) => ({ low: i / 10, high: (i + 1) / 10, count, confidence: count ? shares(i / 10 + 0.055) : null, accuracy: count ? shares(Math.max(0, i / 10 + 0.02 - 0.004 * (9 - i))) : null }));
    const wrong = PAIRS.slice(0, 9).map(([label, prediction], i) => ({ index: 37 + i * 91, name: `t10k/${37 + i * 91}`, label, prediction, confidence: shares(0.99 - i * 0.013), picture: sheet.add(garment(label, 400 + i)) }));
    const items = PAIRS.slice(0, 6).map(([label, prediction], i) => ({ index: 12 + i * 77, name: `test/${CLASSES[label].toLowerCase().replace(/\W+/g, "-")}/${12 + i * 77}.png`, label, prediction, confidence: shares(0.999 - i * 0.004), given: shares(0.0004 + i * 0.0009), picture: sheet.add(garment(prediction, 600 + i)) }));
    const suspects = { total: 8, items, more: { count: 2, command: "plexor check demo/lenet5.onnx --data fashion-mnist --only eval --json" }, notes: ["The threshold of a class is the network's mean confidence on inputs of that class that have its label."] };
    return { robust: { accuracy: 0.412, count: 500, settings: "pgd, eps 8/255" }, label_suspects: suspects, count: 1000, accuracy: right / 1000, interval: [0.926, 0.9572], loss: 0.2214, confidence: 0.931, ece: 0.0287, per_class: perClass, calibration, confusion, wrong };
}

function coverage(draw) {
    const x = Array.from({ length: 40 }, (_, i) => (i + 1) * 25);
    const grow = (most, pace) => x.map((n) => shares(most * (1 - Math.exp(-n / pace))));
    const criteria = [
        { id: "nlc", title: "NLC", help: "layer-wise covariance of neuron values", value: 412.7, unit: "real", random: 91.3, seconds: 0.8 },
        { id: "kmnc", title: "KMNC", settings: "k=1000", help: "k-multisection neuron coverage", value: 0.6123, covered: 138380, total: 226000, random: 0.2871, seconds: 0.6, layers: [0.83, 0.78, 0.61, 0.57] },
        { id: "nbc", title: "NBC", help: "neuron boundary coverage", value: 0.1217, covered: 55, total: 452, random: 0.4137, seconds: 0.4, layers: [0.33, 0.25, 0.12, 0.08] },
        { id: "tknc", title: "TKNC", settings: "k=10", help: "top-k neuron coverage", value: 0.9159, covered: 207, total: 226, random: 0.7434, seconds: 0.4, layers: [1, 1, 0.93, 0.87] },
    ];
    const curve = (criterion, most, pace, low, lowPace, unit) => ({
        criterion, x, x_title: "inputs", y_title: unit === "real" ? "value" : "covered", y_unit: unit,
        series: [
            { name: "test set", role: "main", y: grow(most, pace) },
            { name: "random inputs", role: "random", y: grow(low, lowPace), low: grow(low * 0.94, lowPace), high: grow(low * 1.06, lowPace) },
        ],
    });
    void draw;
    return {
        definition: "hidden layers, tap post, view chan", inputs: 1000, neurons: 226,
        layers: LAYERS.map(({ name, kind, units }) => ({ name, kind, neurons: units })), criteria,
        growth: [curve("kmnc", 0.64, 320, 0.29, 80, "share"), curve("tknc", 0.92, 90, 0.745, 60, "share"), curve("nlc", 430, 300, 92, 120, "real")],
    };
}

function selection(draw, sheet, labelled) {
    const faults = 58,
        x = Array.from({ length: 51 }, (_, i) => i * 20);
    const curve = {
        x, x_title: "inputs labelled", y_title: "faults found", y_unit: "count",
        series: [
            { name: "nss", role: "main", y: x.map((n) => Math.round(faults * (1 - Math.exp(-n / 150)) / (1 - Math.exp(-1000 / 150)))) },
            { name: "gini", role: "other", y: x.map((n) => Math.round(faults * (1 - Math.exp(-n / 190)) / (1 - Math.exp(-1000 / 190)))) },
            { name: "random", role: "random", y: x.map((n) => digits((faults * n) / 1000)) },
            { name: "ideal", role: "ideal", y: x.map((n) => Math.min(n, faults)) },
        ],
    };
    const row = (id, start, rauc) => ({ id, fdr: { 5: start, 10: shares(start + 0.17), 15: shares(start + 0.28), 20: shares(start + 0.34) }, rauc, apfd: shares(rauc - 0.03), seconds: digits(0.1 + draw()) });
    const top = Array.from({ length: 24 }, (_, i) => {
        const [label, prediction] = PAIRS[i % 10];
        const wrong = draw() < 0.45;
        return { index: (i * 137 + 11) % 1000, label: labelled ? label : null, prediction: wrong ? prediction : label, confidence: shares(0.36 + draw() * 0.4), score: digits(0.98 - i * 0.011), picture: sheet.add(garment(label, 700 + i)) };
    });
    return {
        selector: "nss", title: "NSS, neuron sensitivity", budget: 50, count: 1000, fault_rate: labelled ? 0.058 : null, top, more: { count: 26, where: "build/demo/selection.csv" },
        ...(labelled ? { curve, selectors: [row("nss", 0.46, 0.83), row("gini", 0.41, 0.79), row("entropy", 0.39, 0.78), row("random", 0.05, 0.5)] } : {}),
    };
}

function findings(draw, sheet, wanted) {
    const distinct = Math.min(wanted, 420);
    const base = Array.from({ length: distinct }, (_, i) => {
        const [label, prediction] = PAIRS[Math.floor(draw() * draw() * PAIRS.length)];
        const method = METHODS[Math.floor(draw() * 3)].id;
        const seed = 1000 + Math.floor(draw() * 120);
        const original = garment(label, seed);
        const first = sheet.add(original);
        const lineage = [{ what: "seed", settings: `input ${seed}`, prediction: label, confidence: shares(0.8 + draw() * 0.19), picture: first }];
        let failing;
        if (method === "fuzz") {
            const angle = (draw() - 0.5) * 0.7,
                dx = (draw() - 0.5) * 0.16;
            const turned = garment(label, seed, { angle });
            lineage.push({ what: "rotate", settings: `angle=${digits((angle * 180) / Math.PI)}`, prediction: label, confidence: shares(0.5 + draw() * 0.3), picture: sheet.add(turned) });
            const moved = garment(label, seed, { angle, dx });
            lineage.push({ what: "translate", settings: `x=${digits(dx * SIDE)}`, prediction: label, confidence: shares(0.4 + draw() * 0.3), picture: sheet.add(moved) });
            failing = brightened(moved, Math.round(draw() * 60 - 20));
            lineage.push({ what: "brightness", settings: "by=0.12" });
        } else {
            failing = attacked(original, seed + i, method === "pgd" ? 8 : 20);
            lineage.push({ what: method, settings: METHODS.find((m) => m.id === method).settings });
        }
        const confidence = shares(0.4 + draw() * 0.59);
        const last = lineage[lineage.length - 1];
        Object.assign(last, { prediction, confidence, picture: sheet.add(failing) });
        const changes = failing.map((value, k) => Math.abs(value - original[k]));
        return {
            method, label, prediction, confidence, before: { prediction: label, confidence: lineage[0].confidence }, original: first, failing: last.picture,
            index: seed, name: `t10k/${seed}.png`, cluster: PAIRS.findIndex(([a, b]) => a === label && b === prediction) % 6,
            similarity: shares(method === "fuzz" ? 0.45 + draw() * 0.5 : 0.86 + draw() * 0.13), inside: shares(method === "fuzz" ? 0.7 + draw() * 0.3 : 1),
            l0: changes.filter((v) => v > 0).length, l2: digits(Math.sqrt(changes.reduce((sum, v) => sum + (v / 255) ** 2, 0))), linf: digits(Math.max(...changes) / 255),
            lineage, neurons: [[3, Math.floor(draw() * 84)], [2, Math.floor(draw() * 120)]],
            words: `Taken for ${CLASSES[prediction]}: ${WORDS[Math.floor(draw() * WORDS.length)]}, then ${WORDS[Math.floor(draw() * WORDS.length)]}.`,
        };
    });
    for (const item of base) item.close = item.similarity >= 0.75 && item.inside >= 0.8;
    const items = Array.from({ length: wanted }, (_, i) => ({ id: i + 1, ...base[i % distinct], command: `plexor replay demo/campaign ${i + 1}` }));
    const methods = METHODS.map((method) => ({ ...method, found: items.filter((item) => item.method === method.id).length + (wanted > 1000 ? 0 : 61), tried: Math.max(method.tried, wanted) }));
    const total = methods.reduce((sum, method) => sum + method.found, 0);
    const close = items.filter((item) => item.close).length + (total - wanted);
    return { total, close, close_note: "Close: at least 0.75 similar, with 80% of the object in the frame.", methods, items, more: total > wanted ? { count: total - wanted, command: "plexor export demo/campaign -o failures" } : null };
}

/* Mutations in bands of strength, by class. */
function modes({ items }) {
    const bands = [["rotation up to 10 degrees", 0, 10], ["rotation of 10 to 20 degrees", 10, 20], ["rotation beyond 20 degrees", 20, 91]];
    const rows = bands.map(([text, low, high], band) => {
        const mine = items.filter((item) => item.method === "fuzz" && Math.abs(Number(/angle=(.*)/.exec(item.lineage[1].settings)[1])) >= low && Math.abs(Number(/angle=(.*)/.exec(item.lineage[1].settings)[1])) < high);
        const counts = (some, tries) => ({ count: some.length, tries, close: some.filter((item) => item.close).length, rate: shares(Math.min(1, some.length / tries)) });
        const cells = Array.from({ length: 10 }, (_, label) => {
            const some = mine.filter((item) => item.label === label);
            return { label, ...counts(some, 80), ids: some.slice(0, 50).map((item) => item.id) };
        });
        return { mutation: "rotation", band, text, ...counts(mine, 800), cells };
    });
    return { rows, note: "A try is a mutant that the network judged; it counts for its last mutation." };
}

function clusters(draw, found) {
    const items = [];
    const centres = Array.from({ length: 6 }, (_, i) => [Math.cos(i * 1.05) * 10, Math.sin(i * 1.05) * 7]);
    for (let id = 0; id < 6; id++) {
        const mine = found.items.filter((item) => item.cluster === id);
        if (mine.length === 0) continue;
        const [label, prediction] = PAIRS[id];
        items.push({ id, title: `${CLASSES[label]}: rotation, mostly taken for ${CLASSES[prediction]} (${Math.round((100 * mine.filter((item) => item.label === label).length) / mine.length)}%)`, count: mine.length, label, prediction, share: shares(mine.filter((item) => item.label === label).length / mine.length), medoid: mine[Math.floor(mine.length / 3)].id, words: WORDS[id], neurons: [[3, 7 * id], [2, 11 * id]] });
    }
    const points = found.items.slice(0, 4000).map((item) => [...centres[item.cluster].map((c) => digits(c + (draw() + draw() + draw() - 1.5) * 3, 4)), item.cluster, item.id]);
    return { method: "k-medoids of the last hidden layer", items, map: { method: "t-SNE of the last hidden layer", points } };
}

/* The 95% interval of a share. */
function wilson(part, all) {
    const z = 1.96,
        p = part / all,
        middle = (p + (z * z) / (2 * all)) / (1 + (z * z) / all),
        half = (z / (1 + (z * z) / all)) * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all));
    return [shares(Math.max(0, middle - half)), shares(middle + half)];
}

function doctor() {
    return {
        findings: [
            { id: "preprocess", level: "warning", sentence: "mean and std are defaults, and one class takes 41% of the answers", advice: "with --preprocess fashion-mnist accuracy on 200 inputs is 91% instead of 62%" },
            { id: "damaged", level: "error", sentence: "3 files cannot be read", count: 3, inputs: ["test/coat/0007.png", "test/bag/0101.png"] },
            { id: "sizes", level: "info", sentence: "10 of 1,000 pictures were resized from 64 x 48", count: 10 },
        ],
        notes: ["the data have 9 classes and the network 10: fewer is fine"],
    };
}

function neurons(draw, sheet, masks) {
    /* In the first layers most are always active, as in real networks. */
    const activity = (l, unit) => (l < 2 && unit % 3 > 0 ? "a" : l === 3 && unit % 29 === 28 ? "n" : l === 2 && unit % 40 === 39 ? "f" : "s");
    const layers = LAYERS.map((layer, l) => ({ ...layer, activity: Array.from({ length: layer.units }, (_, unit) => activity(l, unit)).join(""), suspiciousness: Array.from({ length: layer.units }, (_, unit) => (activity(l, unit) === "s" ? digits(draw() ** 3 * 0.62) : null)), sensitivity: Array.from({ length: layer.units }, () => digits(draw() ** 5 * 0.09)) }));
    const items = [];
    layers.forEach((layer, l) => {
        for (let unit = 0; unit < layer.units; unit++) {
            if (activity(l, unit) !== "s") continue;
            const dead = l === 3 && unit % 29 === 27;
            const af = Math.round(layer.suspiciousness[unit] * 58),
                as = Math.round(200 + draw() * 500);
            items.push({
                layer: l, unit, suspiciousness: layer.suspiciousness[unit], sensitivity: layer.sensitivity[unit], spectrum: { as, af, ns: 942 - as, nf: 58 - af }, inactive: dead, interval: wilson(af, af + as), suspect: wilson(af, af + as)[0] > 0.058,
                ...(dead ? {} : unit % 4 === 3 ? { shared: { class: CLASSES[unit % 10], count: 4 + (unit % 9), of: 15 } } : { words: WORDS[(l * 7 + unit * 3) % WORDS.length] }), labels: [{ label: "stripes", iou: digits(draw() * 0.2) }, { label: "dark line", iou: digits(draw() * 0.1) }],
                top: dead ? [] : Array.from({ length: 5 }, (_, k) => ({ index: (unit * 31 + k * 7 + l) % 1000, name: `t10k/${(unit * 31 + k * 7 + l) % 1000}.png`, label: (unit + k) % 10, score: digits(4 - k * 0.3), picture: sheet.add(garment((unit + k) % 10, 1100 + ((unit + k) % 12))), mask: masks.add(blob((unit * 5 + k) % 60)) })),
            });
        }
    });
    const silent = (letter) => layers.reduce((sum, layer) => sum + [...layer.activity].filter((one) => one === letter).length, 0);
    items.sort((a, b) => b.suspiciousness - a.suspiciousness).forEach((item, i) => (item.rank = i + 1));
    return { definition: "hidden layers, tap post, view chan", baseline: digits(Math.sqrt(0.058)), uninformative: { always: silent("a"), never: silent("n"), few: silent("f") }, suspects: items.filter((item) => item.suspect).length, measure: "ochiai", measure_title: "Suspiciousness", sensitivity_title: "Sensitivity", describer: "dissection", validation: "measured labels", validation_note: "Labels are the concepts whose areas overlap most with where the neuron is active; no language model is involved.", layers, items };
}

function quality() {
    const metrics = [["mr", "Misclassification ratio", "low"], ["acac", "Confidence of the wrong class", "low"], ["actc", "Confidence of the true class", "high"], ["ald_2", "Mean L2 distortion", "high"], ["ass", "Structural similarity", "low"], ["rgb", "Robust to Gaussian blur", "low"]];
    const value = (v, n, why) => (v === null ? { value: null, n: 0, why } : { value: v, n });
    return {
        metrics: metrics.map(([id, title, better]) => ({ id, title, better })),
        sets: [
            { name: "PGD attack", pairs: 1000, values: [0.42, 0.71, 0.14, 1.12, 0.93, 0.58].map((v) => value(v, 420)) },
            { name: "DeepFault synthesis", pairs: 500, values: [0.27, 0.64, 0.19, 1.83, 0.88, 0.66].map((v) => value(v, 135)) },
            { name: "Fuzzing (NLC)", pairs: 6240, values: [value(0.06, 6240), value(0.69, 374), value(0.17, 374), value(5.4, 374), value(0.41, 374), value(null, 0, "needs pairs of one shape")] },
        ],
    };
}

function provenance() {
    return {
        command: "plexor check demo/lenet5.onnx --data fashion-mnist --limit 1000 --minutes 1 -o build/demo", seed: 1, seconds: 41.8, threads: 2, machine: "x86-64, 2 cores, AVX-512",
        versions: [{ name: "oneDNN", version: "2.6.3" }, { name: "SQLite", version: "3.40.1" }],
        hashes: [{ what: "model", path: "demo/lenet5.onnx", hash: "4f1d2a90c35be7781" }, { what: "data", path: "fashion-mnist, test", hash: "9be02c11a47f3d60" }],
        assumptions: [{ name: "scale", value: "1/255", from: "8-bit data" }, { name: "mean", value: "0", from: "default" }, { name: "output", value: "logits", from: "the model's output name" }],
        files: [{ path: "build/demo/campaign/campaign.db", what: "all failures, with their lineage", bytes: 1843200 }, { path: "build/demo/selection.csv", what: "all inputs, most worth a label first", bytes: 24117 }],
    };
}

function stages(skipped) {
    const list = [["profile", "Profile", 1.2], ["evaluation", "Evaluation", 0.9], ["coverage", "Coverage", 2.2], ["selection", "Selection", 1.1], ["neurons", "Suspicious neurons", 0.7], ["findings", "Failures", 25.2], ["quality", "Quality", 3.4], ["descriptions", "Neurons in words", 4.9], ["clusters", "Clusters", 2.2]];
    return list.map(([id, title, seconds]) =>
        skipped.includes(id) ? { id, title, status: "skipped", reason: `asked for with --skip ${id}` } : { id, title, status: id === "findings" ? "partial" : "done", reason: id === "findings" ? "the minute given with --minutes 1 was over; fuzzing stopped there" : null, seconds, command: `plexor ${id === "findings" ? "fuzz" : id} demo/lenet5.onnx --data fashion-mnist --limit 1000 --seed 1` },
    );
}

/* Names as an attacker would choose them: the page must show them and do nothing else. */
function poison(report) {
    const evil = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "javascript:window.hacked=1", "\"'><svg onload=window.hacked=1>", "<!--<script>", "{{constructor.constructor('window.hacked=1')()}}", "\u202eevil\u202c", "&lt;b&gt;", "a".repeat(300), "line\u2028separator"];
    report.classes = evil;
    report.title = evil[0];
    report.model.name = evil[1];
    report.provenance.command = evil[0];
    report.findings.items.forEach((item, i) => Object.assign(item, { name: evil[i % 10], words: evil[(i + 1) % 10], command: evil[(i + 2) % 10] }));
    report.neurons.items.forEach((item, i) => (item.words = evil[i % 10]));
    report.neurons.layers.forEach((layer, i) => (layer.name = evil[i]));
    report.summary.remarks = evil;
    report.modes.rows.forEach((mode, i) => Object.assign(mode, { mutation: evil[i], text: evil[5 + i] }));
    report.findings.items.slice(0, 4).forEach((item) => (item.audio = { original: evil[2], failing: "data:text/html,<script>window.hacked=1</script>" }));
    report.clusters.items.forEach((item, i) => (item.title = evil[i % 10]));
    report.doctor.findings.forEach((item, i) => Object.assign(item, { sentence: evil[i], advice: evil[i + 3], inputs: evil }));
    report.evaluation.label_suspects.items.forEach((item, i) => (item.name = evil[i]));
    report.neurons.items.forEach((item) => item.shared && (item.shared.class = evil[1]));
    return report;
}

/* As of a network with very many classes: the page has some of them. */
function crowded(report, many) {
    const { evaluation } = report;
    report.classes = Array.from({ length: many }, (_, i) => `species ${i}`);
    evaluation.per_class = Array.from({ length: 100 }, (_, i) => ({ class: (many + 1900 - 7 * i) % many, count: 3, correct: i % 3, predicted: 2, recall: shares((i % 3) / 3), precision: 0.5, confidence: 0.4 }));
    evaluation.classes_more = { count: many - 100, where: "plexor-check/eval.json" };
    evaluation.confusion = Array.from({ length: 4000 }, (_, i) => [(i * 5) % many, (i * 5 + (i % 4)) % many, i % 9 === 0 ? 2 : 1]);
    evaluation.confusion_left_out = many - 4000;
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
    report.findings.items.forEach((item, i) => {
        if (i < 6) item.audio = { original: tone(300 + 40 * i), failing: tone(320 + 40 * i) };
        else if (i < 12) item.original = item.failing = item.difference = null;
    });
    return report;
}

export function makeSample({ findings: wanted = 240, unlabelled = false, hostile = false, bare = false, audio = false, classes = 10 } = {}) {
    const draw = random(7);
    const sheet = new SheetMaker(0, SIDE, SIDE),
        masks = new SheetMaker(1, SIDE, SIDE);
    const report = {
        schema: "plexor-report/1",
        title: "LeNet-5 on Fashion-MNIST (invented sample)",
        created: "2026-01-31T09:30:00Z",
        version: "0.1.0",
        model: { name: "lenet5.onnx", parameters: 107786, layers: 4, neurons: 226, flops: 860000, input: "1 x 28 x 28" },
        data: { name: "fashion-mnist", split: "test", count: 1000, of: 10000, labelled: !unlabelled },
        classes: CLASSES,
    };
    if (bare) return { ...report, stages: stages(["evaluation", "coverage", "selection", "neurons", "findings", "quality", "clusters"]) };
    report.stages = stages(unlabelled ? ["neurons"] : ["quality-of-audio"]);
    const found = findings(draw, sheet, wanted);
    report.evaluation = evaluation(draw, sheet);
    report.summary = {
        verdict: "fail", headline: "It is right on 94.6% of 1,000 inputs, worst on Shirt (77.0%). 240 failures were found, most of them by rotations beyond 20 degrees. Noise of 8/255 leaves 41.2% of its answers right.",
        gates: [
            { name: "accuracy", title: "Accuracy", relation: ">=", threshold: 0.9, value: 0.946, unit: "share", pass: true },
            { name: "ece", title: "Calibration error", relation: "<=", threshold: 0.05, value: 0.0287, unit: "share", pass: true },
            { name: "faults", title: "Failures found", relation: "<=", threshold: 100, value: found.total, unit: "count", pass: false },
        ],
        remarks: ["This is an invented sample: nothing in it was measured."],
    };
    if (unlabelled) {
        const { count, confidence, per_class } = report.evaluation;
        report.evaluation = { count, confidence, per_class: per_class.map((row) => ({ class: row.class, count: 0, predicted: row.predicted, confidence: row.confidence })) };
        report.summary = { verdict: "none" };
    }
    report.doctor = doctor();
    Object.assign(report, { coverage: coverage(draw), selection: selection(draw, sheet, !unlabelled), findings: found, modes: modes(found), clusters: clusters(draw, found), quality: quality(), provenance: provenance() });
    if (!unlabelled) report.neurons = neurons(draw, sheet, masks);
    report.sheets = [sheet.object(), masks.object()];
    if (audio) recorded(report);
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
