// What a tensor core keeps of its terms: equal products of bf16 and an accumulator, bit by bit.
(function (root) {
    "use strict";

    const CUT = 25; // bits of a term below the largest power of two
    const KEPT = 23; // bits of the total behind its first

    // The sum of `n` products a * b and 2^power by the five rules, exactly, and by as many multiply-adds of FP32.
    function sum(power, a, b, n) {
        const exponent = (value) => Math.floor(Math.log2(value));
        const largest = Math.max(power, exponent(a) + exponent(b));
        const down = (value, unit) => Math.floor(value / unit) * unit;
        const term = 2 ** (largest - CUT);
        const added = down(2 ** power, term) + n * down(a * b, term);
        const last = 2 ** (exponent(added) - KEPT);
        let fp32 = 2 ** power;
        for (let i = 0; i < n; i += 1) fp32 = Math.fround(fp32 + a * b);
        return { largest, term, last, added, result: down(added, last), exact: 2 ** power + n * a * b, fp32 };
    }

    root.TileModels = Object.assign(root.TileModels || {}, { sum });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;

    function show(state) {
        const [a, b] = state.factors.split(" ").map(Number);
        const found = sum(state.power, a, b, state.n);
        const start = 2 ** state.power;
        const [grown, exact, fp32] = [found.result, found.exact, found.fp32].map((value) => value - start);
        const sentence = `The accumulator grows by ${grown}; the products are ${exact} together`
            + `${grown === exact ? ", and nothing is lost" : ""}. Multiply-adds of FP32, one after another, add ${fp32}.`;
        return { sentence, good: grown === exact, image: draw(state, a * b, found, sentence) };
    }

    function draw({ power, n }, product, { largest, term, last, added }, label) {
        const [left, top, row] = [118, 20, 50];
        const high = largest + 5;
        const low = Math.min(-5, largest - CUT - 2);
        const cell = (WIDTH - left) / (high - low + 1);
        const image = picture(3 * row, label);
        const at = (bit) => left + (high - bit) * cell;
        const rows = [["accumulator", 2 ** power, term], [`${n} × this`, product, term], ["their sum", added, last]];
        rows.forEach(([name, value, unit], i) => {
            const y = top + i * row;
            const named = i === 0 ? power : Math.log2(unit);
            image.append(text("", 0, y + 19, name), text("dim", at(named) + cell, y - 5, `2^${named}`, "end"));
            for (let bit = high; bit >= low; bit -= 1) {
                const set = Math.floor(value / 2 ** bit) % 2 === 1;
                const kept = 2 ** bit >= unit;
                const box = rect(set ? (kept ? "c" : "bad") : "faint", at(bit) + 0.5, y, cell - 1, 26);
                box.append(svg("title", {}, `2^${bit}: ${set ? (kept ? "kept" : "cut off") : "not set"}`));
                image.append(box);
            }
            image.append(rect("a", at(Math.log2(unit)) + cell - 1, y - 4, 2, 34));
        });
        return image;
    }

    Parts.model("sum", {
        title: "What is cut off when a tensor core adds",
        ask: "From which accumulator on is nothing left of products of 0.75?",
        controls: [
            { name: "power", label: "accumulator: 2 to the power of", range: [0, 30] },
            { name: "factors", label: "each product", choices: [["0.75 1", "0.75"], ["1 1", "1"], ["1.5 1.5", "1.5 · 1.5"], ["1.0625 1", "1.0625"]] },
            { name: "n", label: "products; the others are 0", range: [1, 16] },
        ],
        start: { power: 24, factors: "0.75 1", n: 16 },
        presets: [
            ["nothing lost", { power: 10, factors: "0.75 1", n: 16 }],
            ["some", { power: 24, factors: "0.75 1", n: 16 }],
            ["all", { power: 25, factors: "0.75 1", n: 16 }],
            ["FP32 loses all", { power: 24, factors: "1 1", n: 16 }],
        ],
        note: "Bits of the numbers, the largest power of two on the left: green ones are kept, red ones, right of the line, are cut off. "
            + "One MMA of 16 k in bf16; the sums are those of the emulated GPU.",
        show,
    });
})(globalThis);
