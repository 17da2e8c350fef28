// How the accumulators of a warp get to C: straight, or through a box in shared memory as in v12_boxes_out.cuh.
(function (root) {
    "use strict";

    // Row and column of the first of a pair of neighbouring accumulators, in the 16 rows of the warp.
    const accumulator = (lane, pair) => [(lane >> 2) + pair % 2 * 8, (pair >> 1) * 8 + lane % 4 * 2];

    // Byte of a box at which the lanes of one store write. FP32: a pair of floats each, and of two neighbouring rows the odd
    // one `exchanged` begins 16 columns further. bf16: stmatrix, whose lanes name 16 bytes of a row each.
    function addresses({ bytes, store, exchanged, swizzle }) {
        const place = (row, piece) => row * 128 + (swizzle ? piece ^ row % 8 : piece) * 16;
        return Array.from({ length: 32 }, (_, lane) => {
            if (bytes === 2) return place(lane % 16, 2 * store + (lane >> 4));
            const pair = exchanged && (lane >> 2) % 2 ? store ^ 4 : store;
            const [row, column] = accumulator(lane, pair);
            return place(row, column >> 2) + column % 4 * 4;
        });
    }

    // Passes over shared memory: sets of lanes that go together.
    function turns(all, bytes) {
        const Rules = root.TileRules;
        if (bytes === 4) return Rules.shared(all, 8, false).wavefronts;
        return [0, 8, 16, 24].flatMap((first) =>
            Rules.shared(all.map((address, lane) => (lane >= first && lane < first + 8 ? address : null)), 16, true).wavefronts);
    }

    root.TileModels = Object.assign(root.TileModels || {}, { accumulator, addresses });

    const Parts = root.TileParts;
    if (!Parts) return;
    const Rules = root.TileRules;
    const { WIDTH, picture, rect, text, many } = Parts;
    const [LEFT, TOP, ROW, WORD] = [30, 40, 15, (440 - 30) / 32];
    const SHADES = ["a", "c", "b", "grey"];

    const stores = ({ bytes, way }) => (bytes === 4 ? 8 : way === "straight" ? 16 : 4);

    function show(state) {
        const { bytes, way, store } = state;
        if (way === "straight") {
            const all = Array.from({ length: 32 }, (_, lane) => {
                const [row, column] = accumulator(lane, store);
                return row * 16384 + column * bytes;
            });
            const sectors = Rules.sectors(all, 2 * bytes).length;
            const used = 100 * 64 * bytes / (sectors * 32);
            const sentence = `A store of the warp writes ${4 * 2 * bytes} bytes in each of 8 rows of C: ${many(sectors, "sector")}, of which ${used} % are written. `
                + `${stores(state)} stores bring the warp's 16 rows of 128 bytes.`;
            return { sentence, good: used === 100, image: straight(state, sentence) };
        }
        const all = addresses({ bytes, store, exchanged: way === "box", swizzle: way !== "plain" });
        const list = turns(all, bytes);
        const best = bytes === 4 ? 2 : 4;
        const sentence = `${bytes === 4 ? "A store of floats" : "An stmatrix"} takes ${list.length} passes over shared memory, ${best} at best; `
            + `${stores(state)} of them bring the warp's 16 rows. Then one thread has the TMA store the box, 64 rows of 128 bytes.`;
        return { sentence, good: list.length === best, image: box(all, list, bytes, sentence) };
    }

    function frame(label, head) {
        const image = picture(TOP + 16 * ROW + 4, label);
        image.append(text("dim", LEFT, 13, head), text("dim", 0, 31, "row"));
        for (let row = 0; row < 16; row += 1) {
            image.append(rect("faint", LEFT, TOP + row * ROW, 32 * WORD, ROW - 2));
            if (row % 4 === 0) image.append(text("dim", 0, TOP + row * ROW + 12, `${row}`));
        }
        return image;
    }

    function straight({ bytes, store }, label) {
        const image = frame(label, "128 bytes of each row of C: four sectors");
        for (let lane = 0; lane < 32; lane += 1) {
            const [row, column] = accumulator(lane, store);
            const byte = column * bytes;
            if (lane % 4 === 0) image.append(rect("moved", LEFT + Math.floor(byte / 32) * 8 * WORD, TOP + row * ROW, 8 * WORD, ROW - 2));
            image.append(rect("asked", LEFT + byte / 4 * WORD + 0.6, TOP + row * ROW + 2, bytes / 2 * WORD - 1.2, ROW - 6));
        }
        for (let sector = 1; sector < 4; sector += 1) image.append(rect("gap", LEFT + sector * 8 * WORD - 0.75, TOP, 1.5, 16 * ROW));
        return image;
    }

    function box(all, list, bytes, label) {
        const image = frame(label, "a warp's 16 rows of a box: as wide as 32 banks");
        for (const bank of [0, 8, 16, 24]) image.append(text("dim", LEFT + bank * WORD, 31, `${bank}`));
        const words = bytes === 4 ? 2 : 4;
        const many = list.length > SHADES.length;
        list.forEach((served, turn) => {
            const lanes = new Set([...served.values()].flat());
            for (const lane of lanes) {
                if (!served.get(all[lane] / 4 % 32)) continue;
                const [row, word] = [Math.floor(all[lane] / 128), all[lane] % 128 / 4];
                const y = TOP + row * ROW;
                image.append(rect(many ? "bad" : SHADES[turn], LEFT + word * WORD + 0.6, y, words * WORD - 1.2, ROW - 2),
                    text("on", LEFT + (word + words / 2) * WORD, y + 12, `${turn}`, "middle"));
            }
        });
        return image;
    }

    Parts.model("epilogue", {
        title: "From accumulators to C",
        ask: "How many passes does each way take, and which rows are in each other's way?",
        controls: [
            { name: "bytes", label: "numbers of C", choices: [[4, "FP32"], [2, "bf16"]] },
            { name: "store", label: "store", range: (state) => [0, stores(state) - 1] },
            { name: "way", label: "way", wide: true, choices: [["straight", "straight to C"], ["box", "through a box, as in v12_store"],
                ["plain", "a box without a swizzle"], ["alike", "a box, all rows alike"]] },
        ],
        start: { bytes: 4, store: 2, way: "box" },
        presets: [
            ["straight, FP32", { bytes: 4, way: "straight" }],
            ["straight, bf16", { bytes: 2, way: "straight" }],
            ["box, FP32", { bytes: 4, way: "box" }],
            ["box, bf16", { bytes: 2, way: "box" }],
        ],
        note: "One of the four warps of a warpgroup, and the rows of its 16 that a store writes. In a box, digits are passes. With FP32, odd rows begin "
            + "16 columns further, so that two rows that are stored together lie in other banks; stmatrix needs no such exchange. Accumulators lie "
            + "where the emulated GPU has them.",
        show,
    });
})(globalThis);
