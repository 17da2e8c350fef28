// What the memory system counts for one warp-wide access, as in emulator/simt/src/memory/rules.rs.
//
// Addresses are 32 numbers of bytes, null for a lane that takes no part. A test of `figures` runs these functions
// beside the emulator's own, case by case; checked.js says how many. No DOM here, so that a test needs no page.
(function (root) {
    "use strict";

    const LANES = 32;
    const BANKS = 32;
    const WORD = 4;
    const SECTOR = 32;

    // The pieces of `size` bytes that an access of `bytes` at `address` touches.
    function pieces(address, bytes, size) {
        const out = [];
        for (let piece = Math.floor(address / size); piece * size < address + bytes; piece += 1) out.push(piece);
        return out;
    }

    // Distinct 32-byte sectors, lowest first.
    function sectors(addresses, bytes) {
        const seen = new Set();
        for (const address of addresses) {
            if (address !== null) for (const sector of pieces(address, bytes, SECTOR)) seen.add(sector);
        }
        return [...seen].sort((a, b) => a - b);
    }

    // Lanes that go together: the warp for 4 bytes, half of it for 8, a quarter for 16. A load whose lanes pair up
    // (each has the address of lane i ^ 1, or each that of lane i ^ 2) takes twice as many together.
    function lanesTogether(addresses, bytes, load) {
        if (bytes <= 4) return 32;
        const plain = bytes <= 8 ? 16 : 8;
        const pairsUp = (distance) => addresses.every((mine, lane) => {
            const other = addresses[lane ^ distance];
            return mine === null || other === null || mine === other;
        });
        return load && (pairsUp(1) || pairsUp(2)) ? 2 * plain : plain;
    }

    // Lanes that could go together: as above, but lanes without a partner are no pairs.
    function lanesAtBest(addresses, bytes, load) {
        const paired = (distance) => addresses.some((mine, lane) => mine !== null && mine === addresses[lane ^ distance]);
        return lanesTogether(addresses, bytes, load && (paired(1) || paired(2)));
    }

    // What a shared access costs: for each wavefront, which lanes each bank serves; and the fewest wavefronts that
    // an access of this shape could take. Which of the words of a bank goes first is not known; here it is the one
    // of the lowest lane.
    function shared(addresses, bytes, load) {
        const together = lanesTogether(addresses, bytes, load);
        const wavefronts = [];
        const active = addresses.filter((address) => address !== null).length;
        const ideal = Math.ceil(active / lanesAtBest(addresses, bytes, load));
        for (let first = 0; first < LANES; first += together) {
            const banks = new Map();
            for (let lane = first; lane < first + together; lane += 1) {
                if (addresses[lane] === null) continue;
                for (const word of pieces(addresses[lane], bytes, WORD)) {
                    const bank = word % BANKS;
                    if (!banks.has(bank)) banks.set(bank, new Map());
                    const words = banks.get(bank);
                    if (!words.has(word)) words.set(word, []);
                    words.get(word).push(lane);
                }
            }
            const most = Math.max(0, ...[...banks.values()].map((words) => words.size));
            for (let i = 0; i < most; i += 1) {
                const served = new Map();
                for (const [bank, words] of banks) {
                    const lanes = [...words.values()][i];
                    if (lanes) served.set(bank, lanes);
                }
                wavefronts.push(served);
            }
        }
        return { wavefronts, ideal };
    }

    // Lane i reads element first + i * stride; the lanes from `lanes` on take no part.
    function strided({ bytes, stride, first, lanes }) {
        return Array.from({ length: LANES }, (_, lane) =>
            lane < lanes ? (first + lane * stride) * bytes : null);
    }

    // Lanes along a row or down a column of a tile whose rows are `width` elements and `padding` more.
    // Swizzled, element (row, col) lies in column col ^ row. Rows shorter than a warp go on in the next one.
    function tile({ bytes, width, padding, swizzle, along, at }) {
        return Array.from({ length: LANES }, (_, lane) => {
            const row = along === "row" ? at + Math.floor(lane / width) : lane;
            const col = along === "row" ? lane % width : at % width;
            const place = swizzle ? col ^ (row % width) : col;
            return (row * (width + padding) + place) * bytes;
        });
    }

    // ---- What the warps of a block did, as steps-v02.js and its like have it --------------------------------

    // The steps of each warp. A step is [line, text, lanes], and then nothing: a barrier; or [instructions,
    // multiply-adds]; or what it reached: [array, direction, width, pattern, first element], where the direction is 0
    // for a store, 1 for a load, 2 for an ldmatrix, 3 for one that transposes; or an MMA: its multiply-adds, the steps
    // that load its fragments of A and of B, and those that store its accumulators, as [first, number]. The other warps
    // of a program reach elements that are `apart`, by text.
    function unpackSteps(trace) {
        const warps = [];
        const masks = trace.masks.map((mask) => Array.from({ length: LANES }, (_, lane) => lane)
            .filter((lane) => (mask >>> lane) & 1));
        for (const program of trace.programs) {
            program.warps.forEach((warp, i) => {
                const steps = program.steps.map((step) => unpackStep(trace, masks, step, program, i));
                for (const step of steps.filter(({ kind }) => kind === "mma")) {
                    step.fragments = step.fragments.map(([from, n]) => steps.slice(from, from + n));
                }
                warps[warp] = steps;
            });
        }
        return warps;
    }

    function unpackStep(trace, masks, [line, text, mask, ...rest], program, i) {
        const step = { line, instruction: trace.texts[text], lanes: masks[mask] };
        if (rest.length === 0) return { ...step, kind: "barrier" };
        if (rest.length === 2) return { ...step, kind: "run", instructions: rest[0], fmas: rest[1] * step.lanes.length };
        if (rest.length === 1) {
            const [[fmas, ...fragments]] = rest;
            return { ...step, kind: "mma", fmas, fragments };
        }
        const [array, direction, width, pattern, first] = rest;
        const size = trace.arrays[array][3];
        const elements = [first + (program.apart[text] ? program.apart[text][i] : 0)];
        const runs = trace.patterns[pattern];
        for (let i = 0; i < runs.length; i += 2) {
            for (let n = 0; n < runs[i + 1]; n += 1) elements.push(elements[elements.length - 1] + runs[i]);
        }
        const addresses = Array(LANES).fill(null);
        step.lanes.forEach((lane, i) => { addresses[lane] = elements[i] * size; });
        return { ...step, kind: "access", array, load: direction > 0, matrices: direction > 1, transposed: direction === 3,
            width, size, addresses };
    }

    // The elements that each lane receives or gives, in the order of its registers. Of an ldmatrix, lanes 8 m to 8 m + 7
    // have the rows of matrix m, and neighbouring lanes receive neighbours of a row, or of a column.
    function held({ matrices, transposed, addresses, size, width }) {
        const first = (lane) => (addresses[lane] === null ? NaN : addresses[lane] / size);
        return addresses.map((address, lane) => {
            if (!matrices) return address === null ? [] : Array.from({ length: width }, (_, i) => first(lane) + i);
            const [across, pair] = [lane >> 2, 2 * (lane & 3)];
            return [0, 8, 16, 24].flatMap((matrix) => [pair, pair + 1].map((i) =>
                (transposed ? first(matrix + i) + across : first(matrix + across) + i))).filter((element) => !Number.isNaN(element));
        });
    }

    // The warp of each step, in the order in which the emulated GPU ran them.
    function unpackOrder(trace) {
        const order = [];
        for (let i = 0; i < trace.order.length; i += 2) {
            for (let n = 0; n < trace.order[i + 1]; n += 1) order.push(trace.order[i]);
        }
        return order;
    }

    // What an access costs: sectors of global memory, or wavefronts of shared memory.
    function price(step) {
        if (step.kind !== "access" || step.sectors || step.wavefronts) return step;
        if (step.array < 3) return Object.assign(step, { sectors: sectors(step.addresses, step.size * step.width) });
        return Object.assign(step, shared(step.addresses, step.size * step.width, step.load));
    }

    // What was counted in some steps, by name.
    function countSteps(steps) {
        const sum = { "global requests": 0, sectors: 0, "shared requests": 0, wavefronts: 0, excess: 0, "multiply-adds": 0 };
        for (const step of steps.map(price)) {
            if (step.kind === "run" || step.kind === "mma") sum["multiply-adds"] += step.fmas;
            if (step.sectors) {
                sum["global requests"] += 1;
                sum.sectors += step.sectors.length;
            }
            if (step.wavefronts) {
                sum["shared requests"] += 1;
                sum.wavefronts += step.wavefronts.length;
                sum.excess += step.wavefronts.length - step.ideal;
            }
        }
        return sum;
    }

    // ---- Answers to questions, as `cargo xtask predict` judges them -----------------------------------------

    // 0.125, 0,125 or 1/8; null for what is no number.
    function parseAnswer(text) {
        const parse = (part) => {
            const number = part.trim().replaceAll(",", ".");
            return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(number) ? Number(number) : NaN;
        };
        const [above, ...below] = text.trim().split("/");
        const value = below.length ? parse(above) / parse(below.join("/")) : parse(above);
        return Number.isFinite(value) ? value : null;
    }

    function isRight(given, answer, within) {
        const value = parseAnswer(given);
        return value !== null && Math.abs(value - answer) <= within + 1e-9;
    }

    // ---- Two warps of v02 with tiles of 8 x 8 ---------------------------------------------------------------

    const EDGE = 8;
    const ROUNDS = 2;
    // In a round a warp stores its half of the tile of B, then takes one row after the other.
    const ACCESSES = 1 + EDGE;

    // The warp of each access to that tile, one after the other. The leader goes ahead by `lead` accesses at most.
    function raceOrder({ first, second, leader, lead }) {
        const all = ROUNDS * ACCESSES;
        const other = 1 - leader;
        const done = [0, 0];
        // Barriers that a warp has come to when it wants its next access.
        const reached = (n) => {
            const round = Math.floor(n / ACCESSES);
            return (first ? round + (n % ACCESSES > 0 ? 1 : 0) : 0) + (second ? round : 0);
        };
        const may = (warp) => done[warp] < all && reached(done[1 - warp]) >= reached(done[warp]);
        const order = [];
        while (order.length < 2 * all) {
            const goes = (may(leader) && done[leader] < done[other] + lead) || !may(other) ? leader : other;
            done[goes] += 1;
            order.push(goes);
        }
        return order;
    }

    // What each access is: a store (row null), or a load of a row, with the row of B that it finds and that was due.
    function raceReplay(order) {
        const tile = Array(EDGE).fill(null);
        const done = [0, 0];
        return order.map((warp) => {
            const round = Math.floor(done[warp] / ACCESSES);
            const inside = done[warp] % ACCESSES;
            done[warp] += 1;
            if (inside === 0) {
                for (let own = warp * EDGE / 2; own < (warp + 1) * EDGE / 2; own += 1) tile[own] = round * EDGE + own;
                return { warp, round, row: null, tile: [...tile], right: true };
            }
            const [row, due] = [inside - 1, round * EDGE + inside - 1];
            return { warp, round, row, found: tile[row], due, tile: [...tile], right: tile[row] === due };
        });
    }

    // C, of A[i][k] = i + 1 and B[k][j] = 10 k + j. Where nothing was stored the emulated GPU finds 0.
    function raceProduct(events) {
        const c = Array(EDGE * EDGE).fill(0);
        for (const { warp, row, found } of events) {
            for (let i = warp * EDGE / 2; row !== null && found !== null && i < (warp + 1) * EDGE / 2; i += 1) {
                for (let j = 0; j < EDGE; j += 1) c[i * EDGE + j] += (i + 1) * (10 * found + j);
            }
        }
        return c;
    }

    root.TileRules = { LANES, BANKS, SECTOR, WORD, sectors, lanesTogether, shared, strided, tile, unpackSteps,
        unpackOrder, held, price, countSteps, parseAnswer, isRight, raceOrder, raceReplay, raceProduct };
})(typeof globalThis === "undefined" ? window : globalThis);
