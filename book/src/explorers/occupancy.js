// Blocks on a multiprocessor of compute capability 9.0, and Little's law. `occupancy` is simt::occupancy.
(function (root) {
    "use strict";

    const LIMITS = ["threads", "registers", "shared memory", "blocks"];
    const up = (n, unit) => Math.ceil(n / unit) * unit;

    // Blocks that fit by each of the four, in the order of LIMITS.
    function fits(threads, registers, shared) {
        const warps = Math.max(1, Math.ceil(threads / 32));
        const perWarp = up(Math.max(1, registers) * 32, 256);
        return [
            threads > 1024 ? 0 : Math.floor(64 / warps),
            Math.floor(Math.floor(65536 / 4 / perWarp) * 4 / warps),
            Math.floor(228 * 1024 / up(shared + 1024, 128)),
            32,
        ];
    }

    function occupancy(threads, registers, shared) {
        const all = fits(threads, registers, shared);
        const blocks = Math.min(...all);
        return [blocks, all.indexOf(blocks)];
    }

    root.TileModels = Object.assign(root.TileModels || {}, { occupancy });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, picture, rect, text, many } = Parts;

    // Numbers of the page, measured: latency of a load from device memory and from L2, in clocks, and bytes in a clock.
    function show(state) {
        const { threads, registers, loads, width, latency, rate } = state;
        const shared = state.shared * 1024;
        const [blocks, limit] = occupancy(threads, registers, shared);
        const warps = blocks * threads / 32;
        const flight = warps * 32 * width * loads;
        const need = latency * rate;
        const enough = flight >= need;
        const part = Math.min(1, flight / need);
        const sentence = blocks === 0 ? `No block fits: not enough ${LIMITS[limit]}.`
            : `${many(blocks, "block")}, ${warps} of 64 warps; no more because of ${LIMITS[limit]}. ${flight} bytes in flight, `
                + `${Math.round(need)} needed: ${enough ? "enough for the full rate" : `${Math.round(100 * part)} % of the rate`}.`;
        return { sentence, good: blocks > 0 && enough, image: draw(state, shared, blocks, limit, flight, need, sentence) };
    }

    function draw({ threads, registers }, shared, blocks, limit, flight, need, label) {
        const image = picture(268, label);
        const warps = threads / 32;
        const used = [["threads", blocks * threads / 2048], ["registers", blocks * warps * up(registers * 32, 256) / 65536],
            ["shared", blocks * up(shared + 1024, 128) / (228 * 1024)], ["blocks", blocks / 32]];
        const left = 76;
        used.forEach(([name, part], i) => {
            const y = 4 + i * 24;
            image.append(text(i === limit ? "strong" : "", 0, y + 15, name), rect("faint", left, y, WIDTH - left, 19),
                rect(i === limit ? "b" : "moved", left, y, (WIDTH - left) * Math.min(1, part), 19),
                text(i === limit && part > 0.3 ? "on" : "", left + 6, y + 15, `${Math.round(100 * part)} %${i === limit ? " – no more fits" : ""}`));
        });
        // Places for 64 warps, in four schedulers; blocks in turn light and dark.
        image.append(text("dim", 0, 122, "four schedulers with places for 16 warps each"));
        const cell = (WIDTH - left) / 16;
        for (let scheduler = 0; scheduler < 4; scheduler += 1) {
            for (let slot = 0; slot < 16; slot += 1) {
                const index = slot * 4 + scheduler;
                const block = Math.floor(index / warps);
                image.append(rect(block < blocks ? ["a", "c", "b"][block % 3] : "faint", left + slot * cell + 1, 130 + scheduler * 18, cell - 2, 15));
            }
        }
        image.append(text("", 0, 228, "in flight"), rect("faint", left, 213, WIDTH - left, 20));
        const scale = (WIDTH - left) / Math.max(need, flight) * 0.98;
        image.append(rect(flight >= need ? "c" : "b", left, 213, flight * scale, 20), rect("needed", left + need * scale - 1.5, 208, 3, 30),
            text("dim", Math.min(left + need * scale, WIDTH - 2), 256, "needed", need * scale > 300 ? "end" : "middle"));
        return image;
    }

    Parts.model("occupancy", {
        title: "How many warps fit, and do they keep enough in flight?",
        ask: "With loads of one float, no block keeps enough in flight. What does?",
        controls: [
            { name: "threads", label: "threads per block", range: [32, 1024, 32] },
            { name: "registers", label: "registers per thread", range: [16, 255, 1] },
            { name: "shared", label: "shared KiB per block", range: [0, 227, 1] },
            { name: "loads", label: "loads in flight per warp", range: [1, 8] },
            { name: "width", label: "bytes per lane", choices: [[4, "4 (float)"], [8, "8 (float2)"], [16, "16 (float4)"]] },
            { name: "latency", label: "clocks until a load arrives", range: [100, 1200, 10] },
            { name: "rate", label: "bytes wanted in a clock", wide: true, range: [1, 32, 0.1] },
        ],
        start: { threads: 256, registers: 32, shared: 0, loads: 1, width: 4, latency: 750, rate: 16.7 },
        presets: [
            ["only reads, float", { threads: 256, registers: 32, shared: 0, loads: 1, width: 4, latency: 750, rate: 16.7 }],
            ["float4", { threads: 256, registers: 32, shared: 0, loads: 1, width: 16, latency: 750, rate: 16.7 }],
            ["v07", { threads: 256, registers: 128, shared: 33, loads: 2, width: 16, latency: 750, rate: 16.7 }],
            ["nine warps", { threads: 288, registers: 168, shared: 193, loads: 1, width: 16, latency: 750, rate: 16.7 }],
        ],
        note: "Places are given out as a driver for compute capability 9.0 gives them; which warp goes to which scheduler is drawn in turn. "
            + "Little's law takes every warp to have its loads in flight all the time. Latency and rate at the start: device memory, as on this page.",
        show,
    });
})(globalThis);
