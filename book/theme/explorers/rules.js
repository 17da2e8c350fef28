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

    root.TileRules = { LANES, BANKS, SECTOR, WORD, sectors, lanesTogether, shared, strided, tile };
})(typeof globalThis === "undefined" ? window : globalThis);
