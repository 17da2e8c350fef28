// Multiply-adds of real loops, the banks of their registers, and what the reuse cache keeps. The listings are those in the
// page inside the element, in an element with data-listing each.
(function (root) {
    "use strict";

    // The multiply-adds of a listing: for each operand its register and whether it was kept, how many registers either bank
    // must deliver, and clocks. `change.reuse`: whether operands are kept at all; `change.further`: whether accumulators
    // lie one register further.
    function operands(listing, change = { reuse: true, further: false }) {
        const kept = [null, null, null];
        return [...listing.matchAll(/^([0-9a-f]+) .*?FFMA R\d+, (\S+), (\S+), (R[Z0-9]+\S*)/gm)].map(([, address, ...texts]) => {
            const fresh = new Set();
            const reads = texts.map((text, place) => {
                const match = /^-?R(\d+)(\.reuse)?/.exec(text);
                if (!match) return null;
                const register = Number(match[1]) + (change.further && place === 2 ? 1 : 0);
                const marked = Boolean(match[2]);
                const was = change.reuse && kept[place] === register;
                kept[place] = marked ? register : null;
                if (!was) fresh.add(register);
                return { register, marked, kept: was };
            });
            const odd = [...fresh].filter((register) => register % 2).length;
            const banks = [fresh.size - odd, odd];
            return { address, reads, banks, clocks: Math.max(1, ...banks) };
        });
    }

    root.TileModels = Object.assign(root.TileModels || {}, { operands });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, picture, rect, text, many } = Parts;
    const ROW = 21;
    const TOP = 24;

    function model(place) {
        const listings = Object.fromEntries([...place.querySelectorAll("[data-listing]")].map((it) => [it.dataset.listing, it.textContent]));
        const list = (state) => operands(listings[state.listing], state);
        return {
            title: "Two banks of registers, and what is kept",
            ask: "What would these loops cost if nothing were kept?",
            controls: [
                { name: "listing", label: "loop of", wide: true, choices: Object.keys(listings).map((name) => [name, name]) },
                { name: "line", label: "multiply-add", wide: true, range: (state) => [0, list(state).length - 1], shown: (state) => state.line + 1 },
                { name: "reuse", label: "operands are kept", check: true },
                { name: "further", label: "sums one register on", check: true },
            ],
            start: { listing: Object.keys(listings)[0], line: 2, reuse: true, further: false },
            play: "line",
            every: 900,
            note: "Lines of the machine code, one after the other, of one warp; before the first nothing is kept. Even registers are blue, odd ones "
                + "orange; ↓: marked to be kept; framed: kept, not read again. Squares: what a bank delivers. On a card some of these clocks are hidden.",
            show: (state) => show(state, list(state)),
        };
    }

    function show({ line }, reads) {
        const now = reads[line];
        const sum = (upTo) => reads.slice(0, upTo).reduce((total, read) => total + read.clocks, 0);
        const kept = now.reads.filter((read) => read && read.kept).map((read) => `R${read.register}`);
        const sentence = `Multiply-add ${line + 1} at 0x${now.address}: ${kept.length ? `${kept.join(" and ")} kept; ` : "nothing kept; "}`
            + `the even bank delivers ${now.banks[0]}, the odd one ${now.banks[1]}: ${many(now.clocks, "clock")}. `
            + `All ${reads.length} take ${sum(reads.length)} clocks.`;
        return { sentence, good: now.clocks === 1, image: draw(reads, line, sentence) };
    }

    function draw(reads, line, label) {
        const image = picture(TOP + reads.length * ROW, label);
        [["two factors", 4, "start"], ["sum", 186, "start"], ["even", 280, "start"], ["odd", 344, "start"], ["clocks", WIDTH, "end"]]
            .forEach(([words, x, anchor]) => image.append(text("dim", x, 14, words, anchor)));
        reads.forEach(({ reads: three, banks, clocks }, i) => {
            const y = TOP + i * ROW;
            three.forEach((read, place) => {
                if (!read) return;
                const x = place * 91 + 2;
                const shade = read.kept ? "outline" : read.register % 2 ? "b2" : "a2";
                image.append(rect(shade, x, y + 1, 84, ROW - 4),
                    text(read.kept ? "dim" : "", x + 42, y + 15, `R${read.register}${read.marked ? " ↓" : ""}`, "middle"));
            });
            banks.forEach((n, bank) => {
                for (let k = 0; k < n; k += 1) image.append(rect(bank ? "b" : "a", 280 + bank * 64 + k * 18, y + 3, 14, 14));
            });
            image.append(text(clocks > 1 ? "ink-bad" : "", WIDTH - 12, y + 15, `${clocks}`, "end"));
            const touch = rect("pickable", 0, y, WIDTH, ROW);
            touch.dataset.pick = `line=${i}`;
            image.append(touch);
        });
        image.append(rect("now", 1, TOP + line * ROW - 1, WIDTH - 2, ROW));
        image.lastChild.setAttribute("pointer-events", "none");
        return image;
    }

    Parts.model("register-banks", model);
})(globalThis);
