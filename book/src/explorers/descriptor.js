// What wgmma reads by a descriptor: the pieces of 16 bytes of one MMA in a stage of v12_wgmma, with a swizzle of 128 bytes.
(function (root) {
    "use strict";

    // The two halves of the descriptor, as describe() in v12_tiles.cuh makes them; without `masked`, as it was before.
    function describe(start, leading, stride, masked) {
        const at = Math.floor((masked ? start % (1 << 18) : start) / 16);
        return [(at | (leading / 16) << 16) >>> 0, (stride / 16 | 1 << 30) >>> 0];
    }

    const field = (bits) => (bits & 0x3fff) * 16;

    // Where a piece lies: offsets from the start, then the swizzle of 128 bytes, which is of the address. Of A: the piece of
    // 8 k of a row. Of B: that of 8 columns at one k.
    const place = (address) => address ^ ((address >> 3) & 0x70);
    function pieceOfA([low, high], row, piece) {
        return place(field(low) + row % 8 * 128 + Math.floor(row / 8) * field(high) + piece * 16);
    }
    function pieceOfB([low, high], k, piece) {
        return place(field(low) + k % 8 * 128 + Math.floor(k / 8) * field(high) + piece % 8 * 16 + Math.floor(piece / 8) * field(low >>> 16));
    }

    root.TileModels = Object.assign(root.TileModels || {}, { describe, pieceOfA, pieceOfB });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const [B_AT, BOX, RANK] = [16384, 8192, 1 << 24];

    // Pieces of an MMA, with the half of its 16 k that each belongs to.
    function pieces(factor, bits) {
        const out = [];
        if (factor === "A") {
            for (let row = 0; row < 64; row += 1) for (const half of [0, 1]) out.push([pieceOfA(bits, row, half), half]);
        } else {
            for (let k = 0; k < 16; k += 1) for (let piece = 0; piece < 32; piece += 1) out.push([pieceOfB(bits, k, piece), k >> 3]);
        }
        return out;
    }

    function show(state) {
        const { factor, mma } = state;
        const begin = factor === "A" ? mma * 32 : B_AT + mma * 2048;
        const wanted = pieces(factor, describe(begin, BOX, 1024, true));
        const bits = describe(begin + (state.block === "0" ? 0 : RANK), state.leading, state.stride, state.block !== "unmasked");
        const read = pieces(factor, bits);
        const wrong = read.filter(([address], i) => address !== wanted[i][0]).length;
        const hex = (half) => half.toString(16).padStart(8, "0");
        const sentence = `0x${hex(bits[1])}${hex(bits[0])}: begins at ${field(bits[0])}, leading distance ${field(bits[0] >>> 16)}${factor === "A" ? " (not used)" : ""}, stride ${field(bits[1])}, swizzle 1. `
            + (wrong ? `${wrong} of ${read.length} pieces are not those of the factor.` : `All ${read.length} pieces are those of the factor.`);
        return { sentence, good: wrong === 0, image: draw(factor, read, wanted, sentence) };
    }

    function draw(factor, read, wanted, label) {
        const boxes = factor === "A" ? [0] : [0, 1, 2, 3];
        const [top, row] = [40, 4];
        const image = picture(top + 64 * row + 24, label);
        const left = 34;
        const width = factor === "A" ? 220 : (WIDTH - left - 18) / 4;
        const base = factor === "A" ? 0 : B_AT;
        const at = (address) => {
            const offset = address - base;
            const box = Math.floor(offset / BOX);
            return box < 0 || box >= boxes.length ? null
                : [left + box * (width + 6) + offset % 128 / 128 * width, top + Math.floor(offset % BOX / 128) * row];
        };
        boxes.forEach((box) => {
            image.append(rect("faint", left + box * (width + 6), top, width, 64 * row),
                text("", left + box * (width + 6) + width / 2, 32, factor === "A" ? "64 rows of A, 128 bytes each" : `${64 * box}–${64 * box + 63}`, "middle"));
        });
        if (factor === "B") image.append(text("dim", left, 13, "columns of B, a box for each 64"));
        for (const group of [0, 16, 32, 48]) image.append(text("dim", 0, top + group * row + 13, `${group}`));
        image.append(text("dim", 0, 32, factor === "A" ? "row" : "k"));
        const right = new Set(wanted.map(([address]) => address));
        const paths = { a: "", b: "", bad: "" };
        let outside = 0;
        read.forEach(([address, half], i) => {
            const point = at(address);
            if (!point) { outside += 1; return; }
            paths[wanted[i][0] !== address ? "bad" : half ? "b" : "a"] += `M${point[0].toFixed(1)} ${point[1]}h${(width / 8 - 0.8).toFixed(1)}v${row - 0.7}h-${(width / 8 - 0.8).toFixed(1)}z`;
        });
        for (const [shade, d] of Object.entries(paths)) if (d) image.append(svg("path", { class: shade, d }));
        const missed = new Set(read.map(([address]) => address));
        let frames = "";
        for (const address of right) {
            const point = at(address);
            if (point && !missed.has(address)) frames += `M${point[0].toFixed(1)} ${point[1]}h${(width / 8 - 0.8).toFixed(1)}v${row - 0.7}h-${(width / 8 - 0.8).toFixed(1)}z`;
        }
        if (frames) image.append(svg("path", { class: "missed", d: frames }));
        if (outside) image.append(text("ink-bad", left, top + 64 * row + 18, `${outside} pieces lie outside of the tile`));
        return image;
    }

    Parts.model("descriptor", {
        title: "What an MMA reads by its descriptor",
        ask: "Why were the first 64 columns right in the first run?",
        controls: [
            { name: "factor", label: "factor", choices: [["A", "A: 64 × 16 k"], ["B", "B: 16 k × 256"]] },
            { name: "mma", label: "MMA of the step", range: [0, 3] },
            { name: "leading", label: "leading distance", choices: [[0, "0"], [4096, "4096"], [8192, "8192"], [16384, "16384"]] },
            { name: "stride", label: "stride distance", choices: [[512, "512"], [1024, "1024"], [2048, "2048"]] },
            { name: "block", label: "address of", wide: true, choices: [["0", "a block by itself"], ["unmasked", "block 1 of a cluster, not masked"],
                ["masked", "block 1 of a cluster, masked"]] },
        ],
        start: { factor: "B", mma: 1, leading: 8192, stride: 1024, block: "0" },
        presets: [
            ["A", { factor: "A", leading: 0, stride: 1024, block: "0" }],
            ["B", { factor: "B", leading: 8192, stride: 1024, block: "0" }],
            ["the first run", { factor: "B", leading: 8192, stride: 1024, block: "unmasked" }],
        ],
        note: "A stage of v12_wgmma that begins at 0: A, then four boxes of B. Blue: the first 8 of the 16 k; orange: the other 8; red: read in "
            + "place of another piece; framed: wanted and not read. Fields and places are those that the emulated GPU decodes.",
        show,
    });
})(globalThis);
