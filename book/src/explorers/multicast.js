// Which block of a cluster copies what, and who receives it: one step of v12_multicast beside two blocks by themselves.
(function (root) {
    "use strict";

    const KIB = 1024;
    // Tiles of a step of 64 k: of A 128 rows, of B 256 columns.
    const A = 16 * KIB;
    const B = 32 * KIB;

    // The copies of one step: who starts it, what, how many bytes L2 gives, and which blocks receive them.
    function copies(together) {
        const of = (rank) => [
            { from: rank, what: "A", bytes: A, boxes: 1, to: [rank] },
            together ? { from: rank, what: "B", half: rank, bytes: B / 2, boxes: 4, to: [0, 1] }
                : { from: rank, what: "B", half: null, bytes: B, boxes: 4, to: [rank] },
        ];
        return [...of(0), ...of(1)];
    }

    root.TileModels = Object.assign(root.TileModels || {}, { copies });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const LAST = 6;

    // Time 0: bytes are announced; 1 to 4: a copy each; 5: products; 6: all have released the stage.
    function show({ together, time }) {
        const list = copies(together);
        const now = list.slice(0, Math.min(time, 4));
        const given = now.reduce((sum, copy) => sum + copy.bytes, 0) / KIB;
        const came = [0, 1].map((rank) => now.filter((copy) => copy.to.includes(rank)).reduce((sum, copy) => sum + copy.bytes, 0) / KIB);
        const copy = now[time - 1];
        const what = time === 0 ? "Each producer arrives at its own full and announces 48 KiB."
            : time === 5 ? "Both barriers full have their 48 KiB: four warpgroups multiply."
                : time === LAST ? `A warpgroup has read the stage and arrives at empty ${together ? "of both blocks, because both write to each: four arrivals end a phase."
                    : "of its own block: two arrivals end a phase."}`
                    : `Block ${copy.from} copies ${copy.what === "A" ? `its rows of A, ${copy.boxes} box`
                        : copy.half === null ? `the tile of B, ${copy.boxes} boxes` : `k ${32 * copy.half} to ${32 * copy.half + 31} of B, ${copy.boxes} boxes`}, to ${
                        copy.to.length === 2 ? "both blocks" : "itself"}: ${copy.bytes / KIB} KiB.`;
        const sentence = `${what} L2 has given ${given} KiB of ${together ? 64 : 96}.`;
        return { sentence, image: draw(together, time, list, came, sentence) };
    }

    function draw(together, time, list, came, label) {
        const image = picture(together ? 292 : 270, label);
        const width = 200;
        const [y, row] = [106, 34];
        image.append(rect("faint", 0, 0, WIDTH, 40), text("dim", 8, 25, "L2"));
        const sources = together ? [["A", 0, 60], ["B", 0, 150], ["B", 1, 240], ["A", 1, 330]] : [["A", 0, 60], ["B", null, 195], ["A", 1, 330]];
        const source = {};
        for (const [what, part, x] of sources) {
            const wide = part === null ? 120 : 84;
            source[`${what}${part}`] = x + wide / 2;
            image.append(rect(what === "A" ? "a2" : "b2", x, 6, wide, 28),
                text("", x + wide / 2, 25, what === "A" ? `A, block ${part}` : part === null ? "B, 64 k" : `B, k ${32 * part}–${32 * part + 31}`, "middle"));
        }
        for (const rank of [0, 1]) {
            const x = rank * (width + 40);
            image.append(rect("outline", x + 1, y - 22, width - 2, 182), text("strong", x + 6, y - 5, `block ${rank}`),
                text("dim", x + width - 6, y - 5, "a stage", "end"));
            const places = [["A", rank, 1], ["B", together ? 0 : null, 2], ["B", together ? 1 : null, 3]];
            for (const [what, part, line] of places) {
                const at = list.findIndex((copy) => copy.what === what && copy.to.includes(rank) && (what === "A" || part === null || copy.half === part));
                const here = time > at;
                const shade = { A: "a", B: "b" }[what];
                image.append(rect(here ? (time === LAST ? `${shade}2` : shade) : "faint", x + 8, y + (line - 1) * row, width - 16, row - 4),
                    text(here && time < LAST ? "on" : "dim", x + width / 2, y + (line - 1) * row + 20,
                        what === "A" ? "A: 128 rows" : `B: k ${line === 2 ? "0–31" : "32–63"}`, "middle"));
            }
            image.append(text("", x + 8, y + 3 * row + 18, `full: ${came[rank]} of 48 KiB`));
            const arrived = time === LAST ? (together ? 4 : 2) : 0;
            image.append(text("", x + 8, y + 3 * row + 42, `empty: ${arrived} of ${together ? 4 : 2} arrivals`));
        }
        const copy = time > 0 && time < 5 ? list[time - 1] : null;
        if (copy) {
            const from = source[`${copy.what}${copy.what === "A" ? copy.from : copy.half}`];
            for (const rank of copy.to) {
                const to = rank * (width + 40) + width / 2;
                image.append(svg("path", { class: "arrow", d: `M${from} 36V58H${to}V${y - 24}m-6 -8l6 8l6 -8` }));
            }
        }
        if (time === LAST) {
            for (const rank of [0, 1]) {
                const x = rank * (width + 40) + width / 2;
                const other = (1 - rank) * (width + 40) + width / 2;
                if (together) image.append(svg("path", { class: "arrow", d: `M${x} 262m${rank ? -8 : 8} 5V${278 + rank * 7}H${other + (rank ? 24 : -24)}V268m-5 6l5 -6l5 6` }));
            }
        }
        return image;
    }

    Parts.model("multicast", {
        title: "Who copies, and who receives?",
        ask: "How many arrivals end a phase of empty, and why so many?",
        controls: [
            { name: "together", label: "blocks", wide: true, choices: [["yes", "a cluster of two"], ["no", "two by themselves"]] },
            { name: "time", label: "event", wide: true, range: [0, LAST] },
        ],
        start: { together: "yes", time: 2 },
        play: "time",
        every: 1200,
        note: "One step of 64 k for tiles of C of 128 × 256, one below the other. Copies are counted as on the emulated GPU; in which order "
            + "they arrive is open.",
        show: (state) => show({ together: state.together === "yes", time: state.time }),
    });
})(globalThis);
