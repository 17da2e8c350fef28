// Copies in, products and copies out of a whole process, in the orders of steps/v13/src/schedule.rs. Times of the whole are
// the numbers of the record that stand in the page inside the element: data-whole="in", "product" and "out".
(function (root) {
    "use strict";

    const GRANULE = 128;
    const [IN, PRODUCT, OUT] = [0, 1, 2];

    function parts(all, n) {
        const size = Math.ceil(Math.ceil(all / Math.max(1, n)) / GRANULE) * GRANULE;
        const out = [];
        for (let first = 0; first < all; first += size) out.push([first, Math.min(size, all - first)]);
        return out;
    }

    // Operations of a square product of `size`: queue, the part of the queue's work, and how many operations of the queue
    // before it in the order must have ended.
    function order(way, size, n) {
        const ops = [];
        const counts = [0, 0, 0];
        const push = (queue, part) => {
            ops.push({ queue, part, after: queue === IN ? 0 : counts[queue - 1] });
            counts[queue] += 1;
        };
        const copyIn = (rows, columns) => push(IN, rows * columns / (2 * size * size));
        const multiply = (m, columns, k) => push(PRODUCT, m * columns * k / size ** 3);
        const copyOut = (rows, columns) => push(OUT, rows * columns / (size * size));
        if (way === "whole") {
            copyIn(size, size);
            copyIn(size, size);
            multiply(size, size, size);
            copyOut(size, size);
        } else if (way === "chunks") {
            copyIn(size, size);
            for (const [, rows] of parts(size, n)) {
                copyIn(rows, size);
                multiply(rows, size, size);
                copyOut(rows, size);
            }
        } else if (way === "shells") {
            const all = parts(size, n);
            all.forEach(([first, count], i) => {
                copyIn(count, size);
                for (const [, columns] of all.slice(0, i)) {
                    multiply(count, columns, size);
                    copyOut(count, columns);
                }
                copyIn(size, count);
                multiply(first + count, count, size);
                copyOut(first + count, count);
            });
        } else {
            let from = 0;
            for (let depth = Math.ceil(size / 32 / GRANULE) * GRANULE; from + depth <= size / 2; depth *= 2) {
                copyIn(size, depth);
                copyIn(depth, size);
                multiply(size, size, depth);
                from += depth;
            }
            const rest = size - from;
            copyIn(rest, size);
            const rows = parts(size, n);
            const [, last] = rows.pop();
            rows.push(...parts(last, 2));
            for (const [, count] of rows) {
                copyIn(count, rest);
                multiply(count, size, rest);
                copyOut(count, size);
            }
        }
        return ops;
    }

    // When each operation begins and ends, if it takes its part of `times`: a queue does one after the other.
    function timed(ops, times) {
        const ends = [[], [], []];
        return ops.map(({ queue, part, after }) => {
            const own = ends[queue];
            const from = Math.max(own[own.length - 1] || 0, after ? ends[queue - 1][after - 1] : 0);
            own.push(from + part * times[queue]);
            return { queue, from, to: own[own.length - 1] };
        });
    }

    root.TileModels = Object.assign(root.TileModels || {}, { order, timed });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, picture, rect, text, many, percent } = Parts;
    const SIZE = 8192;
    const WAYS = { whole: "one after the other", chunks: "chunks", shells: "shells", panels: "panels" };

    function model(place) {
        const read = (name) => Number.parseFloat(place.querySelector(`[data-whole="${name}"]`).textContent);
        const times = ["in", "product", "out"].map(read);
        const source = place.querySelector(".measured").title.split(", ").slice(-2).join(", ");
        return {
            title: "Copies beside products",
            ask: "Which order is best if the link has a quarter of its speed?",
            controls: [
                { name: "way", label: "order", wide: true, choices: Object.entries(WAYS) },
                { name: "n", label: "parts", range: [1, 32] },
                { name: "link", label: "link, times as fast", range: [0.25, 4, 0.25] },
            ],
            start: { way: "chunks", n: 8, link: 1 },
            presets: Object.keys(WAYS).map((way) => [way, { way }]),
            note: `8192 × 8192 in FP32. Each operation takes its part of the time of the whole, as measured alone (${source}): small products and short rows `
                + "really take longer, and to start an operation takes time. The time lines above were measured.",
            show: (state) => show(state, times.map((ms, queue) => (queue === PRODUCT ? ms : ms / state.link))),
        };
    }

    function show({ way, n }, times) {
        const ops = timed(order(way, SIZE, n), times);
        const end = Math.max(...ops.map((op) => op.to));
        const longest = Math.max(...times);
        const name = ["copies in", "products", "copies out"][times.indexOf(longest)];
        const sentence = `${many(ops.length, "operation")}: ${end.toFixed(1)} ms, ${percent(end / longest)} of the longest part, ${name}; `
            + `one after the other it is ${times.reduce((sum, ms) => sum + ms, 0).toFixed(1)} ms.`;
        return { sentence, good: end < 1.1 * longest ? true : undefined, image: draw(ops, times, end, sentence) };
    }

    function draw(ops, times, end, label) {
        const image = picture(196, label);
        const [left, row] = [84, 44];
        const scale = (WIDTH - left - 2) / times.reduce((sum, ms) => sum + ms, 0);
        ["copies in", "products", "copies out"].forEach((name, queue) => {
            const y = 24 + queue * row;
            image.append(text("", 0, y + 21, name), rect("faint", left, y, WIDTH - left, row - 12));
        });
        for (const { queue, from, to } of ops) {
            image.append(rect(["b", "c", "a"][queue], left + from * scale, 24 + queue * row, Math.max(0.5, (to - from) * scale - 0.7), row - 12));
        }
        image.append(rect("needed", left + end * scale, 18, 2, 3 * row - 2), text("dim", left, 14, "0"),
            text("dim", Math.min(left + end * scale, WIDTH), 14, `${end.toFixed(1)} ms`, end * scale > 300 ? "end" : "middle"),
            text("dim", left, 24 + 3 * row + 14, "as wide as all operations one after the other"));
        return image;
    }

    Parts.model("overlap", model);
})(globalThis);
