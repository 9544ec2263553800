/* web/src/clusters.ts - which failures are of one kind */
import type { Context } from "./context";
import type { Cluster, ClusterMap } from "./data";
import { h, type Child } from "./dom";
import { count, isNumber, plural, share } from "./format";
import { colour, kindColour, onTheme } from "./theme";
import { absent, arrow, bar, notes, type Part } from "./widgets";

const MAP_HEIGHT = 340,
    MARGIN = 14,
    NEAR = 12; /* pixels: how far a click may be from its point */

function clusterCard(context: Context, cluster: Cluster, most: number): HTMLElement {
    const items = context.report.findings?.items ?? [];
    const medoid = items.find((item) => item.id === cluster.medoid) ?? items.find((item) => item.cluster === cluster.id);
    const onPage = items.some((item) => item.cluster === cluster.id);
    const dot = h("span", { class: "dot", "aria-hidden": "true" });
    onTheme(() => (dot.style.backgroundColor = kindColour(cluster.id)));
    const button = h("button", { type: "button", class: "link" }, "Show its failures");
    button.addEventListener("click", () => context.showCluster(cluster.id));
    return h(
        "li",
        { class: "cluster" },
        medoid ? context.pictures.tile(medoid.failing, `the failure in the middle of cluster ${cluster.id}`) : null,
        h(
            "div",
            null,
            h("h4", null, dot, cluster.title ?? [context.className(cluster.label), arrow(), context.className(cluster.prediction)]),
            h("p", { class: "fine" }, plural(cluster.count, "failure"), isNumber(cluster.share) && !cluster.title ? `, ${share(cluster.share, 0)} of this kind` : null),
            bar(cluster.count / most),
            cluster.words ? h("p", null, cluster.words) : null,
            (cluster.neurons ?? []).length > 0 ? h("p", { class: "fine" }, "neurons ", cluster.neurons!.slice(0, 4).map((ref) => [h("code", { title: context.neuronName(ref) }, context.neuronShort(ref)), " "])) : null,
            onPage ? button : null,
        ),
    );
}

function clusterMap(context: Context, map: ClusterMap): HTMLElement {
    const canvas = h("canvas", { class: "cluster-map", role: "img" });
    canvas.setAttribute("aria-label", `${plural(map.points.length, "failure")} in a plane, near ones alike; the clusters are listed beside it`);
    const xs = map.points.map((point) => point[0]),
        ys = map.points.map((point) => point[1]);
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
        places = map.points.map(([x, y]) => [x0 + unit * (x - left), y0 + unit * (high - y)]);
        const drawing = canvas.getContext("2d")!;
        drawing.setTransform(scale, 0, 0, scale, 0, 0);
        drawing.clearRect(0, 0, width, MAP_HEIGHT);
        const radius = map.points.length > 2000 ? 2 : 3.5;
        drawing.lineWidth = 1;
        drawing.strokeStyle = colour("panel");
        map.points.forEach(([, , cluster], i) => {
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
        canvas.style.cursor = at >= 0 && map.points[at]![3] !== null ? "pointer" : "default";
        canvas.title = at >= 0 ? `cluster ${map.points[at]![2]}` : "";
    });
    canvas.addEventListener("click", (event) => {
        const at = nearest(event);
        const items = context.report.findings?.items ?? [];
        const index = at < 0 ? -1 : items.findIndex((item) => item.id === map.points[at]![3]);
        if (index >= 0) context.openFinding([items[index]!], 0);
    });
    new ResizeObserver(draw).observe(canvas);
    onTheme(draw);
    return h("figure", { class: "map" }, canvas, h("figcaption", null, `${map.method ? `${map.method}. ` : ""}Failures that are near each other are alike; directions and axes mean nothing. Choose a point to see it.`));
}

export function clustersPart(context: Context): Part {
    const clusters = context.report.clusters;
    if (!clusters || clusters.items.length === 0) return absent(context, "clusters", "Clusters");
    const sorted = [...clusters.items].sort((a, b) => b.count - a.count);
    const most = Math.max(1, sorted[0]!.count);
    const list: Child = h("ul", { class: "clusters" }, sorted.map((cluster) => clusterCard(context, cluster, most)));
    return {
        id: "clusters",
        title: "Clusters",
        lead: `The failures fall into ${plural(sorted.length, "group")}${clusters.method ? ` (${clusters.method})` : ""}: what one of a group needs, the others likely need too. The largest has ${count(most)}.`,
        body: [notes(context, "clusters", clusters.notes), clusters.map && clusters.map.points.length > 0 ? h("div", { class: "split wide-left" }, clusterMap(context, clusters.map), list) : list],
    };
}
