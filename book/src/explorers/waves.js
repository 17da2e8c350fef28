// Tiles of C on multiprocessors: whole tiles in waves, and beside them the shares of stream-K, as v11_schedule.cuh makes
// them. Time is counted in steps of k.
(function (root) {
    "use strict";

    // The pieces of each block: [tile, first step, steps]. Tiles from `whole` on are shared out by steps.
    function schedule(tiles, steps, whole, blocks) {
        const total = (tiles - whole) * steps;
        const share = (block) => block * Math.floor(total / blocks) + Math.min(block, total % blocks);
        return Array.from({ length: blocks }, (_, block) => {
            const pieces = [];
            const begin = share(block);
            for (let end = share(block + 1); end > begin;) {
                const shared = Math.floor((end - 1) / steps);
                const first = Math.max(begin - shared * steps, 0);
                pieces.push([whole + shared, first, end - shared * steps - first]);
                end -= pieces[pieces.length - 1][2];
            }
            for (let tile = block; tile < whole; tile += blocks) pieces.push([tile, 0, steps]);
            return pieces;
        });
    }

    // Blocks and whole tiles of a launch on `slots` places, as steps/v11 chooses them for stream-K: all tiles are shared out
    // where there are fewer than two waves, otherwise the last two waves.
    function shares(tiles, steps, slots) {
        const whole = Math.max(0, Math.floor(tiles / slots) - 1) * slots;
        if (tiles % slots === 0) return { blocks: slots, whole: tiles };
        return { blocks: Math.min(slots, (tiles - whole) * steps), whole };
    }

    root.TileModels = Object.assign(root.TileModels || {}, { schedule, shares });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text, many, percent } = Parts;
    const BK = 16;
    const TILES = { "256x128": [256, 128], "128x128": [128, 128], "128x64": [128, 64], "64x64": [64, 64] };

    function show(state) {
        const [bm, bn] = TILES[state.tile];
        const tiles = Math.ceil(state.m / bm) * Math.ceil(state.n / bn);
        const steps = Math.ceil(state.k / BK);
        const slots = state.sms;
        const waves = Math.ceil(tiles / slots);
        const last = tiles - (waves - 1) * slots;
        const plain = schedule(tiles, steps, tiles, Math.min(slots, tiles));
        const { blocks, whole } = shares(tiles, steps, slots);
        const shared = schedule(tiles, steps, whole, blocks);
        const length = (pieces) => pieces.reduce((sum, [, , count]) => sum + count, 0);
        const longest = Math.max(...shared.map(length));
        const cut = new Set(shared.flat().filter(([, , count]) => count < steps).map(([tile]) => tile)).size;
        const used = tiles / (waves * slots);
        const sentence = `${many(tiles, "tile")} of ${steps} steps: ${many(waves, "wave")}, ${last} of ${slots} places in the last, `
            + `${percent(used)} of all places used. Stream-K: `
            + (whole === tiles ? "nothing to share, every wave is full."
                : `${longest} steps in place of ${waves * steps}, ${percent(tiles * steps / (longest * slots))} used; ${many(cut, "tile")} put together from parts.`);
        return { sentence, good: used > 0.9, image: draw(state, plain, shared, waves * steps, steps, sentence) };
    }

    function draw({ sms }, plain, shared, time, steps, label) {
        const [left, high, gap] = [4, 128, 42];
        const image = picture(2 * (high + gap) - 12, label);
        const cell = (WIDTH - left) / sms;
        const panels = [["waves of whole tiles", plain], ["stream-K: shares of steps", shared]];
        panels.forEach(([name, blocks], panel) => {
            const top = 24 + panel * (high + gap - 8);
            const unit = high / time;
            image.append(text("", left, top - 7, name), text("dim", WIDTH, top - 7, "time ↓", "end"),
                rect("faint", left, top, WIDTH - left, high));
            const paths = { a: "", c: "", b: "" };
            blocks.forEach((pieces, block) => {
                let at = 0;
                for (const [tile, , count] of pieces) {
                    const shade = count < steps ? "b" : Math.floor(at / steps + tile) % 2 ? "a" : "c";
                    const [x, y] = [left + block * cell, top + at * unit];
                    const height = Math.max(0.4, count * unit - 0.8);
                    paths[shade] += `M${x.toFixed(2)} ${y.toFixed(2)}h${(cell * 0.86).toFixed(2)}v${height.toFixed(2)}h-${(cell * 0.86).toFixed(2)}z`;
                    at += count;
                }
            });
            for (const [shade, d] of Object.entries(paths)) if (d) image.append(svg("path", { class: shade === "c" ? "asked" : shade, d }));
        });
        return image;
    }

    Parts.model("waves", {
        title: "Tiles, waves and shares",
        ask: "With N = 3072, which M below 3072 fills every wave?",
        controls: [
            { name: "m", label: "M", range: [128, 8192, 128] },
            { name: "n", label: "N", range: [128, 8192, 128] },
            { name: "k", label: "K", choices: [[256, "256"], [1024, "1024"], [3072, "3072"], [4096, "4096"], [8192, "8192"]] },
            { name: "tile", label: "tile", choices: Object.keys(TILES).map((key) => [key, key.replace("x", " × ")]) },
            { name: "sms", label: "multiprocessors", wide: true, range: [4, 144] },
        ],
        start: { m: 3072, n: 3072, k: 3072, tile: "256x128", sms: 132 },
        presets: [
            ["1024", { m: 1024, n: 1024, k: 1024 }],
            ["2048", { m: 2048, n: 2048, k: 2048 }],
            ["3072", { m: 3072, n: 3072, k: 3072 }],
            ["4096", { m: 4096, n: 4096, k: 4096 }],
            ["2816 × 1536", { m: 2816, n: 1536, k: 1024 }],
            ["one tile more", { m: 2816, n: 1664, k: 1024 }],
        ],
        note: "A column for each multiprocessor. One block on each multiprocessor, every step as long as every other, and no time for a launch, an epilogue or for putting "
            + "parts together. Orange: parts of tiles. Shares are those of v11_schedule.cuh, with steps of 16 k.",
        show,
    });
})(globalThis);
