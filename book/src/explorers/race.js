// The race replay: <div class="explorer" data-explorer="race">. Two warps of v02 reach the tile of B; the reader takes
// barriers away and says who hurries. What stands inside the element is for readers without JavaScript.
(function () {
    "use strict";

    const Parts = window.TileParts;
    const Rules = window.TileRules;
    if (!Parts || !Rules) return;
    const { WIDTH, html, svg, picture, rect, text, many } = Parts;

    const LABELS = 62;
    const EDGE = 8;
    const RIGHT = Rules.raceProduct(Rules.raceReplay(
        Rules.raceOrder({ first: true, second: true, leader: 0, lead: 1 })));

    const row = (found) => (found === null ? "nothing yet" : `B[${found}]`);

    function sentence(events, at) {
        const event = events[at];
        const head = `Access ${at + 1} of ${events.length}: warp ${event.warp}, round ${event.round + 1}, `;
        if (event.row === null) {
            const first = event.warp * EDGE / 2;
            const last = first + EDGE / 2 - 1;
            return `${head}stores B[${event.tile[first]}] to B[${event.tile[last]}] in b_tile[${first}] to b_tile[${last}].`;
        }
        const values = event.found === null ? "" : ` (${10 * event.found}, ${10 * event.found + 1}, …)`;
        return `${head}takes b_tile[${event.row}] and finds ${row(event.found)}${values}`
            + (event.right ? ", as it must." : `; B[${event.due}] was due.`);
    }

    function verdict(events) {
        const c = Rules.raceProduct(events);
        const wrong = c.filter((value, i) => value !== RIGHT[i]).length;
        const loads = events.filter((event) => !event.right).length;
        if (wrong === 0) return { good: true, text: `The product is right: C[0][0] = ${c[0]}.` };
        const at = c.findIndex((value, i) => value !== RIGHT[i]);
        return { good: false, text: `${many(loads, "load")} found a wrong row, and ${wrong} of ${c.length} elements of C are wrong: `
            + `C[${Math.floor(at / EDGE)}][${at % EDGE}] = ${c[at]}, not ${RIGHT[at]}.` };
    }

    function draw(events, at, race, label) {
        const [top, line, tileTop, tileRow] = [8, 24, 92, 21];
        const cell = (WIDTH - LABELS) / events.length;
        const image = picture(tileTop + EDGE * tileRow + 2, label);
        for (const warp of [0, 1]) {
            const y = top + warp * line;
            image.append(text("", 0, y + 16, `warp ${warp}`), rect("faint", LABELS, y, WIDTH - LABELS, line - 3));
            events.forEach((event, i) => {
                if (event.warp !== warp) return;
                const x = LABELS + i * cell;
                const shade = event.row === null ? "b" : event.right ? "b2" : "bad";
                const box = rect(shade, x + 0.4, y, cell - 0.8, line - 3);
                box.append(svg("title", {}, sentence(events, i)));
                image.append(box, text(shade === "b2" ? "" : "on", x + cell / 2, y + 16,
                    event.row === null ? "S" : `${event.row}`, "middle"));
            });
        }
        // Where both have come to a barrier.
        const done = [0, 0];
        events.forEach((event, i) => {
            done[event.warp] += 1;
            const both = (n) => done[0] >= n && done[1] >= n && (done[0] === n || done[1] === n) && done[event.warp] === n;
            for (const round of [0, 1]) {
                const x = LABELS + (i + 1) * cell;
                if ((race.first && both(round * 9 + 1)) || (race.second && both(round * 9 + 9))) {
                    image.append(svg("path", { class: "barrier", d: `M${x} ${top - 4}V${top + 2 * line}` }));
                }
            }
        });
        const now = LABELS + at * cell;
        image.append(rect("now", now, top - 3, cell, 2 * line + 3));

        const event = events[at];
        image.append(text("dim", 0, tileTop - 8, "b_tile now"));
        event.tile.forEach((found, i) => {
            const y = tileTop + i * tileRow;
            const shade = found === null ? "faint" : found < EDGE ? "b2" : "b";
            image.append(text("", 0, y + 15, `b_tile[${i}]`), rect(shade, 84, y, 110, tileRow - 2),
                text(shade === "b" ? "on" : "", 139, y + 15, row(found), "middle"));
            const stores = event.row === null && Math.floor(i / (EDGE / 2)) === event.warp;
            if (stores) image.append(text("", 204, y + 15, `← warp ${event.warp} stores`));
            if (event.row === i) {
                image.append(text(event.right ? "" : "ink-bad", 204, y + 15,
                    `→ warp ${event.warp}${event.right ? "" : `: B[${event.due}] was due`}`));
            }
        });
        return image;
    }

    let serial = 0;

    function build(where) {
        serial += 1;
        const id = (name) => `race-${serial}-${name}`;
        const race = { first: true, second: false, leader: 1, lead: 9 };
        let events = [];
        let at = 0;

        const toggles = html("div", { class: "presets", role: "group", "aria-label": "barriers" });
        const buttons = [["first", "barrier after the stores"], ["second", "barrier after the products"]].map(([name, label]) => {
            const button = html("button", { type: "button", class: "toggle" }, label);
            button.addEventListener("click", () => { race[name] = !race[name]; change(); });
            toggles.append(button);
            return [name, button];
        });
        const leader = html("select", { id: id("leader") },
            html("option", { value: 0 }, "warp 0"), html("option", { value: 1 }, "warp 1"));
        const lead = html("input", { id: id("lead"), type: "range", min: 1, max: 9, step: 1 });
        const time = html("input", { id: id("time"), type: "range", min: 0, max: 35, step: 1 });
        const [leadShown, timeShown] = [0, 1].map(() => html("span", { class: "value", "aria-hidden": "true" }));
        const said = html("output", { class: "verdict", "aria-live": "polite" });
        const spoken = html("output", { class: "said", "aria-live": "polite" });
        const drawn = html("div", { class: "drawn", "data-result": "" });
        const labelled = (input, label, shown, wide) => html("div", { class: wide ? "control wide" : "control" },
            html("div", {}, html("label", { for: input.id }, label), " ", shown || ""), input);

        function update() {
            leadShown.textContent = race.lead;
            timeShown.textContent = `${at + 1} of ${events.length}`;
            time.setAttribute("aria-valuetext", timeShown.textContent);
            time.value = at;
            const result = verdict(events);
            said.textContent = result.text;
            where.dataset.verdict = result.good ? "good" : "bad";
            spoken.textContent = sentence(events, at);
            drawn.replaceChildren(draw(events, at, race, `${result.text} ${sentence(events, at)}`));
        }

        // After a change the first wrong load is shown, or the first access.
        function change() {
            for (const [name, button] of buttons) button.setAttribute("aria-pressed", race[name]);
            leader.value = race.leader;
            lead.value = race.lead;
            events = Rules.raceReplay(Rules.raceOrder(race));
            at = Math.max(0, events.findIndex((event) => !event.right));
            update();
        }

        const move = (by) => { at = Math.min(Math.max(at + by, 0), events.length - 1); update(); };
        const moves = html("div", { class: "presets", role: "group", "aria-label": "move" });
        for (const [label, by] of [["◂ access", -1], ["access ▸", 1]]) {
            const button = html("button", { type: "button" }, label);
            button.addEventListener("click", () => move(by));
            moves.append(button);
        }
        moves.addEventListener("keydown", (event) => {
            const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!by) return;
            event.preventDefault();
            move(by);
        });
        leader.addEventListener("input", () => { race.leader = Number(leader.value); change(); });
        lead.addEventListener("input", () => { race.lead = Number(lead.value); change(); });
        time.addEventListener("input", () => { at = Number(time.value); update(); });

        const title = "What happens without a barrier?";
        where.replaceChildren(html("p", { class: "heading" }, title),
            html("div", { class: "controls" }, toggles, labelled(leader, "who hurries"),
                labelled(lead, "accesses ahead, at most", leadShown),
                labelled(time, "access", timeShown, true), moves),
            html("div", { class: "split" },
                html("div", { class: "side" }, html("p", { class: "says" }, said), html("p", { class: "says" }, spoken)), drawn),
            html("p", { class: "checked" }, "v02 with tiles of 8 × 8, so that a block is two warps; K = 16, two rounds; "
                + "A[i][k] = i + 1, B[k][j] = 10k + j. S: a warp stores its four rows; a digit: it takes this row. "
                + "Lines: both warps have come to a barrier. The emulated GPU was forced into each order that can be chosen here, "
                + "and computed this C."));
        where.setAttribute("role", "group");
        where.setAttribute("aria-label", title);
        change();
    }

    Parts.explorer("race", build);
})();
