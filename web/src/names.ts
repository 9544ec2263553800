/* web/src/names.ts - names of layers and inputs that fit: what tells them apart is at their end, not at their beginning */

const LONGEST = 30;

/* The middle goes: "features.17…BatchNormalization". */
export function cutMiddle(text: string, most = LONGEST): string {
    const letters = [...text];
    if (letters.length <= most) return text;
    const front = Math.ceil((most - 1) / 2);
    return `${letters.slice(0, front).join("")}…${letters.slice(letters.length - (most - 1 - front)).join("")}`;
}

/* An input as its data set calls it, in its last folder; by its number where there is no other name. */
export function inputName({ index, name }: { index: number; name?: string | null }): string {
    return name && name !== String(index) ? cutMiddle(name.split("/").slice(-2).join("/"), 24) : `#${index}`;
}

/* PyTorch writes "/m/features/features.17/conv/conv.3/BatchNormalization", each module repeating the one it is in. */
function modules(name: string): string[] {
    const kept: string[] = [];
    for (const part of name.split("/").filter(Boolean)) {
        const before = kept[kept.length - 1];
        if (before !== undefined && part.startsWith(`${before}.`)) kept[kept.length - 1] = part;
        else kept.push(part);
    }
    return kept.length > 0 ? kept : [name];
}

/* Names without the modules that all share and without the operator at the end, as long as they stay different. */
export function shortNames(names: string[]): string[] {
    const unique = (list: string[][]): boolean => new Set(list.map((parts) => parts.join("."))).size === new Set(names).size;
    let lists = names.map(modules);
    while (lists.every((parts) => parts.length > 1 && parts[0] === lists[0]![0]) && lists.length > 1) {
        const shorter = lists.map((parts) => parts.slice(1));
        if (!unique(shorter)) break;
        lists = shorter;
    }
    const bare = lists.map((parts) => (parts.length > 1 ? parts.slice(0, -1) : parts));
    if (unique(bare)) lists = bare;
    const cut = lists.map((parts) => cutMiddle(parts.join(".")));
    return new Set(cut).size === new Set(names).size ? cut : lists.map((parts) => parts.join("."));
}
