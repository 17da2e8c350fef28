// The explorers: <div class="explorer" data-explorer="coalescing"> and "banks". What stands inside the element is
// for readers without JavaScript, and is replaced. Attributes such as data-stride="2" set the start.
(function () {
    "use strict";

    const Rules = window.TileRules;
    const SVG = "http://www.w3.org/2000/svg";
    const WIDTH = 440;

    function html(name, attributes, ...children) {
        const element = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
        element.append(...children);
        return element;
    }

    function svg(name, attributes, text) {
        const element = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
        if (text !== undefined) element.textContent = text;
        return element;
    }

    function picture(height, label) {
        return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label });
    }

    const rect = (cls, x, y, width, height) => svg("rect", { class: cls, x, y, width, height });
    const text = (cls, x, y, content, anchor = "start") =>
        svg("text", { class: cls, x, y, "text-anchor": anchor }, content);
    const many = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
    const percent = (part) => `${Math.round(1000 * part) / 10} %`;

    // 0–7, 9, 12–15
    function ranges(numbers) {
        const out = [];
        for (const n of [...numbers].sort((a, b) => a - b)) {
            const last = out[out.length - 1];
            if (last && last[1] + 1 === n) last[1] = n;
            else out.push([n, n]);
        }
        return out.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
    }

    // Arrow keys inside an explorer move its controls; elsewhere in the book they turn the page.
    function keepArrows(place) {
        place.addEventListener("keydown", (event) => {
            if (event.key.startsWith("Arrow")) event.stopPropagation();
        });
    }

    // For explorers in files of their own: fills each element whose data-explorer is `name`. The page of all chapters
    // has the scripts of each of them.
    const known = new Set();
    function explorer(name, build) {
        if (known.has(name)) return;
        known.add(name);
        const start = () => document.querySelectorAll(`[data-explorer="${name}"]`).forEach((place) => {
            keepArrows(place);
            build(place);
        });
        if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
        else start();
    }

    window.TileParts = { WIDTH, html, svg, picture, rect, text, many, percent, ranges, explorer };

    // ---- Which lane touches which sector -------------------------------------------------------------------

    const coalescing = {
        title: "Which sectors does one warp touch?",
        controls: [
            { name: "bytes", label: "bytes per lane", choices: [[4, "4 (float)"], [8, "8 (float2)"], [16, "16 (float4)"]] },
            { name: "stride", label: "stride, in elements", range: [0, 32, 1] },
            { name: "first", label: "first element", range: [0, 16, 1] },
            { name: "lanes", label: "active lanes", range: [1, 32, 1] },
        ],
        start: { bytes: 4, stride: 1, first: 0, lanes: 32 },
        presets: [
            ["neighbours", { bytes: 4, stride: 1, first: 0, lanes: 32 }],
            ["one address", { bytes: 4, stride: 0, first: 0, lanes: 32 }],
            ["every second", { bytes: 4, stride: 2, first: 0, lanes: 32 }],
            ["down a column", { bytes: 4, stride: 32, first: 0, lanes: 32 }],
            ["off by one", { bytes: 4, stride: 1, first: 1, lanes: 32 }],
            ["float4", { bytes: 16, stride: 1, first: 0, lanes: 32 }],
        ],
        show(state) {
            const addresses = Rules.strided(state);
            const sectors = Rules.sectors(addresses, state.bytes);
            const asked = new Set();
            for (const address of addresses) {
                for (let byte = 0; address !== null && byte < state.bytes; byte += 1) asked.add(address + byte);
            }
            const moved = sectors.length * Rules.SECTOR;
            const least = Math.ceil(asked.size / Rules.SECTOR);
            const sentence = `1 request, ${many(sectors.length, "sector")}. `
                + `${moved} bytes move for ${asked.size} that are asked for: ${percent(asked.size / moved)}. `
                + (sectors.length > least ? `${many(least, "sector")} would do.` : "Fewer would not do.");
            const element = { 4: "float", 8: "float2", 16: "float4" }[state.bytes];
            const index = [state.first || null, { 0: null, 1: "lane" }[state.stride] ?? (state.stride && `${state.stride} * lane`)]
                .filter((part) => part).join(" + ") || "0";
            const code = `const ${element} x = p[${index}];`
                + (state.lanes < Rules.LANES ? `  // lane < ${state.lanes}` : "");
            return { code, sentence, good: sectors.length === least, image: lines(addresses, state.bytes, sectors, sentence) };
        },
    };

    // Memory in lines of 128 bytes, only those that are touched.
    function lines(addresses, bytes, sectors, label) {
        const LINE = 128;
        const [left, row, cell] = [52, 18, 10.4];
        const touched = [...new Set(sectors.map((sector) => Math.floor(sector * Rules.SECTOR / LINE)))];
        const image = picture(26 + row * touched.length, label);
        image.append(text("dim", 0, 13, "byte"), text("dim", left, 13, "128 bytes: four sectors"),
            text("dim", WIDTH, 13, "lanes", "end"));
        touched.forEach((line, i) => {
            const y = 20 + row * i;
            const inside = sectors.filter((sector) => Math.floor(sector * Rules.SECTOR / LINE) === line);
            image.append(text("dim", 0, y + 12, `${line * LINE}`), rect("faint", left, y, 32 * cell, row - 3));
            for (const sector of inside) {
                image.append(rect("moved", left + (sector * Rules.SECTOR - line * LINE) / 4 * cell, y, 8 * cell, row - 3));
            }
            const lanes = [];
            addresses.forEach((address, lane) => {
                if (address === null || address + bytes <= line * LINE || address >= (line + 1) * LINE) return;
                lanes.push(lane);
                const x = left + (address - line * LINE) / 4 * cell;
                image.append(rect("asked", x + 0.6, y + 2, bytes / 4 * cell - 1.2, row - 7));
            });
            for (let border = 8; border < 32; border += 8) {
                image.append(rect("gap", left + border * cell - 0.75, y, 1.5, row - 3));
            }
            image.append(text("", WIDTH, y + 12, ranges(lanes), "end"));
        });
        return image;
    }

    // ---- Which banks serve which lanes ---------------------------------------------------------------------

    const banks = {
        title: "How many wavefronts does one load from a tile take?",
        controls: [
            { name: "along", label: "lanes go", choices: [["row", "along a row"], ["column", "down a column"]] },
            { name: "bytes", label: "bytes per element", choices: [[4, "4 (float)"], [8, "8 (double)"], [16, "16 (float4)"]] },
            { name: "width", label: "row, in elements", range: [4, 64, 4] },
            { name: "padding", label: "padding, in elements", range: [0, 8, 1] },
            { name: "at", label: "which row or column", range: [0, 31, 1] },
            { name: "swizzle", label: "swizzle", check: true },
        ],
        start: { along: "column", bytes: 4, width: 32, padding: 0, at: 5, swizzle: false },
        presets: [
            ["tile, row", { along: "row", bytes: 4, width: 32, padding: 0, at: 5, swizzle: false }],
            ["tile, column", { along: "column", bytes: 4, width: 32, padding: 0, at: 5, swizzle: false }],
            ["padded", { along: "column", bytes: 4, width: 32, padding: 1, at: 5, swizzle: false }],
            ["swizzled", { along: "column", bytes: 4, width: 32, padding: 0, at: 5, swizzle: true }],
            ["16 wide", { along: "column", bytes: 4, width: 16, padding: 0, at: 5, swizzle: false }],
            ["float4", { along: "row", bytes: 16, width: 32, padding: 0, at: 0, swizzle: false }],
        ],
        show(state) {
            const possible = Number.isInteger(Math.log2(state.width));
            const swizzle = state.swizzle && possible;
            const addresses = Rules.tile({ ...state, swizzle });
            const { wavefronts, ideal } = Rules.shared(addresses, state.bytes, true);
            const excess = wavefronts.length - ideal;
            const sentence = `${many(wavefronts.length, "wavefront")}, ${ideal} at best: `
                + (excess === 0 ? "none too many." : `${excess} too many.`)
                + ` Rows lie ${(state.width + state.padding) * state.bytes / 4} words apart.`
                + (state.swizzle && !possible ? " A row of this width cannot be swizzled: not a power of two." : "");
            const column = state.at % state.width;
            const [row, col] = state.along === "row"
                ? [state.width < Rules.LANES ? `${state.at} + lane / ${state.width}` : `${state.at}`,
                    state.width < Rules.LANES ? `lane % ${state.width}` : "lane"]
                : ["lane", `${column}`];
            const place = !swizzle ? col : state.along === "row" ? `swizzled(row, ${col})` : `swizzled(lane, ${col})`;
            return { code: `x = tile[${row}][${place}];`, sentence, good: excess === 0, image: strips(wavefronts, sentence) };
        },
    };

    // One row per wavefront. Few of them: 32 banks as two strips of 16, with lanes in the cells. Many: one strip.
    function strips(wavefronts, label) {
        const n = wavefronts.length;
        const labelled = n <= 8;
        const perStrip = labelled ? 16 : 32;
        const cell = WIDTH / perStrip;
        const row = labelled ? 21 : Math.max(7, 200 / n);
        const height = 20 + row * n + 6;
        const image = picture(height * 32 / perStrip, label);
        for (let first = 0; first < 32; first += perStrip) {
            const top = first / perStrip * height + 20;
            for (const part of [0, 1, 2, 3]) {
                const bank = first + Math.round(part * (perStrip - 1) / 3);
                const [anchor, x] = { 0: ["start", 0], 3: ["end", WIDTH - 2] }[part]
                    ?? ["middle", cell * (bank - first + 0.5)];
                image.append(text("dim", x, top - 5, `${part === 0 ? "bank " : ""}${bank}`, anchor));
            }
            image.append(rect("faint", 0, top, WIDTH, row * n));
            wavefronts.forEach((served, wavefront) => {
                const y = top + wavefront * row;
                for (let bank = first; bank < first + perStrip;) {
                    const lanes = served.get(bank);
                    if (!lanes) { bank += 1; continue; }
                    let width = 1;
                    const same = (other) => other && other.join() === lanes.join();
                    while (bank + width < first + perStrip && same(served.get(bank + width))) width += 1;
                    const x = (bank - first) * cell;
                    const box = rect(labelled ? "served" : "served solid", x + 0.75, y + 0.5, width * cell - 1.5, row - 1);
                    box.append(svg("title", {}, `bank ${bank}: lane ${ranges(lanes)}`));
                    image.append(box);
                    if (labelled) {
                        const words = width > 1 || lanes.length === 1 ? ranges(lanes) : `${lanes[0]}+`;
                        image.append(text("", x + width * cell / 2, y + row / 2 + 5, words, "middle"));
                    }
                    bank += width;
                }
            });
        }
        return image;
    }

    // ---- The frame around both -----------------------------------------------------------------------------

    const KINDS = { coalescing, banks };
    let serial = 0;

    // A model: `controls` over a state, and `show(state)`, which returns a sentence and a picture. Of a control `range` may
    // be a function of the state. `play` names the control that the button Play moves on. What has data-pick="lane=5" in a
    // picture sets the state when it is pointed at or touched.
    function build(place, kind) {
        const state = { ...kind.start };
        const inputs = new Map();
        const controls = html("div", { class: "controls" });
        const code = html("code", { class: "language-cpp" });
        const sentence = html("output", { class: "verdict", "aria-live": "polite" });
        const drawn = html("div", { class: "drawn", "data-result": "" });

        function parse(control, value) {
            if (control.check) return value === true || value === "true";
            return control.choices && typeof control.choices[0][0] === "string" ? value : Number(value);
        }

        // What the reader has moved is in the page's address, which can be passed on.
        let later = null;
        function moved() {
            update();
            clearTimeout(later);
            if (place.id) later = setTimeout(() => history.replaceState(null, "", `#${place.id}?${new URLSearchParams(state)}`), 500);
        }

        const limits = (control) => (typeof control.range === "function" ? control.range(state) : control.range);

        function update() {
            for (const control of kind.controls) {
                const { input, shown } = inputs.get(control.name);
                if (typeof control.range === "function") {
                    const [min, max] = limits(control);
                    Object.assign(input, { min, max });
                    state[control.name] = Math.min(Math.max(state[control.name], min), max);
                }
                if (control.check) input.checked = state[control.name];
                else input.value = state[control.name];
                if (!shown) continue;
                shown.textContent = control.shown ? control.shown(state) : state[control.name];
                input.setAttribute("aria-valuetext", shown.textContent);
            }
            const result = kind.show(state);
            code.textContent = result.code;
            sentence.textContent = result.sentence;
            sentence.className = result.good === undefined ? "said" : "verdict";
            place.dataset.verdict = result.good ?? true ? "good" : "bad";
            drawn.replaceChildren(result.image);
        }

        const [asked, query] = location.hash.slice(1).split("?");
        const linked = new URLSearchParams(asked === place.id && query ? query : "");
        for (const control of kind.controls) {
            const given = linked.get(control.name);
            const possible = control.choices ? control.choices.some(([value]) => String(value) === given)
                : control.check || (given >= limits(control)[0] && given <= limits(control)[1]);
            if (given !== null && possible) state[control.name] = parse(control, given);
            else if (control.name in place.dataset) state[control.name] = parse(control, place.dataset[control.name]);
            serial += 1;
            const id = `explorer-${serial}-${control.name}`;
            let input;
            let shown = null;
            if (control.choices) {
                input = html("select", { id });
                for (const [value, label] of control.choices) input.append(html("option", { value }, label));
            } else if (control.check) {
                input = html("input", { id, type: "checkbox" });
            } else {
                const [min, max, step] = limits(control);
                input = html("input", { id, type: "range", min, max, step: step || 1 });
                shown = html("span", { class: "value", "aria-hidden": "true" });
            }
            input.addEventListener("input", () => {
                state[control.name] = parse(control, control.check ? input.checked : input.value);
                moved();
            });
            inputs.set(control.name, { input, shown });
            const label = html("label", { for: id }, control.label);
            const named = shown ? html("div", {}, label, " ", shown) : label;
            controls.append(html("div", { class: `control${control.check ? " check" : ""}${control.wide ? " wide" : ""}` }, named, input));
        }
        const presets = html("div", { class: "presets", role: "group", "aria-label": "examples" });
        for (const [label, values] of kind.presets || []) {
            const button = html("button", { type: "button" }, label);
            button.addEventListener("click", () => { Object.assign(state, values); moved(); });
            presets.append(button);
        }
        if (kind.play) controls.append(player(kind, state, moved, sentence, () => limits(kind.controls.find((c) => c.name === kind.play))));
        if (presets.childElementCount) controls.append(presets);

        const pick = (event) => {
            const picked = event.target.closest("[data-pick]");
            if (!picked) return;
            const before = JSON.stringify(state);
            for (const [name, value] of new URLSearchParams(picked.dataset.pick)) {
                state[name] = parse(kind.controls.find((control) => control.name === name), value);
            }
            if (JSON.stringify(state) !== before) moved();
        };
        for (const name of ["pointerover", "pointerdown"]) drawn.addEventListener(name, pick);

        const parts = [html("p", { class: "heading" }, kind.title), controls];
        if (kind.note) {
            parts.push(html("p", { class: "says" }, sentence));
            place.replaceChildren(parts[0], html("p", { class: "ask" }, kind.ask), html("div", { class: "split model" },
                html("div", { class: "side" }, ...parts.slice(1)), drawn), html("p", { class: "checked" }, ...[kind.note].flat()));
        } else {
            parts.push(html("p", { class: "code" }, code), html("p", {}, sentence), drawn);
            const checked = window.TileChecked;
            if (checked) {
                parts.push(html("p", { class: "checked" },
                    `The rules that run here gave what the emulator counts in each of ${checked.cases} cases.`));
            }
            place.replaceChildren(...parts);
        }
        place.setAttribute("role", "group");
        place.setAttribute("aria-label", kind.title);
        update();
        if (linked.size) place.scrollIntoView();
    }

    // Buttons that move one control: a step back, play and pause, a step on. While it plays, the sentence is not read out.
    function player(kind, state, moved, sentence, limits) {
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        const move = (by) => { state[kind.play] += by; moved(); };
        const moves = html("div", { class: "presets", role: "group", "aria-label": "move" });
        const play = html("button", { type: "button" });
        let timer = null;
        const stop = (next) => {
            clearInterval(timer);
            timer = next;
            sentence.setAttribute("aria-live", timer ? "off" : "polite");
            play.textContent = timer ? "❚❚ Pause" : "▶ Play";
        };
        const step = (label, by) => {
            const button = html("button", { type: "button" }, label);
            button.addEventListener("click", () => { stop(null); move(by); });
            return button;
        };
        play.addEventListener("click", () => {
            if (timer) { stop(null); return; }
            if (state[kind.play] >= limits()[1]) move(limits()[0] - state[kind.play]);
            stop(setInterval(() => {
                move(1);
                if (state[kind.play] >= limits()[1]) stop(null);
            }, (kind.every || 600) * (calm ? 2 : 1)));
        });
        stop(null);
        moves.append(step("◂", -1), play, step("▸", 1));
        for (const [button, label] of [[moves.firstChild, "one step back"], [moves.lastChild, "one step on"]]) {
            button.setAttribute("aria-label", label);
        }
        return moves;
    }

    const model = (name, kind) => explorer(name, (place) => build(place, typeof kind === "function" ? kind(place) : kind));
    window.TileParts.model = model;
    if (Rules) for (const [name, kind] of Object.entries(KINDS)) model(name, kind);
})();
