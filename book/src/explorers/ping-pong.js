// Two warpgroups and the tensor cores: one tile for both, or a tile for each in turn.
(function (root) {
    "use strict";

    // When each warpgroup multiplies and stores, as [from, to] pairs. `main` is the time of the products of 128 x 256,
    // `store` that of an epilogue, in clocks. In turn each has 128 x 128, half of the products.
    function turns({ main, store, kernel, tiles }) {
        const groups = [{ main: [], store: [] }, { main: [], store: [] }];
        let free = 0;
        const ready = [0, 0];
        if (kernel === "store") {
            for (let i = 0; i < tiles / 2; i += 1) {
                const start = Math.max(...ready);
                for (const id of [0, 1]) {
                    groups[id].main.push([start, start + main]);
                    groups[id].store.push([start + main, start + main + store]);
                    ready[id] = start + main + store;
                }
            }
        } else {
            for (let i = 0; i < tiles; i += 1) {
                const id = i % 2;
                const start = Math.max(free, ready[id]);
                free = start + main / 2;
                groups[id].main.push([start, free]);
                groups[id].store.push([free, free + store]);
                ready[id] = free + store;
            }
        }
        const end = Math.max(...ready);
        return { groups, end, busy: main * tiles / 2 / end };
    }

    // At the barrier `full` of its first stage, the phase that is due for the second warpgroup, after a tile of `steps` steps,
    // and the phase whose end lets its wait pass when it comes without a turn: the first of the same parity. The phase
    // before the first, -1, counts as ended.
    function early(steps, stages) {
        const due = Math.floor(steps / stages);
        return { due, passes: due % 2 ? -1 : 0, stage: steps % stages };
    }

    root.TileModels = Object.assign(root.TileModels || {}, { turns, early });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text, percent } = Parts;
    const TILES = 8;
    const STAGES = 6;
    // A warpgroup MMA of 64 x 256 x 16 takes 128 clocks: two for 128 rows.
    const clocks = (k) => k / 16 * 128 * 2;

    function show(state) {
        const main = clocks(state.k);
        const runs = ["store", "ping_pong"].map((kernel) => turns({ main, store: state.store, kernel, tiles: TILES }));
        const steps = state.k / 64;
        const { due, passes, stage } = early(steps, STAGES);
        const sentence = state.turn
            ? `With turns tensor cores are busy for ${percent(runs[1].busy)} of ${runs[1].end} clocks, `
                + `with one tile for both for ${percent(runs[0].busy)} of ${runs[0].end}.`
            : `Without turns warpgroup 1 waits at stage ${stage} for phase ${due} of full, by its parity: ${due % 2 ? "odd" : "even"}. `
                + (passes === due ? "Right here, because no phase of this parity comes before it."
                    : `The wait passes ${passes < 0 ? "at once, in phase 0: the phase before counts as ended, and is odd. It multiplies what lies there"
                        : "when phase 0 has ended. It multiplies tiles of warpgroup 0"}.`);
        return { sentence, good: state.turn ? undefined : passes === due, image: draw(runs, state, { due, passes, stage, steps }, sentence) };
    }

    function draw(runs, state, { due, passes, stage, steps }, label) {
        const [left, row] = [76, 22];
        const image = picture(330, label);
        const end = Math.max(...runs.map((run) => run.end));
        const unit = (WIDTH - left) / end;
        runs.forEach((run, panel) => {
            const top = 22 + panel * 98;
            image.append(text("strong", 0, top - 7, ["store: one tile for both", "ping_pong: a tile for each"][panel]));
            run.groups.forEach((group, id) => {
                const y = top + id * row;
                image.append(text("", 0, y + 14, `group ${id}`), rect("faint", left, y, WIDTH - left, row - 4));
                for (const [from, to] of group.main) image.append(rect(id ? "c" : "a", left + from * unit, y, Math.max(1, (to - from) * unit - 0.8), row - 4));
                for (const [from, to] of group.store) image.append(rect("b2", left + from * unit, y + 4, Math.max(0.6, (to - from) * unit - 0.8), row - 12));
            });
            const y = top + 2 * row;
            image.append(text("dim", 0, y + 14, "tensor"), rect("faint", left, y, WIDTH - left, row - 4));
            run.groups.forEach((group, id) => group.main.forEach(([from, to]) => {
                if (panel === 0 && id === 1) return;
                image.append(rect("asked", left + from * unit, y + 3, Math.max(1, (to - from) * unit - 0.8), row - 10));
            }));
        });
        // The barrier of the stage where warpgroup 1 begins.
        const top = 236;
        image.append(text("strong", 0, top - 7, `full of stage ${stage}: what arrives in each phase`));
        const count = (n, from) => Array.from({ length: n }, (_, i) => from + i);
        const phases = due < 12 ? count(due + 3, 0) : [...count(3, 0), null, ...count(8, due - 5)];
        const cell = (WIDTH - left) / phases.length;
        image.append(text("dim", 0, top + 16, "phase"), text("dim", 0, top + 42, "step"), text("dim", 0, top + 68, "wait"));
        phases.forEach((phase, i) => {
            const x = left + i * cell;
            if (phase === null) {
                image.append(text("dim", x + cell / 2, top + 30, "…", "middle"));
                return;
            }
            const step = stage + phase * STAGES;
            const second = step >= steps;
            image.append(rect(second ? "c2" : "a2", x + 1, top, cell - 2, 50), text("dim", x + cell / 2, top + 17, `${phase}`, "middle"),
                text("", x + cell / 2, top + 42, `${second ? step - steps : step}`, "middle"));
        });
        image.append(rect("now", left + phases.indexOf(due) * cell + 1, top, cell - 2, 50));
        const right = state.turn || passes === due;
        const mark = right ? phases.indexOf(due) : passes + 0.5;
        image.append(svg("path", { class: right ? "arrow" : "arrow wrong", d: `M${left + (mark + 0.5) * cell} ${top + 74}v-20m-5 6l5 -6l5 6` }),
            text(right ? "dim" : "ink-bad", left + (mark + 0.5) * cell + 10, top + 72, right ? "due" : `passes here; phase ${due} is due`));
        return image;
    }

    Parts.model("ping-pong", {
        title: "One tile for two warpgroups, or one for each in turn",
        ask: "From which K on do turns hide an epilogue of 8000 clocks?",
        controls: [
            { name: "k", label: "K", wide: true, range: [128, 8192, 64] },
            { name: "store", label: "clocks of an epilogue", wide: true, range: [500, 20000, 500] },
            { name: "turn", label: "turns are given", check: true },
        ],
        start: { k: 2048, store: 8000, turn: true },
        presets: [
            ["short k", { k: 512, store: 8000, turn: true }],
            ["long k", { k: 8192, store: 8000, turn: true }],
            ["no turns", { k: 4096, store: 8000, turn: false }],
        ],
        note: "Four tiles of 128 × 256, or eight of 128 × 128. Blue and green: a warpgroup multiplies; pale orange: it stores. Products take what wgmma takes at its best, and the ring always "
            + "has the next tiles; how long an epilogue takes is chosen here. Below, a ring of six stages: pale blue are steps of warpgroup 0, "
            + "pale green of warpgroup 1; framed, the phase in which its first step arrives.",
        show,
    });
})(globalThis);
