/* web/src/clusters.ts - which failures are of one kind */
import type { Context } from "./context";
import type { ClusterPoint, ClusterRow, Finding } from "./data";
import { h, type Child } from "./dom";
import { count, isNumber, plural, share } from "./format";
import { colour, kindColour, onTheme } from "./theme";
import { absent, arrow, bar, list, type Part } from "./widgets";

const MAP_HEIGHT = 340,
    MARGIN = 14,
    NEAR = 12; /* pixels: how far a click may be from its point */

function clusterCard(context: Context, cluster: ClusterRow, most: number): HTMLElement {
    const mine = context.findings.filter((item) => context.cluster(item) === cluster.id);
    const medoid = mine.find((item) => item.id === cluster.medoid && cluster.medoid_method !== "data") ?? mine[0];
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    onTheme(() => (dot.style.backgroundColor = kindColour(cluster.id)));
    const button = h("button", { type: "button", class: "link" }, "Show its failures");
    button.addEventListener("click", () => context.showCluster(cluster.id));
    return h(
        "li",
        { class: "cluster" },
        medoid ? context.pictures.tile(medoid.failing, `the failure in the middle of cluster ${cluster.id}`) : h("span", { class: "thumb", "aria-hidden": "true" }),
        h(
            "div",
            null,
            h("h4", null, dot, cluster.title ?? [context.className(cluster.label), arrow(), context.className(cluster.prediction)]),
            h("p", { class: "fine" }, plural(cluster.count, "failure"), isNumber(cluster.share) && !cluster.title ? `, ${share(cluster.share, 0)} of this kind` : null),
            bar(cluster.count / most),
            mine.length > 0 ? button : null,
        ),
    );
}

/* The failure that a point is, where it is on the page. */
function findingAt(context: Context, [method, id]: ClusterPoint): Finding | undefined {
    return method === "data" ? undefined : context.findings.find((item) => item.id === id);
}

function clusterMap(context: Context, points: ClusterPoint[]): HTMLElement {
    const canvas = h("canvas", { class: "cluster-map", role: "img" });
    canvas.setAttribute("aria-label", `${plural(points.length, "failure")} in a plane, near ones alike; the clusters are listed beside it`);
    const xs = points.map((point) => point[5]!),
        ys = points.map((point) => point[6]!);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    let places: [number, number][] = [];

    function draw(): void {
        const width = canvas.clientWidth;
        if (width === 0) return;
        const scale = window.devicePixelRatio || 1;
        canvas.width = width * scale;
        canvas.height = MAP_HEIGHT * scale;
        const unit = Math.min((width - 2 * MARGIN) / (right - left || 1), (MAP_HEIGHT - 2 * MARGIN) / (high - low || 1));
        const x0 = (width - unit * (right - left)) / 2,
            y0 = (MAP_HEIGHT - unit * (high - low)) / 2;
        places = points.map(([, , , , , x, y]) => [x0 + unit * (x! - left), y0 + unit * (high - y!)]);
        const drawing = canvas.getContext("2d")!;
        drawing.setTransform(scale, 0, 0, scale, 0, 0);
        drawing.clearRect(0, 0, width, MAP_HEIGHT);
        const radius = points.length > 2000 ? 2 : 3.5;
        drawing.lineWidth = 1;
        drawing.strokeStyle = colour("panel");
        points.forEach(([, , cluster], i) => {
            drawing.fillStyle = kindColour(cluster);
            drawing.beginPath();
            drawing.arc(places[i]![0], places[i]![1], radius, 0, 2 * Math.PI);
            drawing.fill();
            if (radius > 2) drawing.stroke();
        });
    }

    function nearest(event: MouseEvent): number {
        const box = canvas.getBoundingClientRect();
        let best = -1,
            distance = NEAR;
        places.forEach(([x, y], i) => {
            const d = Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
            if (d < distance) [best, distance] = [i, d];
        });
        return best;
    }
    canvas.addEventListener("pointermove", (event) => {
        const at = nearest(event);
        canvas.style.cursor = at >= 0 && findingAt(context, points[at]!) ? "pointer" : "default";
        canvas.title = at >= 0 ? `cluster ${points[at]![2]}` : "";
    });
    canvas.addEventListener("click", (event) => {
        const at = nearest(event);
        const found = at < 0 ? undefined : findingAt(context, points[at]!);
        if (found) context.openFinding([found], 0);
    });
    new ResizeObserver(draw).observe(canvas);
    onTheme(draw);
    return h("figure", { class: "map" }, canvas, h("figcaption", null, "t-SNE. Failures that are near each other are alike; directions and axes mean nothing. Choose a point to see it."));
}

export function clustersPart(context: Context): Part {
    const result = context.result("cluster");
    if (!result) return { ...absent(context, "cluster", "Clusters"), id: "clusters" };
    const sorted = [...result.clusters].sort((a, b) => b.count - a.count);
    const most = Math.max(1, sorted[0]?.count ?? 0);
    const cards: Child = h("ul", { class: "clusters" }, sorted.map((cluster) => clusterCard(context, cluster, most)));
    const points = result.points.filter(([, , cluster, , , x, y]) => cluster >= 0 && isNumber(x) && isNumber(y));
    const silhouette = isNumber(result.silhouette) ? result.silhouette.toFixed(2) : "undefined";
    return {
        id: "clusters",
        title: "Clusters",
        lead: `The failures fall into ${plural(sorted.length, "group")} (k-means (k ${result.k}, silhouette ${silhouette}) of ${result.definition}): what one of a group needs, the others likely need too. The largest has ${count(most)}.`,
        body: [
            list([
                `${result.failures} failures were clustered: inputs of the data that are wrong, and generated ones, at most 200 of each way of making them. Points without a picture are of the data.`,
                ...(result.weak ? ["The grouping is weak: failures of one cluster are hardly more alike than those of two."] : []),
            ]),
            points.length > 0 ? h("div", { class: "split wide-left" }, clusterMap(context, points), cards) : cards,
        ],
    };
}
