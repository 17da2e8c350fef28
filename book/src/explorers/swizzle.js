// A box in shared memory, with one of the swizzles of a tensor map, and which pieces of 16 bytes one read takes.
(function (root) {
    "use strict";

    // Where a byte lies: address bits above the piece's own are added to it by an xor, as many as `span` has pieces.
    function swizzled(address, span) {
        const bits = { 0: 0, 32: 0x10, 64: 0x30, 128: 0x70 }[span];
        return address ^ ((address >> 3) & bits);
    }

    // Passes over shared memory for one 8 x 8 matrix of ldmatrix, a piece of 16 bytes in each of eight rows.
    function passes(row, bytes, piece, span) {
        const lanes = Array.from({ length: 32 }, (_, lane) =>
            (lane < 8 ? swizzled((row + lane) * bytes + piece * 16, span) : null));
        return root.TileRules.shared(lanes, 16, true).wavefronts.length;
    }

    root.TileModels = Object.assign(root.TileModels || {}, { swizzled, passes });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text, many } = Parts;
    const ROWS = 16;

    function show(state) {
        const { bytes, span, piece } = state;
        const first = Math.min(state.row, ROWS - 8);
        const perRow = bytes / 16;
        const taken = passes(first, bytes, piece, span);
        const groups = Array.from({ length: 8 }, (_, i) => swizzled((first + i) * bytes + piece * 16, span) / 16 % 8);
        const sentence = `Piece ${piece} of rows ${first} to ${first + 7} lies in ${many(new Set(groups).size, "group")} of four banks: `
            + `${taken === 1 ? "one pass" : `${taken} passes, where one could do`}.`
            + (span && bytes > span ? " No tensor map allows this: a row of a box may be no longer than its swizzle." : "");
        return { sentence, good: taken === 1, image: draw(first, state, perRow, sentence) };
    }

    function draw(first, { bytes, span, piece }, perRow, label) {
        const [left, top, row] = [46, 40, 19];
        const image = picture(top + ROWS * row + 60, label);
        // As wide as all banks: rows that are shorter share a line, longer ones take several.
        const lines = ROWS * bytes / 128;
        const cell = (WIDTH - left) / 8;
        const height = Math.min(row, 320 / lines);
        image.append(text("dim", left, 13, "32 banks, in groups of four: 128 bytes"));
        for (let group = 0; group < 8; group += 1) {
            image.append(text("dim", left + (group + 0.5) * cell, 31, `${4 * group}`, "middle"));
        }
        image.append(text("dim", 0, 31, "bank"));
        const labelled = height >= 12;
        for (let r = 0; r < ROWS; r += 1) {
            for (let p = 0; p < perRow; p += 1) {
                const to = swizzled(r * bytes + p * 16, span);
                const [line, group] = [Math.floor(to / 128), to / 16 % 8];
                const [x, y] = [left + group * cell, top + line * height];
                const wanted = p === piece && r >= first && r < first + 8;
                const box = rect(wanted ? "asked" : r % 2 ? "faint" : "moved", x + 0.75, y + 0.5, cell - 1.5, height - 1);
                box.dataset.pick = `piece=${p}`;
                box.append(svg("title", {}, `row ${r}, piece ${p}`));
                image.append(box);
                if (labelled) {
                    const words = text(wanted ? "on" : "dim", x + cell / 2, y + height / 2 + 5, perRow > 8 ? `${r}·${p}` : `${r}:${p}`, "middle");
                    words.setAttribute("pointer-events", "none");
                    image.append(words);
                }
                if (group === 0 && (bytes >= 128 ? p < 8 : true)) image.append(text("dim", 0, y + height / 2 + 5, labelled ? `${line * 128}` : ""));
            }
        }
        // The eight pieces, and the banks that they come from.
        const y = top + lines * height + 18;
        image.append(text("dim", 0, y + 13, "read"));
        const load = Array(8).fill(0);
        for (let i = 0; i < 8; i += 1) load[swizzled((first + i) * bytes + piece * 16, span) / 16 % 8] += 1;
        load.forEach((n, group) => image.append(rect(n > 1 ? "bad" : n ? "asked" : "faint", left + group * cell + 0.75, y, cell - 1.5, 18),
            text(n ? "on" : "dim", left + (group + 0.5) * cell, y + 14, n ? `${n}×` : "–", "middle")));
        image.setAttribute("viewBox", `0 0 ${WIDTH} ${y + 22}`);
        return image;
    }

    Parts.model("swizzle", {
        title: "A box in shared memory, and the eight rows of one read",
        ask: "Without a swizzle, how many passes do rows of 128, 64 and 32 bytes take?",
        controls: [
            { name: "span", label: "swizzle", choices: [[0, "none"], [32, "32 bytes"], [64, "64 bytes"], [128, "128 bytes"]] },
            { name: "bytes", label: "row of the box", choices: [[32, "32 bytes"], [64, "64 bytes"], [128, "128 bytes"]] },
            { name: "piece", label: "piece of 16 bytes", range: (state) => [0, state.bytes / 16 - 1] },
            { name: "row", label: "first of eight rows", range: [0, 8, 8] },
        ],
        start: { span: 128, bytes: 128, piece: 2, row: 0 },
        presets: [
            ["none", { span: 0, bytes: 128, piece: 2, row: 0 }],
            ["64 bytes", { span: 64, bytes: 128, piece: 2, row: 0 }],
            ["128 bytes", { span: 128, bytes: 128, piece: 2, row: 0 }],
            ["short rows", { span: 64, bytes: 64, piece: 1, row: 0 }],
        ],
        note: "Sixteen rows of a box that the TMA has copied; 9:2 is piece 2 of row 9. Point at a piece to read it. Eight rows of one piece are an "
            + "8 × 8 matrix of ldmatrix in bf16, and a core matrix of wgmma. The places are those where the emulated GPU's TMA writes, "
            + "and a pass is its rule. Colours only tell one row from the next.",
        show,
    });
})(globalThis);
