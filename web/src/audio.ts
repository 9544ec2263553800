/* web/src/audio.ts - recordings: the failing one beside the one that it was made from */
import type { Finding } from "./data";
import { h, type Child } from "./dom";

const PREFIX = "data:audio/wav;base64,";

function player(title: string, source: string | null | undefined): Child {
    if (!source?.startsWith(PREFIX)) return null;
    return h("figure", null, h("audio", { controls: true, preload: "none", src: source, "aria-label": `${title} recording` }), h("figcaption", null, title));
}

export function recordings(finding: Finding): Child {
    if (!finding.audio) return null;
    return h("div", { class: "recordings" }, player("original", finding.audio.original), player("failing", finding.audio.failing));
}
