// Loads and arithmetic of tiles, with one buffer or more: when each begins.
(function (root) {
    "use strict";

    // For each tile when its load begins and ends, and its arithmetic. A load waits for a free buffer, the arithmetic for its
    // tile and for that of the tile before.
    function buffered({ tiles, stages, load, compute }) {
        const out = [];
        for (let i = 0; i < tiles; i += 1) {
            const free = i < stages ? 0 : out[i - stages][3];
            const here = free + load;
            const start = Math.max(here, i ? out[i - 1][3] : 0);
            out.push([free, here, start, start + compute]);
        }
        return out;
    }

    root.TileModels = Object.assign(root.TileModels || {}, { buffered });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, picture, rect, text, percent } = Parts;
    const TILES = 8;

    function show(state) {
        const spans = buffered({ ...state, tiles: TILES });
        const end = spans[TILES - 1][3];
        const busy = TILES * state.compute / end;
        const period = Math.max(state.compute, (state.load + state.compute) / state.stages);
        const enough = Math.ceil((state.load + state.compute) / state.compute);
        const sentence = `A tile every ${Number(period.toFixed(1))} clocks, where the arithmetic takes ${state.compute}: `
            + (state.stages >= enough ? "loads are hidden, but for the first." : `${enough} buffers would hide the loads.`)
            + ` Of these ${TILES} tiles' time ${percent(busy)} is arithmetic.`;
        return { sentence, good: state.stages >= enough, image: draw(state, spans, end, sentence) };
    }

    function draw({ stages }, spans, end, label) {
        const [left, row] = [72, 26];
        const image = picture((stages + 1) * row + 4, label);
        const unit = (WIDTH - left) / end;
        const bar = (cls, from, to, y, words) => {
            image.append(rect(cls, left + from * unit + 0.4, y, Math.max(0.5, (to - from) * unit - 0.8), row - 6));
            if ((to - from) * unit > 12) image.append(text(cls === "c" ? "on" : "", left + (from + to) / 2 * unit, y + 15, words, "middle"));
        };
        for (let stage = 0; stage < stages; stage += 1) {
            image.append(text("", 0, 15 + stage * row, `buffer ${stage}`), rect("faint", left, stage * row, WIDTH - left, row - 6));
        }
        image.append(text("", 0, 19 + stages * row, "multiply"), rect("faint", left, stages * row + 4, WIDTH - left, row - 6));
        spans.forEach(([from, here, start, done], tile) => {
            const y = tile % stages * row;
            bar("b2", from, here, y, `${tile}`);
            bar("a2", here, done, y, "");
            bar("c", start, done, stages * row + 4, `${tile}`);
        });
        return image;
    }

    Parts.model("buffers", {
        title: "How many buffers hide a load?",
        ask: "How much arithmetic must a tile bring, so that two buffers hide its load?",
        controls: [
            { name: "stages", label: "buffers", range: [1, 6] },
            { name: "load", label: "clocks until a tile is there", range: [100, 1500, 50] },
            { name: "compute", label: "clocks of arithmetic for it", range: [50, 1500, 50] },
        ],
        start: { stages: 1, load: 750, compute: 500 },
        presets: [
            ["one buffer", { stages: 1, load: 750, compute: 500 }],
            ["two", { stages: 2, load: 750, compute: 500 }],
            ["three", { stages: 3, load: 750, compute: 500 }],
            ["short arithmetic", { stages: 2, load: 750, compute: 100 }],
        ],
        note: "In a buffer, pale orange: the tile is on its way; pale blue: it is there, until it has been multiplied. One block alone, whose loads all take as long, however many are on their way. In v07 the next tile waits in registers, which are a "
            + "buffer too, and a second block on the same SM has arithmetic for the rest of the wait.",
        show,
    });
})(globalThis);
