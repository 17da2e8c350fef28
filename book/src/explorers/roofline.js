// The roofline with the edges of a tile to move. Roofs and slopes are the numbers of the records that stand in the page
// inside the element: data-roof="UNIT" in TFLOP/s, data-ridge="UNIT" and data-l2="UNIT" in operations per byte.
(function (root) {
    "use strict";

    // Operations per byte of a block that owns BM x BN of C, loads its rows and columns for K, and may store C.
    function intensity({ bm, bn, k, bytes, store }) {
        return 2 * bm * bn * k / (bytes * (bm + bn) * k + (store ? 4 * bm * bn : 0));
    }

    root.TileModels = Object.assign(root.TileModels || {}, { intensity });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const UNITS = { fp32: ["FP32, 4 bytes", 4], mma: ["bf16, mma.sync", 2], wgmma: ["bf16, wgmma", 2] };
    const MOST = 256;

    function model(place) {
        const read = (kind, unit) => Number.parseFloat((place.querySelector(`[data-${kind}="${unit}"]`) || {}).textContent);
        const roofs = Object.fromEntries(Object.keys(UNITS).map((unit) =>
            [unit, { roof: read("roof", unit), ridge: read("ridge", unit), l2: read("l2", unit) }]));
        const sources = [...place.querySelectorAll(".measured")].map((number) => number.title.split(", ").slice(-2).join(", "));
        return {
            title: "Move the edges of a tile",
            ask: "How large must a square tile be to reach the roof of FP32, and how large that of wgmma?",
            controls: [
                { name: "bm", label: "rows of the tile, BM", range: [8, MOST, 8] },
                { name: "bn", label: "columns, BN", range: [8, MOST, 8] },
                { name: "k", label: "K", choices: [[64, "64"], [512, "512"], [4096, "4096"]] },
                { name: "unit", label: "unit", choices: Object.entries(UNITS).map(([key, [name]]) => [key, name]) },
                { name: "store", label: "with the store of C", check: true },
            ],
            start: { bm: 32, bn: 32, k: 4096, unit: "fp32", store: true },
            presets: [
                ["v02", { bm: 32, bn: 32, unit: "fp32" }],
                ["v07", { bm: 128, bn: 128, unit: "fp32" }],
                ["v10_parts", { bm: 256, bn: 128, unit: "mma" }],
                ["v12_ring", { bm: 128, bn: 256, unit: "wgmma" }],
            ],
            note: "Bytes are those that blocks ask for; L2 has many of them, so the true limit lies between the two slopes. "
                + `Point into the square to set both edges. Roofs and slopes were measured: ${[...new Set(sources)].join("; ")}.`,
            show: (state) => show(state, roofs[state.unit]),
        };
    }

    function show(state, { roof, ridge, l2 }) {
        const bytes = UNITS[state.unit][1];
        const at = intensity({ ...state, bytes });
        const limit = (knee) => Math.min(roof, roof * at / knee);
        const [memory, cache] = [limit(ridge), limit(l2)];
        const round = (x) => (x < 10 ? x.toFixed(1) : x.toFixed(0));
        const sentence = `${state.bm} × ${state.bn}: ${round(at)} operations for each byte. At most ${round(memory)} TFLOP/s if all bytes come from device memory, `
            + `${round(cache)} if all come from L2; the roof is ${round(roof)}.`;
        return { sentence, good: cache >= roof ? true : undefined, image: draw(state, roof, ridge, l2, at, memory, cache, sentence) };
    }

    function draw(state, roof, ridge, l2, at, memory, cache, label) {
        const image = picture(342, label);
        // The tile, its rows of A and its columns of B.
        const [x0, y0, size, strip] = [34, 34, 110, 20];
        const scale = size / MOST;
        image.append(text("ink-b", x0 + size + 6, 25, "columns of B"), text("ink-a", 0, y0 + size + 17, "rows of A"),
            rect("faint", x0, y0, size, size), rect("a", x0 - strip - 4, y0, strip, state.bm * scale),
            rect("b", x0, y0 - strip - 4, state.bn * scale, strip), rect("c", x0, y0, state.bn * scale, state.bm * scale));
        for (let row = 1; row <= 8; row += 1) {
            for (let column = 1; column <= 8; column += 1) {
                const cell = svg("rect", { class: "pickable", x: x0 + (column - 1) * size / 8, y: y0 + (row - 1) * size / 8, width: size / 8, height: size / 8 });
                cell.dataset.pick = `bm=${row * MOST / 8}&bn=${column * MOST / 8}`;
                image.append(cell);
            }
        }
        image.append(text("dim", 178, 70, `tile of ${state.bm} × ${state.bn}`),
            text("dim", 178, 94, `${state.bm} + ${state.bn} elements for`), text("dim", 178, 114, `${state.bm} · ${state.bn} multiply-adds`));
        // Both axes by powers of two and ten.
        const [left, right, top, bottom] = [46, WIDTH - 6, 190, 304];
        const x = (value) => left + Math.log2(value) / 10 * (right - left);
        const y = (value) => bottom - Math.log10(value) / 3.2 * (bottom - top);
        for (const tick of [1, 4, 16, 64, 256, 1024]) image.append(text("dim", x(tick), bottom + 17, `${tick}`, tick === 1024 ? "end" : "middle"));
        for (const tick of [1, 10, 100, 1000]) {
            image.append(text("dim", left - 5, y(tick) + 5, `${tick}`, "end"), svg("path", { class: "grid", d: `M${left} ${y(tick)}H${right}` }));
        }
        image.append(text("dim", left + 70, 182, "TFLOP/s"), text("dim", right, 338, "operations per byte", "end"));
        const slope = (knee, cls) => svg("path", { class: cls, d: `M${x(1)} ${y(roof / knee)}L${x(knee)} ${y(roof)}H${right}` });
        image.append(slope(l2, "roof dashed"), slope(ridge, "roof"));
        image.append(svg("path", { class: "roof thin", d: `M${x(at)} ${bottom}V${y(cache)}` }));
        for (const value of [memory, cache]) image.append(svg("circle", { class: "c", cx: x(at), cy: y(value), r: 5 }));
        image.append(text("dim", right, y(roof) - 7, "— device memory  - - L2", "end"));
        return image;
    }

    Parts.model("roofline", model);
})(globalThis);
