// The stepper: <div class="explorer" data-explorer="steps" data-of="v02">. It goes through what the warps of one block
// of a real kernel did, as generated/steps-v02.js has it, which only a page with a stepper loads. What stands inside
// the element is for readers without JavaScript.
(function () {
    "use strict";

    const Parts = window.TileParts;
    const Rules = window.TileRules;
    if (!Parts || !Rules) return;
    const { WIDTH, html, svg, picture, rect, text, many, ranges } = Parts;

    const CLASSES = ["a", "b", "c", "a", "b"];
    // The first of the arrays that warps write to: C, then the tiles.
    const WRITTEN = 2;
    // Colours of writing warps; the next warps take them again.
    const HUES = 8;
    const ALL = -1;
    const KINDS = [
        ["global", "load from global memory"], ["stores", "store to global memory"], ["fills", "store to a tile"],
        ["tiles", "load from a tile"], ["fma", "multiply-add"], ["wait", "barrier"],
    ];

    // ---- When each warp is where ---------------------------------------------------------------------------

    // For each warp the moments of its steps. Together: between two barriers every warp takes a step at a moment.
    // Otherwise: one step of one warp at a moment, in the order of the emulated GPU.
    function schedule(warps, order) {
        const moments = warps.map(() => []);
        if (order) {
            order.forEach((warp, at) => moments[warp].push(at));
            return { moments, length: order.length };
        }
        let start = 0;
        while (warps.some((steps, warp) => moments[warp].length < steps.length)) {
            const ends = warps.map((steps, warp) => {
                let at = start;
                for (let i = moments[warp].length; i < steps.length; i += 1) {
                    moments[warp].push(at);
                    at += 1;
                    if (steps[i].kind === "barrier") break;
                }
                return at;
            });
            start = Math.max(...ends);
        }
        return { moments, length: start };
    }

    // The last index whose moment is not after `at`; -1 before the first.
    function last(moments, at) {
        let [low, high] = [0, moments.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (moments[middle] <= at) low = middle + 1;
            else high = middle;
        }
        return low - 1;
    }

    // ---- In words ------------------------------------------------------------------------------------------

    function eachElement(step, visit) {
        step.addresses.forEach((address, lane) => {
            for (let i = 0; address !== null && i < step.width; i += 1) visit(address / step.size + i, lane);
        });
    }

    // The accesses whose elements a step touches: of an MMA, those that load its fragments or store its accumulators.
    const touched = (step) => (step.kind === "access" ? [step] : step.kind === "mma" ? step.fragments.flat() : []);

    // The elements that steps reach, each once.
    function elements(steps) {
        const out = new Set();
        for (const step of steps) eachElement(step, (element) => out.add(element));
        return out;
    }

    // A[0–31][4]
    function place([name, all, cols, , buffers], reached) {
        const brief = (numbers) => {
            const words = ranges(numbers);
            return words.split(",").length <= 4 ? words : `${numbers.size} of ${Math.min(...numbers)}–${Math.max(...numbers)}`;
        };
        const [each, part] = [all / buffers * cols, (f) => new Set([...reached].map(f))];
        const buffer = buffers > 1 ? `[${brief(part((element) => Math.floor(element / each)))}]` : "";
        const rows = part((element) => Math.floor(element % each / cols));
        return `${name}${buffer}[${brief(rows)}][${brief(part((element) => element % cols))}]`;
    }

    // The elements of one lane in some accesses.
    const ofLane = (accesses, lane) => new Set(accesses.flatMap((one) => Rules.held(one)[lane]));
    const hasFragments = (step) => step.kind === "mma" || step.matrices === true;

    // What one lane of a warp has of the fragments.
    function ofFragments(trace, [warp, step], lane) {
        const own = (accesses) => place(trace.arrays[accesses[0].array], ofLane(accesses, lane));
        const who = `Lane ${lane} of warp ${warp}`;
        if (step.kind === "mma") {
            const [a, b, sums] = step.fragments.map(own);
            return `${who} has ${a}, ${b}, and the accumulators of ${sums}.`;
        }
        const row = new Set();
        eachElement(step, (element, by) => { if (by === lane) row.add(element); });
        return `${who} gives the address of ${place(trace.arrays[step.array], row)}, and receives ${own([step])}.`;
    }

    // What some warps do at the same line.
    function deed(trace, steps) {
        const [step] = steps;
        if (step.kind === "barrier") return "wait for all warps of the block";
        if (step.kind === "run") {
            const sum = (name) => steps.reduce((n, { [name]: more }) => n + more, 0);
            return step.fmas > 0 ? many(sum("fmas"), "multiply-add")
                : `${many(sum("instructions"), "instruction")} for addresses and control`;
        }
        if (step.kind === "mma") {
            const [a, b, sums] = [0, 1, 2].map((i) => {
                const accesses = steps.flatMap(({ fragments }) => fragments[i]);
                return place(trace.arrays[accesses[0].array], elements(accesses));
            });
            const fmas = steps.reduce((n, one) => n + one.fmas, 0);
            return `multiply ${a} by ${b} into the accumulators of ${sums}: ${many(steps.length, "MMA")}, ${many(fmas, "multiply-add")}`;
        }
        const reached = elements(steps);
        const what = `${step.load ? "load" : "store to"} ${place(trace.arrays[step.array], reached)}`
            + (step.width > 1 ? `, ${step.size * step.width} bytes per lane` : "");
        const priced = steps.map(Rules.price);
        const requests = many(steps.length, "request");
        if (step.array < 3) {
            const n = priced.reduce((sum, { sectors }) => sum + sectors.length, 0);
            const used = steps.reduce((sum, one) => sum + one.size * elements([one]).size, 0);
            return `${what}: ${requests}, ${many(n, "sector")}; ${used} of ${n * Rules.SECTOR} bytes are used`;
        }
        const n = priced.reduce((sum, { wavefronts }) => sum + wavefronts.length, 0);
        const excess = priced.reduce((sum, { wavefronts, ideal }) => sum + wavefronts.length - ideal, 0);
        return `${what}: ${requests}, ${many(n, "wavefront")}, ${excess || "none"} too many`;
    }

    const lanes = (step) => (step.lanes.length === Rules.LANES ? "all 32 lanes" : `lanes ${ranges(step.lanes)}`);
    const named = (warps) => (warps.length === 1 ? `warp ${warps[0]}` : `warps ${ranges(warps)}`);

    // ---- The pictures --------------------------------------------------------------------------------------

    // Where each array stands: its first cell, the size of a cell, the rows of a buffer, and the step to the next one.
    function layout(trace) {
        const [m, n, k] = trace.shape;
        const [label, high] = [15, 300];
        const cells = (places, w, h) => places.map(([x, y], i) => ({ x, y, w, h, rows: trace.arrays[i][1], step: [0, 0] }));
        // C below B and right of A, as rows and columns are multiplied.
        const matrices = (x, y, cell, [across, down] = [14, label]) => {
            const [right, low] = [x + k * cell + across, y + k * cell + down];
            return cells([[x, low], [right, y], [right, low]], cell, cell);
        };
        if (trace.arrays.length === 3) {
            const cell = (high - 2 * label - 2) / (k + m);
            return matrices((WIDTH - (k + n) * cell - 14) / 2, label, cell);
        }
        const [rows, cols, wideB] = [trace.arrays[3][1] / trace.arrays[3][4], trace.arrays[3][2], trace.arrays[4][2]];
        const buffers = trace.arrays[3][4];
        if (rows > cols) {
            // Tiles between the matrices, and space for fragments above A.
            const [below, beside] = [trace.arrays[4][1] / buffers, 12];
            const h = (high - (buffers + 2) * (label + 3)) / (k + buffers * below + m);
            const w = (WIDTH - (buffers + 1) * beside) / (k + buffers * cols + wideB);
            const [toTile, toMatrix] = [k * w + beside, (label + 3) * (buffers + 1) + (k + buffers * below) * h + label];
            const right = toTile + buffers * (cols * w + beside);
            const tile = (x, y, of, step) => ({ x, y, w, h, rows: of, step });
            return [...cells([[0, toMatrix], [right, label], [right, toMatrix]], w, h),
                tile(toTile, toMatrix, rows, [cols * w + beside, 0]),
                tile(right, label + k * h + label + 3, below, [0, below * h + label + 3])];
        }
        const wide = cols > rows;
        // Beside wide tiles the matrices are small.
        const cell = wide ? 116 / (k + n + 8) : 215 / (k + n);
        const small = wide ? matrices(WIDTH - 116, label, cell, [6, label + 14]) : matrices(0, label, cell);
        const all = rows * buffers;
        const gap = buffers > 1 ? 14 : 0;
        const [w, h] = wide ? [306 / cols, Math.min(16, (high - 2 * label - 2 * gap - 4) / (2 * all))]
            : [(high - 2 * label - 4) / (2 * all), (high - 2 * label - 4) / (2 * all)];
        const x = wide ? 0 : WIDTH - cols * w - 10;
        const tile = (y) => ({ x, y, w, h, rows, step: [0, rows * h + gap] });
        return [...small, tile(label), tile(label + all * h + gap + label + 4)];
    }

    // The upper left corner of a cell.
    function corner(box, row, col) {
        const buffer = Math.floor(row / box.rows);
        return [box.x + col * box.w + buffer * box.step[0], box.y + (row % box.rows) * box.h + buffer * box.step[1]];
    }

    // A path of the cells whose element has a value, joined along rows.
    function cells(box, cols, values, wanted, inset = 0) {
        let path = "";
        for (let row = 0; row * cols < values.length; row += 1) {
            for (let col = 0; col < cols; col += 1) {
                const from = col;
                while (col < cols && wanted(values[row * cols + col])) col += 1;
                if (col === from) continue;
                const [w, h] = [(col - from) * box.w - 2 * inset, box.h - 2 * inset];
                const [x, y] = corner(box, row, from);
                path += `M${(x + inset).toFixed(2)} ${(y + inset).toFixed(2)}`
                    + `h${w.toFixed(2)}v${h.toFixed(2)}h${(-w).toFixed(2)}z`;
            }
        }
        return path;
    }

    // Who wrote each element last, and what was read before.
    function before(state) {
        const { trace, warps, plan, at, warp } = state;
        const writers = trace.arrays.map(([, rows, cols]) => new Int16Array(rows * cols).fill(-1));
        const when = trace.arrays.map(([, rows, cols]) => new Int32Array(rows * cols).fill(-1));
        warps.forEach((steps, w) => {
            const end = last(plan.moments[w], at - 1);
            for (let i = 0; i <= end; i += 1) {
                const step = steps[i];
                if (step.kind !== "access" || (step.array < WRITTEN && warp !== ALL && warp !== w)) continue;
                if (step.load && step.array >= WRITTEN) continue;
                const moment = plan.moments[w][i];
                eachElement(step, (element) => {
                    if (when[step.array][element] > moment) return;
                    when[step.array][element] = moment;
                    writers[step.array][element] = w;
                });
            }
        });
        return writers;
    }

    // The number of a warp, in a block of cells that it alone wrote, where the block is large enough.
    function numbers(onto, box, cols, writers) {
        const corners = new Map();
        writers.forEach((warp, element) => {
            if (warp < 0) return;
            const [row, col] = [Math.floor(element / cols), element % cols];
            const key = `${warp} ${Math.floor(row / box.rows)}`;
            const seen = corners.get(key) || { warp, rows: [row, row], cols: [col, col], n: 0 };
            corners.set(key, { warp, n: seen.n + 1, rows: [Math.min(seen.rows[0], row), Math.max(seen.rows[1], row)],
                cols: [Math.min(seen.cols[0], col), Math.max(seen.cols[1], col)] });
        });
        for (const { warp, rows, cols: [from, to], n } of corners.values()) {
            const [x, y] = corner(box, rows[0], from);
            const high = (rows[1] - rows[0] + 1) * box.h;
            const wide = (to - from + 1) * box.w;
            if (n !== (rows[1] - rows[0] + 1) * (to - from + 1) || high < 6.5 || wide < 9) continue;
            const size = Math.min(13, high + 1);
            const number = text("owner", x + wide / 2, y + high / 2 + size * 0.36, `${warp}`, "middle");
            number.setAttribute("style", `font-size: ${size}px`);
            onto.append(number);
        }
    }

    // The fragments of a step: in full colour the elements of one lane, pale those of its group of four. An ldmatrix
    // frames the row whose address the lane gives.
    function drawFragments(onto, { trace, lane }, step) {
        const [w, h, top] = [6, 4.1, 16];
        const [right, low] = [16 * w + 16, 2 * top + 16 * h];
        const parts = !step ? [] : step.kind === "mma" ? step.fragments : step.array === 3 ? [[step]] : [[], [step]];
        [["a", "fragment of A", 0, low], ["b", "fragment of B", right, top], ["c", "accumulators", right, low]].forEach(([colour, name, x, y], i) => {
            const accesses = parts[i] || [];
            onto.append(text("dim", x, y - 4, name), rect("faint", x, y, 16 * w, 16 * h));
            if (accesses.length === 0) return;
            const cols = trace.arrays[accesses[0].array][2];
            const from = Math.min(...elements(accesses));
            const at = (element) => [Math.floor(element / cols) - Math.floor(from / cols), element % cols - from % cols];
            const cell = (cls, element) => {
                const [row, col] = at(element);
                onto.append(rect(cls, x + col * w + 0.3, y + row * h + 0.3, w - 0.6, h - 0.6));
            };
            for (let other = 0; other < 4; other += 1) {
                const one = (lane & ~3) + other;
                for (const element of ofLane(accesses, one)) cell(one === lane ? colour : `${colour}2`, element);
            }
            for (const access of accesses.filter(({ matrices }) => matrices && step.kind === "access")) {
                const [row, col] = at(access.addresses[lane] / access.size);
                onto.append(rect("now", x + col * w, y + row * h, access.width * w, h));
            }
        });
        onto.append(text("strong", 0, top + 12, `lane ${lane}`), text("dim", 0, top + 30, `group ${lane >> 2}`));
    }

    function draw(state, acting, label) {
        const { trace, boxes, cell } = state;
        const image = picture(302, label);
        const writers = before(state);
        if (state.fragments) {
            const [, step] = acting.find(([, one]) => hasFragments(one)) || [];
            drawFragments(image, state, step);
        }
        trace.arrays.forEach(([name, rows, cols, , buffers], array) => {
            const box = boxes[array];
            for (let row = 0; row < rows; row += box.rows) {
                const [x, y] = corner(box, row, 0);
                image.append(text(`ink-${CLASSES[array]}`, x, y - (row > 0 ? 3 : 4), buffers > 1 ? `${name}[${row / box.rows}]` : name),
                    rect("faint", x, y, cols * box.w, box.rows * box.h));
            }
            if (array < WRITTEN) {
                image.append(svg("path", { class: `${CLASSES[array]}2`, d: cells(box, cols, writers[array], (warp) => warp >= 0) }));
            } else {
                for (let hue = 0; hue < HUES; hue += 1) {
                    const d = cells(box, cols, writers[array], (warp) => warp >= 0 && warp % HUES === hue);
                    if (d) image.append(svg("path", { class: `w${hue}`, d }));
                }
                numbers(image, box, cols, writers[array]);
            }
            const now = acting.flatMap(([, step]) => touched(step).map((access) => [access, access === step]))
                .filter(([access]) => access.array === array);
            if (now.length === 0) return;
            const reached = new Int8Array(rows * cols);
            const moved = new Int8Array(rows * cols);
            for (const [access, moves] of now) {
                eachElement(access, (element) => { reached[element] = 1; });
                const each = Rules.SECTOR / access.size;
                for (const sector of (moves && Rules.price(access).sectors) || []) moved.fill(1, sector * each, (sector + 1) * each);
            }
            const is = (value) => value === 1;
            image.append(svg("path", { class: "sector", d: cells(box, cols, moved, is) }),
                svg("path", { class: CLASSES[array], d: cells(box, cols, reached, is, Math.min(box.w, box.h) > 3 ? 0.4 : 0) }));
        });
        if (cell) {
            const box = boxes[cell.array];
            const cols = trace.arrays[cell.array][2];
            const [x, y] = corner(box, Math.floor(cell.element / cols), cell.element % cols);
            image.append(rect("now", x - 1, y - 1, box.w + 2, box.h + 2));
        }
        return image;
    }

    // The lanes that take part, and which banks of shared memory serve them.
    function drawLanes(acting, label) {
        const hasBanks = acting.some(([, step]) => step.kind === "access" && step.array > 2);
        const high = 36;
        const image = picture(76, label);
        const lane = WIDTH / Rules.LANES;
        const [, step] = acting[0] || [];
        const colour = step && step.kind === "access" ? CLASSES[step.array] : "grey";
        image.append(text("dim", 0, 12, "lane 0"), text("dim", WIDTH, 12, "31", "end"), rect("faint", 0, 17, WIDTH, 8));
        const active = new Set(acting.flatMap(([, one]) => one.lanes));
        for (const i of active) image.append(rect(colour, i * lane + 0.75, 17, lane - 1.5, 8));
        if (!hasBanks) return image;
        image.append(text("dim", 0, 38, "bank 0"), text("dim", WIDTH, 38, "31", "end"),
            text("dim", WIDTH / 2, 38, acting.length > 1 ? `wavefronts of warp ${acting[0][0]}` : "one row for each wavefront", "middle"));
        const row = high / Math.max(4, step.wavefronts.length);
        image.append(rect("faint", 0, 41, WIDTH, step.wavefronts.length * row));
        step.wavefronts.forEach((served, i) => {
            for (const bank of served.keys()) image.append(rect(colour, bank * lane + 0.75, 41 + i * row + 0.5, lane - 1.5, row - 1));
        });
        return image;
    }

    const kindOf = (step) => (step.kind === "barrier" ? "wait" : step.kind === "mma" ? "fma" : step.kind === "run" ? (step.fmas > 0 ? "fma" : "")
        : step.array < 3 ? (step.load ? "global" : "stores") : (step.load ? "tiles" : "fills"));

    // The strip of every warp. Its width is that of the page, so that its words keep their size.
    function drawStrips({ warps, plan }, width) {
        const row = warps.length > 8 ? 3 : 10;
        const [left, high] = [44, warps.length * row];
        const image = svg("svg", { viewBox: `0 0 ${width} ${high + 2}`, "aria-hidden": "true" });
        const step = (width - left - 1) / plan.length;
        const paths = Object.fromEntries(KINDS.map(([name]) => [name, ""]));
        warps.forEach((steps, warp) => {
            if (warps.length <= 8 || warp % 8 === 0) {
                image.append(text("dim", left - 6, warp * row + (warps.length > 8 ? 10 : row - 1.5), warp ? `${warp}` : "warp 0", "end"));
            }
            const [y, h] = [warp * row + 0.5, row - 1];
            image.append(rect("faint", left, y, width - left, h));
            const moments = plan.moments[warp];
            for (let i = 0; i < steps.length;) {
                const kind = kindOf(steps[i]);
                const from = i;
                // Where a moment is less than a pixel, arithmetic goes with the loads before it.
                const goesOn = (next) => next === kind || (step < 1 && kind && ["", "fma"].includes(next));
                do i += 1; while (i < steps.length && goesOn(kindOf(steps[i])) && moments[i] === moments[i - 1] + 1 && kind !== "wait");
                if (!kind) continue;
                const wide = Math.max((moments[i - 1] - moments[from] + 1) * step - (step > 3 ? 0.6 : 0), kind === "wait" ? 1.2 : 0.7);
                // Multiply-adds stand low and stores of results high, for eyes that do not tell the colours apart.
                const [t, tall] = kind === "fma" ? [y + h * 0.55, h * 0.45] : [y, kind === "stores" ? h * 0.55 : h];
                paths[kind] += `M${(left + moments[from] * step).toFixed(1)} ${t.toFixed(2)}h${wide.toFixed(1)}v${tall.toFixed(2)}h${(-wide).toFixed(1)}z`;
            }
        });
        for (const [kind] of KINDS) image.append(svg("path", { class: `k-${kind}`, d: paths[kind] }));
        return { image, left, row, step, high };
    }

    // ---- Who wrote a cell, who reads it --------------------------------------------------------------------

    function history({ warps, plan }, { array, element }) {
        const events = [];
        warps.forEach((steps, warp) => steps.forEach((step, i) => {
            const by = [];
            for (const access of touched(step).filter((one) => one.array === array)) {
                access.addresses.forEach((address, lane) => {
                    const first = address === null ? Infinity : address / access.size;
                    if (first <= element && element < first + access.width) by.push(lane);
                });
            }
            if (by.length) events.push({ warp, lanes: by, step, at: plan.moments[warp][i] });
        }));
        return events.sort((a, b) => a.at - b.at || a.warp - b.warp);
    }

    function biography(state, events) {
        const { trace, at, cell } = state;
        const head = `${place(trace.arrays[cell.array], new Set([cell.element]))}: `;
        const kind = (name) => events.filter(({ step }) => name === (step.kind === "mma" ? "mma" : step.load ? "load" : "store"));
        const stores = kind("store");
        const written = [...stores].reverse().find((event) => event.at <= at);
        const next = stores.find((event) => event.at > (written ? written.at : at));
        const who = (event) => `warp ${event.warp}, lane ${ranges(event.lanes)}, line ${event.step.line}`;
        const current = ({ at: moment }) => cell.array < WRITTEN || (written && moment > written.at && (!next || moment < next.at));
        const reads = kind("load").filter(current);
        // Accumulators are added to before they are stored.
        const sums = cell.array === WRITTEN;
        const products = kind("mma").filter((event) => sums || current(event));
        const by = (some) => `${named([...new Set(some.map(({ warp }) => warp))])} (line ${ranges(new Set(some.map(({ step }) => step.line)))})`;
        const so = (some) => `${some.filter((event) => event.at <= at).length} of them by now. `;
        const read = reads.length ? `Read by ${by(reads)}, in ${many(reads.length, "request")}, ${so(reads)}`
            : events.length ? "" : "No warp of this block touches it.";
        const multiplied = products.length === 0 ? "" : sums
            ? `An accumulator of lane ${ranges(products[0].lanes)} of ${by(products)}, which adds to it in ${many(products.length, "MMA")}, ${so(products)}`
            : `Multiplied in ${many(products.length, "MMA")}, ${so(products)}`;
        if (cell.array < WRITTEN) return head + read;
        const wrote = written ? `written by ${who(written)}. ` : `not yet written${next ? `; first by ${who(next)}` : ""}. `;
        return head + wrote + read + multiplied;
    }

    // ---- The frame -----------------------------------------------------------------------------------------

    let serial = 0;

    function build(where, traces) {
        serial += 1;
        const id = (name) => `steps-${serial}-${name}`;
        const state = { at: 0, warp: ALL, lane: 9, cell: null };
        let together = true;
        let strips = null;
        let playing = null;

        const option = (value, label) => html("option", { value }, label);
        const select = html("select", { id: id("kernel") }, ...traces.map((one, i) => option(i, one.label)));
        const warpSelect = html("select", { id: id("warp") });
        const laneSelect = html("select", { id: id("lane") }, ...Array.from({ length: Rules.LANES }, (_, i) => option(i, `lane ${i}`)));
        const orderSelect = html("select", { id: id("order") }, option("together", "all together"), option("emulated", "as emulated"));
        const slider = html("input", { id: id("step"), type: "range", min: 0, step: 1, value: 0, "aria-label": "moment" });
        const listing = html("pre", { class: "listing", tabindex: 0, role: "region", "aria-label": "the kernel; Enter on a line goes to its next execution" });
        const code = html("code", { class: "instruction" });
        const spoken = html("output", { class: "said", "aria-live": "polite" });
        const about = html("output", { class: "about", "aria-live": "polite" });
        const counted = html("dl", { class: "counted" });
        const lanesBox = html("div", { class: "drawn lanes", "aria-hidden": "true" });
        const drawn = html("div", { class: "drawn cells", "data-result": "", tabindex: 0, role: "application",
            "aria-label": "cells of the arrays: arrow keys go from cell to cell, Page Down to the next array" });
        const time = html("div", { class: "drawn strips", "data-result": "" });
        const play = html("button", { type: "button", class: "play" }, "▶ Play");

        // What the chosen warp, or every warp, does at this moment.
        function acting() {
            const out = [];
            state.warps.forEach((steps, warp) => {
                if (state.warp !== ALL && state.warp !== warp) return;
                const i = last(state.plan.moments[warp], state.at);
                if (i >= 0 && state.plan.moments[warp][i] === state.at) out.push([warp, steps[i], i]);
            });
            return out;
        }

        function sentence(now) {
            const { warps, plan, trace, warp, at } = state;
            const moment = `Moment ${at + 1} of ${plan.length}`;
            if (warp !== ALL && now.length === 0) {
                const i = last(plan.moments[warp], at);
                const step = warps[warp][i];
                return `${moment}: warp ${warp} ${i < 0 ? "has not begun" : i === warps[warp].length - 1 ? "has finished"
                    : step.kind === "barrier" ? `waits at the barrier of line ${step.line}` : `stands after line ${step.line}`}.`;
            }
            if (warp !== ALL) {
                const [, step, i] = now[0];
                return `Warp ${warp}, step ${i + 1} of ${warps[warp].length}, line ${step.line}, ${lanes(step)}: ${deed(trace, [step])}.`;
            }
            const groups = new Map();
            for (const [w, step] of now) {
                const key = `${step.line} ${step.instruction} ${step.kind}`;
                groups.set(key, [...(groups.get(key) || []), [w, step]]);
            }
            const parts = [...groups.values()].slice(0, 3).map((group) =>
                `${named(group.map(([w]) => w))}, line ${group[0][1].line}: ${deed(trace, group.map(([, step]) => step))}`);
            return `${moment}. ${parts.map((part) => part[0].toUpperCase() + part.slice(1)).join(". ")}${groups.size > 3 ? ", …" : "."}`;
        }

        function update() {
            const { warps, plan, trace, at, warp } = state;
            const now = acting();
            slider.value = at;
            slider.setAttribute("aria-valuetext", `${at + 1} of ${plan.length}`);
            const here = new Map();
            for (const [, step] of now) here.set(step.line, (here.get(step.line) || 0) + 1);
            if (now.length === 0 && warp !== ALL) {
                const i = last(plan.moments[warp], at);
                if (i >= 0) here.set(warps[warp][i].line, 1);
            }
            let first = null;
            for (const line of listing.children) {
                const n = here.get(Number(line.dataset.line)) || 0;
                line.classList.toggle("here", n > 0);
                if (n > 0 && warp === ALL && warps.length > 1) line.dataset.n = many(n, "warp");
                else delete line.dataset.n;
                if (n > 0) first = first || line;
            }
            if (first) {
                const y = first.offsetTop;
                if (y < listing.scrollTop + 8 || y + first.offsetHeight > listing.scrollTop + listing.clientHeight - 8) {
                    listing.scrollTop = y - (listing.clientHeight - first.offsetHeight) / 2;
                }
            }
            const step = now.length ? now[0][1] : null;
            code.textContent = !step ? " " : step.kind === "run" && step.instructions > 1 ? `${step.instruction} …` : step.instruction;
            code.title = code.textContent;
            const what = sentence(now);
            spoken.textContent = what;
            const until = warps.flatMap((steps, w) => (warp === ALL || warp === w ? steps.slice(0, last(plan.moments[w], at) + 1) : []));
            const sum = Rules.countSteps(until);
            const names = Object.keys(sum).filter((name) => trace.arrays.length > 3 || !["shared requests", "wavefronts", "excess"].includes(name));
            counted.replaceChildren(...[["so far", warp === ALL ? "all warps" : `warp ${warp}`],
                ...names.map((name) => [name, sum[name].toLocaleString("en").replaceAll(",", "\u202f")])].map(([name, value]) =>
                html("div", {}, html("dt", {}, name), html("dd", {}, value))));
            drawn.replaceChildren(draw(state, now, what));
            lanesBox.replaceChildren(drawLanes(now, ""));
            remember();
            const fragments = now.find(([, one]) => hasFragments(one));
            about.textContent = fragments ? ofFragments(trace, fragments, state.lane)
                : "Point at a cell, touch it, or go to it with the arrow keys: who wrote it, who reads it.";
            mark();
        }

        // Once the reader has moved something, it is in the page's address, which can be passed on.
        let moved = false;
        let later = null;
        for (const kind of ["pointerdown", "keydown", "input"]) where.addEventListener(kind, () => { moved = true; }, true);
        function remember() {
            clearTimeout(later);
            if (!moved || playing || !where.id) return;
            const place = new URLSearchParams({ kernel: select.value, warp: state.warp, order: orderSelect.value, moment: state.at,
                ...(state.fragments && { lane: state.lane }) });
            later = setTimeout(() => window.history.replaceState(null, "", `#${where.id}?${place}`), 500);
        }

        function recall() {
            const [asked, query] = location.hash.slice(1).split("?");
            const place = new URLSearchParams(query);
            const [kernel, warp, moment, lane] = ["kernel", "warp", "moment", "lane"].map((name) => Number(place.get(name) ?? NaN));
            if (asked !== where.id || !traces[kernel] || !Number.isInteger(moment)) return;
            select.value = kernel;
            choose(kernel);
            together = place.get("order") !== "emulated";
            orderSelect.value = together ? "together" : "emulated";
            if (Number.isInteger(warp) && warp >= ALL && warp < state.warps.length) state.warp = warp;
            warpSelect.value = state.warp;
            if (Number.isInteger(lane) && lane >= 0 && lane < Rules.LANES) state.lane = lane;
            laneSelect.value = state.lane;
            arrange();
            go(moment);
            where.scrollIntoView();
        }

        // The moment, the chosen warp and a cell's history, on the time line.
        function mark() {
            if (!strips) return;
            const { left, row, step, high, marks } = strips;
            marks.replaceChildren();
            const x = left + (state.at + 0.5) * step;
            marks.append(svg("path", { class: "moment", d: `M${x} ${high + 2}V0h5l-5 6l-5-6h5` }));
            if (state.warp !== ALL) marks.append(rect("now", left - 1, state.warp * row, strips.width - left, row));
            if (!state.cell) return;
            const events = history(state, state.cell);
            about.textContent = biography(state, events);
            const size = Math.max(2, Math.min(row, 7) / 2);
            for (const event of events) {
                const [cx, cy] = [left + (event.at + 0.5) * step, (event.warp + 0.5) * row];
                marks.append(event.step.kind === "mma" ? svg("circle", { class: "wrote", cx, cy, r: size * 0.6 })
                    : event.step.load ? svg("circle", { class: "read", cx, cy, r: size * 0.8 })
                    : rect("wrote", cx - size, cy - size, 2 * size, 2 * size));
            }
        }

        function measure() {
            const width = Math.round(time.clientWidth);
            if (!state.plan || width === 0 || (strips && strips.width === width && strips.plan === state.plan)) return;
            strips = { ...drawStrips(state, width), width, plan: state.plan, marks: svg("g", {}) };
            strips.image.append(strips.marks);
            time.replaceChildren(strips.image);
            slider.style.marginLeft = `${strips.left - 6}px`;
            slider.style.width = `calc(100% - ${strips.left - 6}px)`;
            mark();
        }

        function go(to) {
            state.at = Math.min(Math.max(to, 0), state.plan.length - 1);
            update();
        }

        // The next moment at which the chosen warp, or any, does something `wanted`; itself when there is none.
        function seek(direction, wanted) {
            let best = null;
            state.warps.forEach((steps, warp) => {
                if (state.warp !== ALL && state.warp !== warp) return;
                const moments = state.plan.moments[warp];
                let i = last(moments, state.at);
                if (direction > 0) i += 1;
                else if (moments[i] === state.at) i -= 1;
                while (steps[i] && !wanted(steps[i])) i += direction;
                if (steps[i] && (best === null || direction * (moments[i] - best) < 0)) best = moments[i];
            });
            return best;
        }

        const any = () => true;
        const step = (direction) => go(seek(direction, any) ?? state.at);
        const access = (direction) => go(seek(direction, (one) => one.kind !== "run") ?? (direction < 0 ? 0 : state.plan.length - 1));

        function stop() {
            clearInterval(playing);
            playing = null;
            play.textContent = "▶ Play";
            spoken.setAttribute("aria-live", "polite");
        }

        play.addEventListener("click", () => {
            if (playing) return stop();
            const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
            if (seek(1, any) === null) state.at = -1;
            play.textContent = "❚❚ Pause";
            spoken.setAttribute("aria-live", "off");
            // No longer than a minute, however many moments there are.
            const leap = state.warp === ALL ? Math.ceil(state.plan.length / (calm ? 60 : 300)) : 1;
            playing = setInterval(() => {
                const to = seek(1, any);
                if (to === null || !where.isConnected) stop();
                else go(Math.max(to, state.at + leap));
            }, calm ? 1000 : 180);
        });

        function toLine(number) {
            const onLine = (one) => one.line === number;
            let to = seek(1, onLine);
            if (to === null) {
                const { at } = state;
                state.at = -1;
                to = seek(1, onLine);
                state.at = at;
            }
            if (to !== null) go(to);
        }

        listing.addEventListener("click", (event) => {
            const line = event.target.closest("[role=button]");
            const selection = document.getSelection();
            if (line && (!selection || selection.isCollapsed)) toLine(Number(line.dataset.line));
        });
        listing.addEventListener("keydown", (event) => {
            const lines = [...listing.querySelectorAll("[role=button]")];
            const i = lines.indexOf(event.target);
            if (i < 0) return;
            if (event.key === "Enter" || event.key === " ") toLine(Number(event.target.dataset.line));
            const to = { ArrowDown: i + 1, ArrowUp: i - 1 }[event.key];
            if (lines[to]) {
                event.target.tabIndex = -1;
                lines[to].tabIndex = 0;
                lines[to].focus({ preventScroll: true });
                lines[to].scrollIntoView({ block: "nearest" });
            }
            if (["Enter", " ", "ArrowDown", "ArrowUp"].includes(event.key)) event.preventDefault();
        });

        function point(cell) {
            if (state.cell && cell && state.cell.array === cell.array && state.cell.element === cell.element) return;
            state.cell = cell;
            const now = acting();
            drawn.replaceChildren(draw(state, now, spoken.textContent));
            mark();
        }

        drawn.addEventListener("pointermove", pointed);
        drawn.addEventListener("pointerdown", pointed);
        function pointed(event) {
            const image = drawn.firstChild.getBoundingClientRect();
            const [x, y] = [(event.clientX - image.left) * WIDTH / image.width, (event.clientY - image.top) * WIDTH / image.width];
            state.boxes.forEach((box, array) => {
                const [, rows, cols] = state.trace.arrays[array];
                for (let first = 0; first < rows; first += box.rows) {
                    const [left, top] = corner(box, first, 0);
                    const [row, col] = [Math.floor((y - top) / box.h), Math.floor((x - left) / box.w)];
                    if (row >= 0 && row < box.rows && col >= 0 && col < cols) point({ array, element: (first + row) * cols + col });
                }
            });
        }
        drawn.addEventListener("keydown", (event) => {
            const { arrays } = state.trace;
            const { array, element } = state.cell || { array: Math.min(3, arrays.length - 1), element: 0 };
            const [, rows, cols] = arrays[array];
            const [row, col] = [Math.floor(element / cols), element % cols];
            const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageDown: [0, 0], PageUp: [0, 0] }[event.key];
            if (!by) return;
            event.preventDefault();
            if (!state.cell) return point({ array, element });
            if (event.key.startsWith("Page")) {
                const n = arrays.length;
                return point({ array: (array + (event.key === "PageDown" ? 1 : n - 1)) % n, element: 0 });
            }
            const to = [Math.min(Math.max(row + by[0], 0), rows - 1), Math.min(Math.max(col + by[1], 0), cols - 1)];
            point({ array, element: to[0] * cols + to[1] });
        });

        function scrub(event) {
            if (!strips || (event.type === "pointermove" && event.buttons === 0)) return;
            const image = strips.image.getBoundingClientRect();
            const warp = Math.floor((event.clientY - image.top) / strips.row);
            if (event.type === "pointerdown" && state.warp !== ALL && warp >= 0 && warp < state.warps.length) {
                state.warp = warp;
                warpSelect.value = warp;
            }
            go(Math.floor((event.clientX - image.left - strips.left) / strips.step));
        }
        time.addEventListener("pointerdown", scrub);
        time.addEventListener("pointermove", scrub);

        function arrange() {
            // The step where the reader is stays, in the other order.
            const [warp, i] = state.plan && state.plan.of === state.warps
                ? (acting()[0] || [0, null, last(state.plan.moments[0], state.at)]).filter((_, n) => n !== 1) : [0, null];
            state.plan = { ...schedule(state.warps, together ? null : Rules.unpackOrder(state.trace)), of: state.warps };
            slider.max = state.plan.length - 1;
            const first = state.warps[0].findIndex((one) => one.kind === "access");
            state.at = state.plan.moments[warp][Math.max(i ?? first, 0)];
            measure();
            update();
        }

        function choose(n) {
            stop();
            const trace = traces[n];
            const warps = Rules.unpackSteps(trace);
            const fragments = warps.some((steps) => steps.some(hasFragments));
            Object.assign(state, { trace, warps, fragments, boxes: layout(trace), cell: null });
            if (fragments) heading.append(laneControl);
            else laneControl.remove();
            laneSelect.value = state.lane;
            state.warp = trace.arrays.length > 3 ? ALL : 0;
            warpSelect.replaceChildren(option(ALL, `all ${warps.length} warps`), ...warps.map((_, warp) => option(warp, `warp ${warp}`)));
            warpSelect.value = state.warp;
            const runs = new Set(warps.flatMap((steps) => steps.map((one) => one.line)));
            let stops = 0;
            listing.replaceChildren(...trace.source.map(([number, line]) => {
                const button = runs.has(number) ? { role: "button", tabindex: stops === 0 ? 0 : -1 } : {};
                stops += runs.has(number) ? 1 : 0;
                return html("span", { class: "line", "data-line": number, ...button }, `${String(number).padStart(3)}  ${line}\n`);
            }));
            arrange();
        }

        const moves = html("div", { class: "presets moves", role: "group", "aria-label": "move" });
        for (const [label, act, title] of [
            ["|◂", () => go(0), "first moment"],
            ["◂ access", () => access(-1), "last load, store or barrier before this"],
            ["◂ step", () => step(-1)],
            [play],
            ["step ▸", () => step(1)],
            ["access ▸", () => access(1), "next load, store or barrier"],
            ["▸|", () => go(state.plan.length - 1), "last moment"],
        ]) {
            const button = act ? html("button", { type: "button", ...(title && { title }), ...(/\w/.test(label) ? {} : { "aria-label": title }) }, label) : label;
            if (act) button.addEventListener("click", () => { stop(); act(); });
            moves.append(button);
        }
        moves.addEventListener("keydown", (event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!by) return;
            event.preventDefault();
            step(by);
        });
        slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
        select.addEventListener("input", () => choose(Number(select.value)));
        laneSelect.addEventListener("input", () => { state.lane = Number(laneSelect.value); update(); });
        warpSelect.addEventListener("input", () => { state.warp = Number(warpSelect.value); update(); });
        orderSelect.addEventListener("input", () => { stop(); together = orderSelect.value === "together"; arrange(); });

        const control = (label, input) => html("div", { class: "control" }, html("label", { for: input.id }, label), input);
        const title = "The warps of a block, step by step";
        const legend = html("p", { class: "legend", "aria-hidden": "true" }, ...KINDS.map(([kind, label]) => html("span", { class: `k-${kind}` }, label)));
        const laneControl = control("lane", laneSelect);
        const heading = html("div", { class: "controls row" }, html("p", { class: "heading" }, title),
            ...(traces.length > 1 ? [control("kernel and shape", select)] : []));
        where.replaceChildren(heading,
            html("div", { class: "controls row" }, moves, control("warp", warpSelect), control("order", orderSelect)),
            html("div", { class: "split stepper" },
                html("div", { class: "side" }, listing, html("p", { class: "ptx" }, code), lanesBox),
                drawn),
            html("p", { class: "says" }, spoken), html("p", { class: "says dim" }, about),
            legend, time, slider, counted,
            html("details", { class: "checked" }, html("summary", {}, "How to read this"), html("p", {},
                "Block (0, 0), as it ran on the emulated GPU; loads and stores as PTX has them, before ptxas joins neighbours. "
                + "In the picture, solid: the elements of this moment; framed: the sectors that they move; pale: what was read before. "
                + "Cells of C and of tiles have the colour, and where there is room the number, of the warp that wrote them last. "
                + "On the time line, a square where the cell is written, a dot where it is read, a ring where an MMA takes it. "
                + "At an MMA, the elements of its fragments, and those of C whose accumulators it adds to. "
                + "To the right is order, not time. All together: between two barriers every warp takes a step at a moment; "
                + "as emulated: a warp goes on until it has to wait. A GPU mixes the warps in any way that the barriers allow.")));
        where.setAttribute("role", "group");
        where.setAttribute("aria-label", title);
        new ResizeObserver(measure).observe(time);
        choose(0);
        recall();
    }

    // Loads the steps of a chapter's kernels, once.
    const loads = new Map();
    function load(key) {
        const root = typeof path_to_root === "string" ? path_to_root : "";
        if (!loads.has(key)) {
            loads.set(key, new Promise((done, failed) => {
                const script = html("script", { src: `${root}generated/steps-${key}.js` });
                script.addEventListener("load", () => done(window.TileSteps[key]));
                script.addEventListener("error", failed);
                document.head.append(script);
            }));
        }
        return loads.get(key);
    }

    // For a kernel that a reader ran in the page.
    window.TileStepper = build;

    Parts.explorer("steps", (where) => {
        // Without the data the picture for readers without JavaScript stands there.
        load(where.dataset.of).then((traces) => build(where, traces), () => where.setAttribute("role", "group"));
    });
})();
