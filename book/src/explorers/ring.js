// The ring of v12_ring: a producer, two warpgroups, and two mbarriers for each stage. `ring` is checked against the
// emulated GPU by a test of `figures`: each of the three does there what it does here, in the same order.
(function (root) {
    "use strict";

    const WHO = ["producer", "warpgroup 0", "warpgroup 1"];

    // An mbarrier: the phase that it is in, and who has arrived in it. A wait names the parity of a phase that must have
    // ended; the phase before the first counts as ended.
    const barrier = (count) => ({ phase: 0, arrived: 0, count });
    const ended = (it, parity) => it.phase % 2 !== parity;
    function arrive(it) {
        it.arrived += 1;
        if (it.arrived === it.count) Object.assign(it, { phase: it.phase + 1, arrived: 0 });
    }

    // What happens in each unit of time, until all is done, nothing moves any more, or something is wrong. A copy takes
    // `copy` units, the products of a step `multiply`; warpgroup 1 begins `late` units after the first tiles are there. `fault` is one of
    // "", "parity" (the producer begins with parity 0), "early" (a warpgroup frees tiles when its products start) and
    // "free" (the producer does not wait). `log` has what each of the three did.
    function ring({ stages, steps, copy, multiply, late, fault }) {
        const full = Array.from({ length: stages }, () => barrier(1));
        const empty = Array.from({ length: stages }, () => barrier(2));
        const holds = Array(stages).fill(null);
        const tiles = [];
        const log = [[], [], []];
        const at = (step) => step % stages;
        const turn = (step) => Math.floor(step / stages) % 2;
        let next = 0;
        const groups = [0, 1].map((id) => ({ id, step: 0, asked: false, ends: [] }));
        const frames = [];
        let verdict = "";
        let still = 0;

        function release(group, step) {
            log[1 + group.id].push("release");
            arrive(empty[at(step)]);
            tiles[step].freed[group.id] = time;
        }

        let time = 0;
        for (; !verdict && time < 400; time += 1) {
            let moved = false;
            for (const tile of tiles) {
                if (tile.here === null && tile.from + copy <= time) {
                    tile.here = time;
                    arrive(full[at(tile.step)]);
                    moved = true;
                }
            }
            for (const group of groups) {
                for (let again = true; again && !verdict && group.step <= steps && time >= (copy + late) * group.id;) {
                    again = false;
                    const { step } = group;
                    if (step < steps && !group.asked && ended(full[at(step)], turn(step))) {
                        log[1 + group.id].push("wait", "multiply");
                        const got = holds[at(step)];
                        if (got !== step) verdict = `${WHO[1 + group.id]} multiplies step ${got} in place of step ${step}.`;
                        const start = Math.max(time, step > 0 ? group.ends[step - 1] : 0);
                        group.ends.push(start + multiply);
                        if (tiles[got]) tiles[got].read[group.id] = [start, start + multiply];
                        group.asked = again = moved = true;
                        if (fault === "early") release(group, step);
                    } else if ((group.asked || step === steps) && (step === 0 || group.ends[step - 1] <= time)) {
                        if (step > 0 && fault !== "early") release(group, step - 1);
                        group.step += 1;
                        group.asked = false;
                        again = moved = true;
                    }
                }
            }
            const stage = at(next);
            const parity = turn(next) ^ (fault === "parity" ? 0 : 1);
            if (!verdict && next < steps && (fault === "free" || ended(empty[stage], parity))) {
                const old = tiles[holds[stage]];
                const reader = old && [0, 1].find((id) => !old.read[id] || old.read[id][1] > time);
                if (old && reader !== undefined) {
                    verdict = `Step ${next} is copied over step ${old.step}, which ${WHO[1 + reader]} has not read to the end.`;
                }
                log[0].push("wait", "copy");
                tiles.push({ step: next, from: time, here: null, read: [null, null], freed: [null, null] });
                holds[stage] = next;
                next += 1;
                moved = true;
            }
            const done = groups.every((group) => group.step > steps);
            // Products that run, and a copy under way, will move something.
            const busy = tiles.some((tile) => tile.here === null) || time < copy + late
                || groups.some((group) => group.ends.some((end) => end > time));
            still = moved || busy ? 0 : still + 1;
            if (!verdict && still > 2) verdict = "Nothing moves any more: the producer waits for a phase of empty to end, "
                + "which ends when tiles are released, and no tiles have come.";
            frames.push({
                next,
                holds: [...holds],
                full: full.map((it) => ({ ...it })),
                empty: empty.map((it) => ({ ...it })),
                groups: groups.map(({ step }) => ({ step })),
            });
            if (done) break;
        }
        return { frames, tiles, log, verdict };
    }

    root.TileModels = Object.assign(root.TileModels || {}, { ring });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const STEPS = 8;
    const LEFT = 58;
    const odd = (phase) => (phase % 2 ? "odd" : "even");

    let last = { key: "", run: null };
    function run({ stages, copy, multiply, late, fault }) {
        const key = [stages, copy, multiply, late, fault].join();
        if (last.key !== key) last = { key, run: ring({ stages, steps: STEPS, copy, multiply, late, fault }) };
        return last.run;
    }

    // What each of the three does in a frame: a stage, words, and whether it waits.
    function doing(state, result, time) {
        const { stages, fault } = state;
        const frame = result.frames[time];
        const stage = frame.next % stages;
        const parity = Math.floor(frame.next / stages) % 2 ^ (fault === "parity" ? 0 : 1);
        const out = [frame.next === STEPS ? { stage: null, words: "done" }
            : { stage, words: fault === "free" ? "copies" : `waits: ${odd(parity)}`, waits: fault !== "free" }];
        frame.groups.forEach((group, id) => {
            const read = result.tiles.find((tile) => tile.read[id] && tile.read[id][0] <= time && time < tile.read[id][1]);
            if (read) out.push({ stage: read.step % stages, words: "multiplies" });
            else if (group.step >= STEPS) out.push({ stage: null, words: "done" });
            else if (id && state.late && time < state.copy + state.late) out.push({ stage: null, words: "comes late" });
            else out.push({ stage: group.step % stages, words: `waits: ${odd(Math.floor(group.step / stages))}`, waits: true });
        });
        return out;
    }

    function draw(state, result, label) {
        const { stages, time } = state;
        const frame = result.frames[time];
        const cell = (WIDTH - LEFT) / stages;
        const x = (stage) => LEFT + stage * cell;
        const [belt, bars] = [66, 206];
        const image = picture(bars + stages * 17 + 20, label);
        const acts = doing(state, result, time);
        const pointer = (act, y, shade) => {
            if (act.stage === null) {
                image.append(text("dim", LEFT, y + 14, act.words));
                return;
            }
            image.append(rect(act.waits ? "faint" : shade, x(act.stage) + 2, y, cell - 4, 18),
                text(act.waits ? "" : "on", x(act.stage) + cell / 2, y + 14, act.waits && cell < 80 ? act.words.slice(7) + "?" : act.words, "middle"));
        };
        image.append(text("", 0, 14, "copies"));
        pointer(acts[0], 0, "b");
        for (const [name, y, list] of [["empty", 26, frame.empty], ["full", belt + 50, frame.full]]) {
            image.append(text("dim", 0, y + 14, name));
            list.forEach((it, stage) => image.append(rect("outline", x(stage) + 2, y, cell - 4, 20),
                text("dim", x(stage) + cell / 2, y + 14, `${it.phase}, ${odd(it.phase)}`, "middle")));
        }
        image.append(text("", 0, belt + 26, "stages"));
        frame.holds.forEach((step, stage) => {
            const tile = result.tiles[step];
            const here = tile && tile.here !== null && tile.here <= time;
            const freed = tile && tile.freed.every((when) => when !== null && when <= time);
            const words = step === null ? "" : freed ? `(${step})` : `step ${step}${here ? "" : " …"}`;
            image.append(rect(step === null || freed ? "faint" : here ? "b" : "b2", x(stage) + 2, belt - 16, cell - 4, 62),
                text(freed ? "dim" : here ? "on" : "", x(stage) + cell / 2, belt + 21, words, "middle"));
        });
        [1, 2].forEach((who) => {
            const y = belt + 76 + (who - 1) * 22;
            image.append(text("", 0, y + 14, `group ${who - 1}`));
            pointer(acts[who], y, who === 1 ? "a" : "c");
        });
        // The whole run, a row for each stage.
        const end = result.frames.length;
        const unit = (WIDTH - LEFT) / end;
        image.append(text("dim", LEFT, bars - 6, "time →"));
        for (let stage = 0; stage < stages; stage += 1) {
            const y = bars + stage * 17;
            image.append(text("dim", 0, y + 13, `stage ${stage}`), rect("faint", LEFT, y, WIDTH - LEFT, 14));
        }
        for (const tile of result.tiles) {
            const y = bars + tile.step % stages * 17;
            const bar = (cls, from, to, top, height) => image.append(rect(cls, LEFT + from * unit, y + top,
                Math.max(1, (Math.min(to, end) - from) * unit - 0.7), height));
            bar("b2", tile.from, tile.here ?? end, 0, 14);
            tile.read.forEach((span, id) => { if (span && span[0] < end) bar(id ? "c" : "a", span[0], span[1], id * 7.5, 6.5); });
        }
        image.append(svg("path", { class: "barrier", d: `M${LEFT + (time + 0.5) * unit} ${bars - 3}V${bars + stages * 17}` }));
        return image;
    }

    function sentence(state, result) {
        const { stages, time } = state;
        const frame = result.frames[time];
        if (time === result.frames.length - 1 && result.verdict) return result.verdict;
        const said = doing(state, result, time).map((act, who) => {
            if (act.stage === null) return `${WHO[who]}: ${act.words}`;
            if (!act.waits) return `${WHO[who]} ${act.words} ${who ? "from" : "to"} stage ${act.stage}`;
            const phase = Math.floor((who ? frame.groups[who - 1].step : frame.next) / stages) - (who || state.fault === "parity" ? 0 : 1);
            return `${WHO[who]} waits for stage ${act.stage}, until phase ${phase} of its ${who ? "full" : "empty"} has ended`;
        });
        return `${said.join("; ")}.`.replace(/^p/, "P");
    }

    Parts.model("ring", {
        title: "A ring of stages and its mbarriers",
        ask: "How few stages hide a copy of 6 units behind products of 4?",
        controls: [
            { name: "stages", label: "stages", range: [2, 6] },
            { name: "late", label: "warpgroup 1 late by", range: [0, 9] },
            { name: "copy", label: "units for a copy", range: [1, 12] },
            { name: "multiply", label: "for the products", range: [1, 8] },
            { name: "fault", label: "the kernel", wide: true, choices: [["", "as it is"], ["early", "frees tiles when products start"],
                ["free", "does not wait for empty"], ["parity", "producer begins with parity 0"]] },
            { name: "time", label: "time", wide: true, range: (state) => [0, run(state).frames.length - 1], shown: (state) => state.time },
        ],
        start: { stages: 4, copy: 6, multiply: 4, late: 0, fault: "", time: 12 },
        presets: [
            ["slow copies", { stages: 4, copy: 12, multiply: 2, late: 0, fault: "", time: 14 }],
            ["two stages", { stages: 2, copy: 6, multiply: 4, late: 0, fault: "", time: 12 }],
            ["one is late", { stages: 4, copy: 4, multiply: 4, late: 9, fault: "", time: 9 }],
        ],
        play: "time",
        every: 450,
        note: "Eight steps of 64 k. Of each mbarrier: its phase. Tiles are pale while they come, and (in brackets) free when both have read them. "
            + "Below, each stage in time: tiles on their way, read by warpgroup 0 (upper half) and 1. Units of time are chosen here; the order in which each of the three "
            + "waits, copies, multiplies and releases is that of v12_ring on the emulated GPU.",
        show(state) {
            const result = run(state);
            state.time = Math.min(state.time, result.frames.length - 1);
            const said = sentence(state, result);
            return { sentence: said, good: result.verdict && state.time === result.frames.length - 1 ? false : undefined, image: draw(state, result, said) };
        },
    });
})(globalThis);
