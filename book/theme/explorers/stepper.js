// The warp stepper: <div class="explorer" data-explorer="steps" data-of="v01">. It goes through what one warp of a
// real kernel did, as steps.js has it. What stands inside the element is for readers without JavaScript.
(function () {
    "use strict";

    const Parts = window.TileParts;
    const Rules = window.TileRules;
    if (!Parts || !Rules || !window.TileSteps) return;
    const { WIDTH, html, svg, picture, rect, text, many, ranges } = Parts;

    const CLASSES = ["a", "b", "c", "a", "b"];
    // Of a matrix that one warp uses little of, so many rows are drawn.
    const ROWS = 32;

    // ---- In words ------------------------------------------------------------------------------------------

    // The elements that a step reaches, each once.
    function elements(step) {
        const out = new Set();
        for (const address of step.addresses) {
            for (let i = 0; address !== null && i < step.width; i += 1) out.add(address / 4 + i);
        }
        return out;
    }

    // A[0–31][4]
    function place([name, , cols], reached) {
        const rows = new Set([...reached].map((element) => Math.floor(element / cols)));
        const columns = new Set([...reached].map((element) => element % cols));
        return `${name}[${ranges(rows)}][${ranges(columns)}]`;
    }

    function sentence(trace, steps, at) {
        const step = steps[at];
        const who = step.lanes.length === Rules.LANES ? "all 32 lanes" : `lanes ${ranges(step.lanes)}`;
        const head = `Step ${at + 1} of ${steps.length}, line ${step.line}, ${who}: `;
        if (step.kind === "barrier") return `${head}wait for all warps of the block.`;
        if (step.kind === "run") {
            return head + (step.fmas > 0 ? `${many(step.fmas, "multiply-add")}.`
                : `${many(step.instructions, "instruction")} for addresses and control.`);
        }
        const reached = elements(step);
        const verb = step.load ? "load" : "store to";
        const wide = step.width > 1 ? `, ${4 * step.width} bytes per lane` : "";
        const what = `${verb} ${place(trace.arrays[step.array], reached)}${wide}: `;
        if (step.sectors) {
            const bytes = step.sectors.length * Rules.SECTOR;
            return `${head}${what}1 request, ${many(step.sectors.length, "sector")}; ${4 * reached.size} of ${bytes} bytes are used.`;
        }
        const excess = step.wavefronts.length - step.ideal;
        return `${head}${what}1 request, ${many(step.wavefronts.length, "wavefront")}, `
            + (excess === 0 ? "none too many." : `${excess} too many.`);
    }

    // ---- The picture ---------------------------------------------------------------------------------------

    // Where each array stands: x, y of its first cell, the edge of a cell, and how many rows are drawn.
    function layout(trace) {
        const [m, , k] = trace.shape;
        const [top, gap, label] = [50, 14, 16];
        if (trace.of === "v05") {
            const cell = 3;
            const left = 8 * cell + gap;
            const strip = 8 * cell + gap + label - 8;
            const y = (i) => top + label - 4 + i * strip;
            const rows = Math.min(m, ROWS);
            return { height: y(3) + rows * cell, of: [
                [0, y(3), cell, rows], [left, y(2), cell, k], [left, y(3), cell, rows],
                [left, y(0), cell, 8], [left, y(1), cell, 8]] };
        }
        const tiles = trace.arrays.length > 3;
        const cell = tiles ? 4 : 7;
        // As high for every shape of a chapter.
        const [deep, edge] = [tiles ? 64 : 16, 32];
        const [right, low] = [deep * cell + gap, top + label + deep * cell + gap];
        const x = Math.max(0, WIDTH - right - edge * cell) / 2;
        const high = top + label - 4;
        return { height: low + edge * cell, of: [
            [x, low, cell, m], [x + right, high, cell, k], [x + right, low, cell, m],
            [x, high, cell, edge], [x + (edge + 2) * cell, high, cell, edge]] };
    }

    function draw(trace, steps, at, label) {
        const { height, of } = layout(trace);
        const step = steps[at];
        const hasTiles = trace.arrays.length > 3;
        const [bankTop, bankRow, most] = [height + 34, 9, 4];
        const image = picture(hasTiles ? bankTop + most * bankRow + 2 : height + 2, label);
        const lane = WIDTH / Rules.LANES;
        const colour = step.kind === "access" ? CLASSES[step.array] : "grey";

        image.append(text("dim", 0, 12, "lane 0"), text("dim", WIDTH, 12, "31", "end"));
        image.append(rect("faint", 0, 17, WIDTH, 13));
        for (const i of step.lanes) image.append(rect(colour, i * lane + 0.75, 17, lane - 1.5, 13));

        // A path of the cells of some elements: far fewer nodes than a rectangle for each.
        function cells(array, wanted, inset) {
            const [x, y, cell, rows] = of[array];
            const cols = trace.arrays[array][2];
            let path = "";
            for (const element of wanted) {
                const row = Math.floor(element / cols);
                if (row >= rows) continue;
                const edge = cell - 2 * inset;
                path += `M${x + element % cols * cell + inset} ${y + row * cell + inset}h${edge}v${edge}h-${edge}z`;
            }
            return path;
        }

        // Around elements `from` to `to`, which may go on in the next row.
        function frame(onto, array, from, to) {
            const [x, y, cell, rows] = of[array];
            const cols = trace.arrays[array][2];
            for (let at = from; at < to;) {
                const [row, col] = [Math.floor(at / cols), at % cols];
                const n = Math.min(to - at, cols - col);
                if (row < rows) onto.append(rect("sector", x + col * cell, y + row * cell, n * cell, cell));
                at += n;
            }
        }

        const before = trace.arrays.map(() => new Set());
        for (const old of steps.slice(0, at)) {
            if (old.kind === "access") for (const element of elements(old)) before[old.array].add(element);
        }
        trace.arrays.forEach(([name, rows, cols], array) => {
            const [x, y, cell, shown] = of[array];
            const more = shown < rows ? `, rows 0–${shown - 1}` : "";
            image.append(text(`ink-${CLASSES[array]}`, x, y - 4, array === 2 ? `${name}${more}` : name));
            image.append(rect("faint", x, y, cols * cell, shown * cell));
            image.append(svg("path", { class: `${CLASSES[array]}2`, d: cells(array, before[array], 0) }));
            if (step.kind !== "access" || step.array !== array) return;
            for (const sector of step.sectors || []) frame(image, array, sector * 8, Math.min(sector * 8 + 8, rows * cols));
            image.append(svg("path", { class: CLASSES[array], d: cells(array, elements(step), cell > 3 ? 0.5 : 0.25) }));
        });

        if (hasTiles) {
            image.append(text("dim", 0, bankTop - 5, "bank 0"), text("dim", WIDTH, bankTop - 5, "31", "end"),
                text("dim", WIDTH / 2, bankTop - 5, "one row for each wavefront", "middle"));
            image.append(rect("faint", 0, bankTop, WIDTH, most * bankRow));
            (step.wavefronts || []).forEach((served, row) => {
                for (const bank of served.keys()) {
                    image.append(rect(colour, bank * lane + 0.75, bankTop + row * bankRow + 0.5, lane - 1.5, bankRow - 1));
                }
            });
        }
        return image;
    }

    // ---- The frame -----------------------------------------------------------------------------------------

    let serial = 0;

    function build(where) {
        const traces = window.TileSteps.filter((trace) => trace.of === where.dataset.of);
        if (traces.length === 0) return;
        serial += 1;
        const id = (name) => `steps-${serial}-${name}`;
        let trace;
        let steps;
        let at = 0;

        const select = html("select", { id: id("kernel") });
        traces.forEach((one, i) => select.append(html("option", { value: i }, one.label)));
        const slider = html("input", { id: id("step"), type: "range", min: 0, step: 1, value: 0 });
        const shown = html("span", { class: "value", "aria-hidden": "true" });
        const listing = html("pre", { class: "listing", tabindex: 0, role: "region", "aria-label": "the kernel" });
        const code = html("code", { class: "instruction" });
        const spoken = html("output", { class: "said", "aria-live": "polite" });
        const counted = html("dl", { class: "counted" });
        const drawn = html("div", { class: "drawn", "data-result": "" });

        function update() {
            const step = steps[at];
            slider.value = at;
            shown.textContent = `${at + 1} of ${steps.length}`;
            slider.setAttribute("aria-valuetext", `${at + 1} of ${steps.length}`);
            for (const line of listing.children) {
                const here = Number(line.dataset.line) === step.line;
                line.classList.toggle("here", here);
                if (here) listing.scrollTop = line.offsetTop - (listing.clientHeight - line.offsetHeight) / 2;
            }
            code.textContent = step.kind === "run" && step.instructions > 1
                ? `${step.instruction} …` : step.instruction;
            const what = sentence(trace, steps, at);
            spoken.textContent = what;
            const sum = Rules.countSteps(steps.slice(0, at + 1));
            const names = Object.keys(sum).filter((name) => trace.arrays.length > 3 || !["shared requests", "wavefronts", "excess"].includes(name));
            counted.replaceChildren(...names.map((name) =>
                html("div", {}, html("dt", {}, name), html("dd", {}, `${sum[name]}`))));
            drawn.replaceChildren(draw(trace, steps, at, what));
        }

        function go(to) {
            at = Math.min(Math.max(to, 0), steps.length - 1);
            update();
        }

        function access(direction) {
            let to = at + direction;
            while (to > 0 && to < steps.length - 1 && steps[to].kind === "run") to += direction;
            go(to);
        }

        function choose(i) {
            trace = traces[i];
            steps = Rules.unpackSteps(trace);
            slider.max = steps.length - 1;
            listing.replaceChildren(...trace.source.map(([number, line]) =>
                html("span", { class: "line", "data-line": number }, `${String(number).padStart(3)}  ${line}\n`)));
            // The first step that a reader came for.
            go(steps.findIndex((step) => step.kind === "access"));
        }

        const presets = html("div", { class: "presets moves", role: "group", "aria-label": "move" });
        for (const [label, act] of [
            ["first", () => go(0)],
            ["◂ access", () => access(-1)],
            ["◂ step", () => go(at - 1)],
            ["step ▸", () => go(at + 1)],
            ["access ▸", () => access(1)],
            ["last", () => go(steps.length - 1)],
        ]) {
            const button = html("button", { type: "button" }, label);
            button.addEventListener("click", act);
            presets.append(button);
        }
        presets.addEventListener("keydown", (event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!by) return;
            event.preventDefault();
            go(at + by);
        });
        slider.addEventListener("input", () => go(Number(slider.value)));
        select.addEventListener("input", () => choose(Number(select.value)));

        const controls = html("div", { class: "controls" });
        if (traces.length > 1) {
            controls.append(html("div", { class: "control wide" }, html("label", { for: select.id }, "kernel and shape"), select));
        }
        controls.append(html("div", { class: "control wide" },
            html("div", {}, html("label", { for: slider.id }, "step"), " ", shown), slider), presets);
        const title = "What does one warp do, step by step?";
        where.replaceChildren(html("p", { class: "heading" }, title), controls, listing,
            html("div", { class: "split" },
                html("div", { class: "side" }, html("p", { class: "ptx" }, code), html("p", { class: "says" }, spoken),
                    html("p", { class: "so-far" }, "Counted so far, in this warp:"), counted),
                drawn),
            html("p", { class: "checked" }, "Warp 0 of block (0, 0), as it ran on the emulated GPU; loads and stores as PTX has them, "
                + "before ptxas joins neighbours. Solid: the elements of this step. Framed: the sectors that it moves. Pale: reached before."));
        where.setAttribute("role", "group");
        where.setAttribute("aria-label", title);
        choose(0);
    }

    Parts.explorer("steps", build);
})();
