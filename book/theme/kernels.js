// Kernels that run in the page: an editor in the place of a listing, and results below it.
//
// `run.js` loads this script when a reader presses one of its buttons. The sources (`sources.js`) come with the editor,
// the WebAssembly module (`module.js`) with the first run; a kernel that is not edited has a script of its own, and its
// page the module of all instructions (`tensor.js`). All are scripts, because a page that is opened from the disk
// cannot fetch. The module runs in a worker made from a blob, which a reader or the clock stops.
//
// The editor is a textarea over coloured text, and not a library such as CodeMirror: a library has 150 KB and more, and a
// plain field works with every keyboard of a phone and every screen reader.
(function () {
    "use strict";

    const { places, label: closedLabel, committedLaunch, load } = window.TileRun;
    const main = document.querySelector("main");
    /// Longest run, in seconds. The module has a limit of its own, which ends an endless loop with a message.
    const LONGEST = 30;
    const MOST_CHARACTERS = 200000;
    const SIZES = { m: 64, n: 64, k: 64 };
    const LARGEST = 256;
    /// Counts of a line: name, and value of the counts that the emulated GPU reports.
    const COLUMNS = [
        ["requests", (c) => c.requests],
        ["sectors", (c) => c.sectors],
        ["wavefronts", (c) => c.wavefronts],
        ["excess wavefronts", (c) => c.excess],
        ["multiply-adds", (c) => Math.round(c.multiply_adds / 32)],
        ["instructions", (c) => c.instructions],
    ];

    // ---- Small helpers ------------------------------------------------------------------------------------------

    /// Returns a new element; children are elements or texts, properties that begin with `on` are listeners.
    function make(name, properties, ...children) {
        const out = document.createElement(name);
        for (const [key, value] of Object.entries(properties || {})) {
            if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
            else if (value !== null && value !== undefined && value !== false) out.setAttribute(key, value === true ? "" : value);
        }
        out.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
        return out;
    }

    function keep(key, text) {
        try {
            if (text === null) localStorage.removeItem(key);
            else localStorage.setItem(key, text);
        } catch { /* Nothing is kept where the browser does not allow it. */ }
    }

    function kept(key) {
        try { return localStorage.getItem(key); } catch { return null; }
    }

    /// Returns a sentence with names from the code between backticks as elements.
    const words = (text) => String(text).split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

    const number = (n) => (Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u00a0") : String(Math.round(n * 1e4) / 1e4));

    // ---- The module, in a worker --------------------------------------------------------------------------------

    function work() {
        let run = null;
        self.onmessage = async ({ data }) => {
            try {
                if (data.module) {
                    const { exports } = await WebAssembly.instantiate(data.module, {});
                    run = (request) => {
                        const bytes = new TextEncoder().encode(JSON.stringify(request));
                        const at = exports.allocate(bytes.length);
                        new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
                        const from = exports.run(at, bytes.length);
                        const length = new DataView(exports.memory.buffer).getUint32(from, true);
                        return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, from + 4, length)));
                    };
                    return;
                }
                const begin = performance.now();
                const reply = run(data.request);
                self.postMessage({ reply, milliseconds: performance.now() - begin });
            } catch (error) {
                self.postMessage({ failed: String(error) });
            }
        };
    }

    let compiled = null;
    let worker = null;
    /// The run that waits for the worker; there is one at a time on a page.
    let waits = null;

    async function compile() {
        await load(places.some((place) => place.dataset.committed) ? "tensor.js" : "module.js");
        const bytes = Uint8Array.from(atob(self.tileModule), (c) => c.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        self.tileModule = null;
        return WebAssembly.compile(await new Response(stream).arrayBuffer());
    }

    function stop(why) {
        if (worker) worker.terminate();
        worker = null;
        const waiting = waits;
        waits = null;
        if (waiting) waiting.fail(new Error(why));
    }

    /// Runs a request in the worker, and returns its reply and the time that it took.
    async function ask(request) {
        compiled ||= compile();
        let module;
        try {
            module = await compiled;
        } catch (error) {
            compiled = null;
            throw error;
        }
        // Stop was pressed while the module was loaded.
        if (!waits) throw new Error("stopped");
        if (!worker) {
            worker = new Worker(URL.createObjectURL(new Blob([`(${work})()`], { type: "text/javascript" })));
            worker.postMessage({ module });
        }
        return new Promise((done, fail) => {
            const clock = setTimeout(() => stop(`stopped after ${LONGEST} seconds: choose smaller sizes, or look for a loop that does not end`), LONGEST * 1000);
            waits = { fail: (error) => { clearTimeout(clock); fail(error); } };
            worker.onmessage = ({ data }) => {
                clearTimeout(clock);
                waits = { fail: () => {} };
                if (data.failed) {
                    stop("");
                    fail(new Error(`the emulated GPU in the page stopped (${data.failed}); the kernel may need more memory than a page has. With a checkout: cargo xtask check`));
                } else {
                    done(data);
                }
            };
            worker.onerror = (event) => waits.fail(new Error(`the worker cannot run: ${event.message}`));
            worker.postMessage({ request });
        });
    }

    /// Runs one request outside of a place, as tests do.
    window.TileRun.ask = (request) => {
        waits = { fail: () => {} };
        return ask(request).finally(() => { waits = null; });
    };

    // ---- Text: lines, colours, differences ------------------------------------------------------------------------

    const TOKEN = /(\/\/.*|\/\*[^]*?(?:\*\/|$))|(^[ \t]*#.*)|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/gm;

    let classes = null;
    function wordClass(word) {
        if (!classes) {
            classes = new Map();
            for (const [kind, words] of Object.entries(self.tileSources.words)) {
                for (const one of words.split(/\s+/)) classes.set(one, kind);
            }
        }
        return classes.get(word) || (/^(__|atomic)/.test(word) ? "b" : "");
    }

    /// Returns for each line its tokens: class and text.
    function coloured(text) {
        const lines = [[]];
        const put = (kind, part) => part.split("\n").forEach((one, i) => {
            if (i) lines.push([]);
            if (one) lines[lines.length - 1].push([kind, one]);
        });
        let from = 0;
        for (const found of text.matchAll(TOKEN)) {
            put("", text.slice(from, found.index));
            const at = found.slice(1).findIndex((group) => group !== undefined);
            put(at === 4 ? wordClass(found[0]) : "cmsn"[at], found[0]);
            from = found.index + found[0].length;
        }
        put("", text.slice(from));
        return lines;
    }

    /// Returns the elements of a line; `marks` are ranges of columns from 0, with a class.
    function lineElements(tokens, marks) {
        const out = [];
        let column = 0;
        for (const [kind, text] of tokens) {
            const cuts = [0, text.length];
            for (const { from, to } of marks) cuts.push(from - column, to - column);
            const inside = [...new Set(cuts.filter((cut) => cut >= 0 && cut <= text.length))].sort((a, b) => a - b);
            for (let i = 0; i + 1 < inside.length; i += 1) {
                const at = column + inside[i];
                const mark = marks.find(({ from, to }) => at >= from && at < to);
                out.push(make("span", { class: `${kind} ${mark ? mark.kind : ""}`.trim() }, text.slice(inside[i], inside[i + 1])));
            }
            column += text.length;
        }
        return out;
    }

    /// Returns the difference of two lists of lines: pairs of indices, of which one is null where a line is gone or new.
    function difference(old, now) {
        let head = 0;
        while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
        let tail = 0;
        while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
        const [n, m] = [old.length - head - tail, now.length - head - tail];
        const out = [];
        for (let i = 0; i < head; i += 1) out.push([i, i]);
        let [i, j] = [0, 0];
        if (n * m <= 4e6) {
            // Longest common subsequence of what lies between.
            const best = new Uint16Array((n + 1) * (m + 1));
            const at = (a, b) => a * (m + 1) + b;
            for (let a = n - 1; a >= 0; a -= 1) {
                for (let b = m - 1; b >= 0; b -= 1) {
                    best[at(a, b)] = old[head + a] === now[head + b] ? best[at(a + 1, b + 1)] + 1 : Math.max(best[at(a + 1, b)], best[at(a, b + 1)]);
                }
            }
            while (i < n && j < m) {
                if (old[head + i] === now[head + j]) out.push([head + i++, head + j++]);
                else if (best[at(i + 1, j)] >= best[at(i, j + 1)]) out.push([head + i++, null]);
                else out.push([null, head + j++]);
            }
        }
        while (i < n) out.push([head + i++, null]);
        while (j < m) out.push([null, head + j++]);
        for (let k = tail; k > 0; k -= 1) out.push([old.length - k, now.length - k]);
        return out;
    }

    // ---- One runnable kernel ----------------------------------------------------------------------------------------

    const PROGRESS = "tile-progress";
    const kernels = new Map(places.map((place, index) => [place, setUp(place, `run-${index + 1}`)]));
    window.TileRun.press = (place, action) => kernels.get(place)[action]();

    function setUp(place, id) {
        const key = place.dataset.run;
        const isListing = place.matches("figure");
        /// The kernel of a listing that is not edited; undefined for others.
        const { committed } = place.dataset;
        const title = key.replace(/\.start$/, "");
        const store = `tile-run:${key}`;
        const listing = isListing ? place.querySelector("pre") : null;
        let editor = null;
        /// The launch that the reader of the playground chooses.
        let form = null;
        let last = null;
        let column = committed ? COLUMNS.length - 1 : 1;

        const button = (label, action, more) => make("button", { type: "button", onclick: action, ...more }, label);
        const runButton = button("▶ Run", () => run(), { class: "primary" });
        const stopButton = button("■ Stop", () => stop("stopped"), { hidden: true });
        // A transpose has no K.
        function known() {
            if (tasks()[source().task].work.includes("transpose")) sizes[2].hidden = true;
            const chips = [...source().edits.map((edit) => [edit.label, () => apply(edit)]),
                ...source().launches.map(([label, launch]) => [label, () => run(launch)])];
            if (!chips.length || edits.childElementCount) return;
            edits.replaceChildren("Try: ", ...chips.map(([label, action]) => button(label, action, { class: "chip" })));
        }
        const isStarter = key.endsWith(".start");
        const isPlayground = key === "playground";
        const closed = closedLabel(place);
        const editButton = button(closed, open, { "aria-expanded": "false" });
        const sizes = Object.entries(SIZES).map(([name, value]) => make("label", {}, `${name.toUpperCase()} `, make("input", {
            type: "number", min: 1, max: LARGEST, value, inputmode: "numeric", id: `${id}-${name}`, required: true,
        })));
        const more = make("span", { class: "more" });
        const bar = make("div", { class: "run-bar", role: "group", "aria-label": `Run ${title}` }, isListing ? runButton : "", stopButton,
            committed ? committedLaunch(place.dataset) : [editButton, make("span", { class: "sizes" }, sizes), more]);
        const edits = make("div", { class: "run-edits" });
        const status = make("p", { class: "run-status", role: "status" });
        const results = make("div", { class: "run-results" });
        const box = make("div", { class: "run" }, bar, edits, status, results);
        place.querySelector(".run").replaceWith(box);
        if (!isListing) sizes.forEach((size) => { size.hidden = true; });

        const origin = isListing ? "the listing" : isStarter ? "the starter" : isPlayground ? "the book" : "the finished kernel";
        const tasks = () => self.tileSources.tasks;
        const source = () => (committed ? self.tileCommitted : self.tileSources.runs)[key];

        /// Returns what is run: the reader's text, or the listing's file. Lines of anchors, which a reader does not
        /// see, are then blank, so that lines have the numbers of the listing.
        function text() {
            if (editor) return editor.area.value;
            const lines = source().source.split("\n");
            for (const gone of source().gone) lines.splice(gone - 1, 0, "");
            return lines.join("\n");
        }

        const lineElement = (line) => (editor ? editor.lines[line - 1] : listing.querySelector(`.l[data-n="${line}"]`));

        // ---- The editor -----------------------------------------------------------------------------------------

        async function open(focus = true) {
            if (editor) {
                close();
                return;
            }
            try {
                await load("sources.js");
                if (isPlayground) await load("playground.js");
            } catch (error) {
                tell(error.message, "bad");
                return;
            }
            if (editor) return;
            const launched = kept(`${store}:launch`);
            const area = make("textarea", {
                id: `${id}-text`, spellcheck: "false", autocapitalize: "off", autocomplete: "off", autocorrect: "off", wrap: "soft",
                "aria-label": `Source of ${source().name}`, "aria-describedby": `${id}-keys`,
                oninput: changed, onkeydown: keys,
            });
            const back = make("code", { class: "nohighlight", "aria-hidden": "true" });
            const frame = make("div", { class: "editor" }, make("pre", { "aria-hidden": "true" }, back), area);
            const note = make("p", { class: "keys", id: `${id}-keys` },
                "Tab inserts four spaces; Escape, then Tab leaves the editor. Ctrl or ⌘ + Enter runs. The text is kept in this browser.");
            editor = { area, back, frame, note, lines: [], marks: [], leaving: false };
            area.value = kept(store) ?? source().source;
            if (listing) {
                listing.hidden = true;
                listing.after(frame, note);
            } else {
                place.prepend(frame, note);
                sizes.forEach((size) => { size.hidden = false; });
                bar.prepend(runButton);
            }
            if (isPlayground) {
                form = window.TileRun.launchForm(make, (launch) => {
                    sizes.forEach((size) => { size.hidden = launch !== null; });
                    keep(`${store}:launch`, launch && JSON.stringify(launch));
                    if (last) forget();
                });
                bar.after(form.element);
                // A launch that another version of the book kept may lack a field.
                try { form.write(JSON.parse(launched)); } catch { form.write(null); }
            }
            editButton.setAttribute("aria-expanded", "true");
            editButton.textContent = isListing ? "Close the editor" : "Close";
            more.replaceChildren(
                button("Reset", () => { replace(source().source); tell(`The text is that of ${origin} again.`, ""); }),
                button("Diff", showDifference),
                button("Copy", copy),
                button("Download", download),
                isPlayground ? button("Link", share) : "",
            );
            known();
            forget();
            paint();
            area.setSelectionRange(0, 0);
            if (focus) area.focus({ preventScroll: true });
        }

        function close() {
            editor.frame.remove();
            editor.note.remove();
            editor = null;
            if (listing) listing.hidden = false;
            else {
                runButton.remove();
                sizes.forEach((size) => { size.hidden = true; });
            }
            if (form) form.element.remove();
            form = null;
            more.replaceChildren();
            editButton.setAttribute("aria-expanded", "false");
            editButton.textContent = closed;
            forget();
            editButton.focus();
        }

        function paint() {
            const { area, back, frame } = editor;
            const large = area.value.length > MOST_CHARACTERS;
            frame.classList.toggle("large", large);
            if (large) {
                back.replaceChildren();
                editor.lines = [];
                return;
            }
            editor.lines = coloured(area.value).map((tokens, i) => {
                const marks = editor.marks.filter((mark) => mark.line === i + 1);
                return make("span", { class: "l", "data-n": i + 1 }, lineElements(tokens, marks), "\n");
            });
            back.replaceChildren(...editor.lines);
        }

        let soon = 0;
        function changed() {
            editor.leaving = false;
            editor.marks = [];
            if (last) forget();
            // A frame may see several changes; 5 MB that are pasted are coloured once, or not at all.
            cancelAnimationFrame(soon);
            soon = requestAnimationFrame(() => { if (editor) paint(); });
            clearTimeout(editor.saving);
            const { area } = editor;
            editor.saving = setTimeout(() => keep(store, area.value === source().source || area.value.length > MOST_CHARACTERS ? null : area.value), 300);
        }

        /// Inserts text as typing does, so that the browser's undo takes it back.
        function insert(what) {
            editor.area.focus({ preventScroll: true });
            if (document.activeElement !== editor.area || !document.execCommand(what ? "insertText" : "delete", false, what)) {
                editor.area.setRangeText(what, editor.area.selectionStart, editor.area.selectionEnd, "end");
                changed();
            }
        }

        function replace(whole) {
            editor.area.focus({ preventScroll: true });
            editor.area.select();
            insert(whole);
            editor.area.setSelectionRange(0, 0);
        }

        async function apply(edit) {
            if (!editor) await open();
            // Another edit of the same text may have been made before.
            const others = source().edits.filter((other) => other.find === edit.find && other.replace).map((other) => other.replace);
            const find = [edit.find, ...others].find((one) => editor.area.value.split(one).length === 2);
            if (find === undefined) {
                tell(`The text that “${edit.label}” changes is not there any more; Reset brings it back.`, "bad");
                return;
            }
            const at = editor.area.value.indexOf(find);
            editor.area.setSelectionRange(at, at + find.length);
            insert(edit.replace);
            run();
        }

        function keys(event) {
            const { area } = editor;
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                run();
            } else if (event.key === "Escape") {
                editor.leaving = true;
            } else if (event.key === "Tab" && !event.shiftKey && !editor.leaving) {
                event.preventDefault();
                insert("    ");
            } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                const line = area.value.slice(0, area.selectionStart).split("\n").pop();
                insert(`\n${line.match(/^[ \t]*/)[0]}`);
            }
        }

        async function copy() {
            try {
                await navigator.clipboard.writeText(editor.area.value);
            } catch {
                editor.area.select();
                document.execCommand("copy");
            }
            tell(`Copied. Put it into my/${source().name}.`, "");
        }

        function download() {
            const url = URL.createObjectURL(new Blob([editor.area.value], { type: "text/plain" }));
            const link = make("a", { href: url, download: source().name });
            link.click();
            setTimeout(() => URL.revokeObjectURL(url), 1000);
            tell(`Move ${source().name} to my/${source().name} of your checkout, then: cargo xtask check ${source().task}`, "");
        }

        function showDifference() {
            const [old, now] = [source().source.split("\n"), editor.area.value.split("\n")];
            const pairs = difference(old, now);
            const near = pairs.map((_, i) => pairs.slice(Math.max(0, i - 2), i + 3).some(([a, b]) => a === null || b === null));
            const lines = pairs.flatMap(([a, b], i) => {
                if (!near[i]) return [];
                const sign = a === null ? "+" : b === null ? "-" : " ";
                return [make("span", { class: `l ${{ "+": "add", "-": "del" }[sign] || ""}`.trim() }, `${sign} ${b === null ? old[a] : now[b]}\n`)];
            });
            forget();
            if (!lines.length) tell(`The text is that of ${origin}.`, "");
            else {
                tell(`Differences from ${origin}: ${pairs.filter(([a]) => a === null).length} lines new, ${pairs.filter(([, b]) => b === null).length} gone.`, "");
                results.replaceChildren(make("pre", { class: "difference", tabindex: "0", role: "region", "aria-label": "Differences" }, make("code", { class: "nohighlight" }, lines)));
            }
        }

        // ---- A run --------------------------------------------------------------------------------------------------

        function tell(what, kind) {
            status.replaceChildren(...words(what));
            status.className = `run-status ${kind}`;
        }

        function forget() {
            last = null;
            results.replaceChildren();
            tell("", "");
            for (const join of place.querySelectorAll(".join")) join.remove();
            for (const line of place.querySelectorAll(".l.found, .l.error, .l[data-hits]")) {
                line.classList.remove("found", "error");
                delete line.dataset.hits;
            }
            place.classList.remove("hit");
        }

        function shape() {
            return sizes.map((label) => {
                const input = label.querySelector("input");
                const value = Math.min(LARGEST, Math.max(1, Math.round(Number(input.value)) || 64));
                input.value = value;
                return value;
            });
        }

        /// Runs what is shown; `other` has fields of the task for another kernel of it, to which its criteria do not apply.
        async function run(other) {
            if (waits) {
                tell("Another kernel runs on this page; stop it first.", "bad");
                return;
            }
            const begin = performance.now();
            let slow = 0;
            // A request whose block can be stepped through comes with its reply.
            const end = ({ reply, milliseconds }, own, given, request) => {
                clearTimeout(slow);
                show(reply, own, given, milliseconds, performance.now() - begin);
                if (request && reply.explained) results.append(...stepper(request));
            };
            try {
                waits = { fail: () => {} };
                runButton.disabled = true;
                forget();
                slow = setTimeout(() => { tell("Running on the emulated GPU …", ""); stopButton.hidden = false; }, 150);
                await Promise.all([load(committed ? `${key}.js` : "sources.js"), load("pictures.js")]);
                if (committed) {
                    end(await ask(source()), null, source().source);
                    return;
                }
                known();
                const { runs, headers } = self.tileSources;
                const given = text();
                if (given.length > MOST_CHARACTERS) throw new Error(`the text has ${number(given.length)} characters; a page runs ${number(MOST_CHARACTERS)} at most`);
                const request = { name: source().name, source: given, headers, task: { ...tasks()[source().task], ...(other && { criteria: [], ...other }) }, shape: shape(), judge: true };
                const launch = form && form.read();
                if (launch) {
                    end(await ask({ ...request, judge: false, launch }), null, given);
                    return;
                }
                // The counts and the first shape take a third of the time of all shapes.
                const first = await ask({ ...request, first: true });
                let own = null;
                const isChanged = other || editor && given !== runs[key].source;
                if (first.reply.explained && isChanged && !isStarter && !isPlayground) {
                    const book = { source: runs[key].source, task: tasks()[source().task] };
                    own = (await ask({ ...request, ...book, judge: false })).reply.explained;
                }
                if (!first.reply.is_partial) {
                    end(first, own, given, request);
                    return;
                }
                remember(first.reply, own, given);
                if (first.reply.explained) gutter();
                const isRight = first.reply.verdict.status === "passed";
                tell(`${isRight ? "Right on the first shape, no finding" : "Not right on the first shape"}; trying the others …`, "");
                end(await ask(request), own, given, request);
            } catch (error) {
                clearTimeout(slow);
                tell(`${error.message}.`, "bad");
            } finally {
                waits = null;
                runButton.disabled = false;
                if (document.activeElement === stopButton) runButton.focus();
                stopButton.hidden = true;
            }
        }

        /// Returns a button that goes through the steps of a block of what was run, and the place for them.
        function stepper(request) {
            const where = make("div", { class: "explorer" });
            const press = button("Step through a block", async () => {
                if (waits) return;
                waits = { fail: () => {} };
                try {
                    if (!window.TileStepper) await load("../explorers/steps.js");
                    const { reply } = await ask({ ...request, judge: false, follow: true });
                    if (reply.error) throw new Error(reply.error);
                    window.TileStepper(where, [reply.followed]);
                } catch (error) {
                    where.replaceChildren(make("p", { role: "status" }, words(`No steps: ${error.message}.`)));
                } finally {
                    waits = null;
                }
            });
            return [make("div", { class: "run-bar" }, press), where];
        }

        /// Returns a control that leads to a line.
        function lead(line, label) {
            return button(label || `line ${line}`, () => {
                if (editor) {
                    const lines = editor.area.value.split("\n");
                    const at = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
                    editor.area.focus({ preventScroll: true });
                    editor.area.setSelectionRange(at, at + (lines[line - 1] || "").length);
                }
                const element = lineElement(line);
                if (element) element.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
            }, { class: "lead" });
        }

        /// Joins two lines at the left edge, as the two ends of a race.
        function join(one, other) {
            const [a, b] = [lineElement(one), lineElement(other)];
            if (!a || !b || a === b) return;
            const frame = a.closest("pre").parentElement;
            const top = frame.getBoundingClientRect().top;
            const [y, z] = [a, b].map((line) => line.getBoundingClientRect()).map((r) => r.top + Math.min(r.height, 18) / 2 - top).sort((p, q) => p - q);
            const bracket = make("div", { class: "join", "aria-hidden": "true" });
            bracket.style.top = `${y}px`;
            bracket.style.height = `${z - y}px`;
            frame.append(bracket);
        }

        /// Returns what has the counts of a reply.
        const counted = (reply) => reply.explained || reply.launched;

        function remember(reply, own, given) {
            last = { reply, own, before: own ? unchanged(own, given) : new Map() };
        }

        function show(reply, own, given, milliseconds, whole) {
            remember(reply, own, given);
            const parts = [];
            const errors = reply.messages.filter((message) => message.severity !== "warning");
            if (reply.error) {
                tell(`${reply.error}.`, "bad");
            } else if (errors.length) {
                const [{ line, text: what }] = errors;
                tell(`Does not compile: ${errors.length === 1 ? "an error" : `${errors.length} errors`}. Line ${line}: ${what}.`, "bad");
            } else if (reply.launched) {
                const { kernel, findings } = reply.launched;
                const n = findings.length;
                tell(`Ran ${kernel}: ${n ? `${n} ${n === 1 ? "finding" : "findings"}` : "no finding"}. ${(milliseconds / 1000).toFixed(2)} s.`, n ? "bad" : "good");
            } else if (reply.verdict) {
                const { status: outcome, why, parts: criteria } = reply.verdict;
                const failed = (criteria || []).filter((part) => part.status === "failed").map((part) => part.id);
                const time = `${(milliseconds / 1000).toFixed(2)} s`;
                const where = committed ? "this shape" : `${reply.verdict.n_shapes} shapes`;
                if (outcome === "passed") tell(`Passed: right on ${where}, no finding. ${time}.`, "good");
                else tell(`${outcome === "failed" ? "Failed" : "Not run"}: ${why && why.length < 120 ? why : failed.join(", ")}. ${time}.`, "bad");
                status.dataset.whole = Math.round(whole);
                record(reply.verdict);
                // The counts that the first missed criterion is about.
                const missed = (criteria || []).find((part) => part.status === "failed" && part.measured);
                const about = missed ? COLUMNS.findIndex(([name]) => missed.measured.words.includes(name)) : -1;
                if (about >= 0) column = about;
            }
            parts.push(...reply.messages.map(message));
            // The status says all of a kernel that has no criteria of a task.
            if (reply.verdict) parts.push(...verdict(committed ? { ...reply.verdict, parts: [] } : reply.verdict));
            if (isStarter && reply.verdict && reply.verdict.status === "failed") parts.push(hint(reply.verdict.code));
            if (reply.launched) {
                parts.push(...verdict(reply.launched));
                const { shown } = form.read();
                if (reply.launched.shown.length) parts.push(...window.TilePictures.buffer(make, reply.launched, reply.launched.shown, `buffer ${shown + 1}`));
            }
            if (counted(reply)) parts.push(counts(counted(reply), own));
            if (reply.map && reply.map.wrong.length) parts.push(window.TilePictures.wrongElements(make, reply.map));
            results.replaceChildren(...parts);
            if (counted(reply)) gutter();
            for (const found of (reply.verdict || reply.launched || {}).findings || []) {
                for (const [, line] of found.others || []) join(found.line, line);
            }
        }

        function message({ severity, file, line, column: from, end, text: what, label, help }) {
            const here = file === source().name;
            const element = here && lineElement(line);
            if (element) element.classList.add("error");
            if (here && editor) {
                const bytes = new TextEncoder().encode(editor.area.value.split("\n")[line - 1] || "");
                // What is missing at the end of a line is marked at its last character.
                const [a, b] = [Math.min(from, bytes.length), Math.max(end, from + 1)].map((c) => new TextDecoder().decode(bytes.slice(0, c - 1)).length);
                editor.marks.push({ line, from: a, to: Math.max(b, a + 1), kind: "wavy" });
                paint();
                editor.lines[line - 1]?.classList.add("error");
            }
            return make("div", { class: `message ${severity}` },
                make("p", {}, make("strong", {}, `${severity}: `, words(what)), " ", here ? lead(line) : `${file}:${line}`),
                label ? make("p", { class: "label" }, words(label)) : "",
                help ? make("p", { class: "help" }, make("strong", {}, "help: "), words(help)) : "");
        }

        /// Returns a measured value and its limit.
        function value(measured) {
            if (!measured || measured.value === undefined || measured.value === null) return "";
            const { value: got, at_most: most, at_least: least, words: what } = measured;
            const limit = most !== undefined && most !== null ? `at most ${number(most)}` : `at least ${number(least)}`;
            return ` (${number(got)}, ${limit}: ${what})`;
        }

        function verdict({ parts, wrong, findings, notes, printed }) {
            const out = [];
            const state = { passed: "✓", failed: "✗" };
            if (parts && parts.length) {
                out.push(make("ul", { class: "criteria" }, parts.map((part) => make("li", { class: part.status },
                    make("span", { class: "mark", role: "img", "aria-label": part.status.replace("_", " ") }, state[part.status] || "–"),
                    make("code", {}, part.id), " ", words(part.what), part.why ? [": ", words(part.why)] : "", value(part.measured)))));
            }
            for (const found of findings || []) {
                const lines = [found.line, ...(found.others || []).map(([, line]) => line)].filter((line) => line > 0);
                for (const line of lines) lineElement(line)?.classList.add("found");
                out.push(make("div", { class: `finding ${found.severity}` },
                    make("p", {}, make("strong", {}, `${found.severity}[${found.code}]: `, words(found.title)), " ", lines.flatMap((line, i) => [i ? " and " : "", lead(line)])),
                    found.race ? race(found.race) : "",
                    make("details", {}, make("summary", {}, "The whole message"), scrolling(found.text, found.title))));
            }
            if (wrong) {
                out.push(make("div", { class: "wrong" },
                    make("p", {}, make("strong", {}, `${number(wrong.n_wrong)} of ${number(wrong.n)} elements are wrong`), ` with ${wrong.on}.`),
                    scrolling([wrong.first, wrong.diagnosis].filter(Boolean).join("\n\n"), "The first wrong element")));
            }
            for (const note of notes || []) out.push(make("p", {}, words(note)));
            if (printed) out.push(scrolling(printed, "What the kernel printed"));
            return out;
        }

        function race({ accesses, ...memory }) {
            const own = accesses.map((access) => ({ ...access, own: access.line > 0 && access.file === source().name }));
            return window.TilePictures.race(make, { ...memory, accesses: own }, lead);
        }

        /// Returns the hint for the code of a verdict, or else the general one: each level in the fold of the one before.
        function hint(code) {
            const { hints } = tasks()[title];
            const { symptom, levels } = hints.find((one) => code && one.symptom === code) || hints.find((one) => one.symptom === "") || { levels: [] };
            return levels.reduceRight((next, text, i) => make("details", { class: "hint", ontoggle: (event) => {
                if (event.target === event.currentTarget && event.target.open) hinted(symptom || "general", i + 1);
            } }, make("summary", {}, i ? "The next hint" : "A hint"), make("p", {}, words(text)), next), "");
        }

        function scrolling(what, label) {
            return make("pre", { class: "text", tabindex: "0", role: "region", "aria-label": label }, what);
        }

        // ---- Counts, line by line ---------------------------------------------------------------------------------

        /// Returns the counts of each line of the learner's file: number of the line to counts.
        const byLine = (explained) => new Map(explained.lines.filter((one) => one.line > 0 && one.file === source().name).map((one) => [one.line, one.counts]));

        /// Returns the counts that lines had which the reader did not touch: number of the line now to counts.
        function unchanged(own, given) {
            const lines = byLine(own);
            const pairs = difference(source().source.split("\n"), given.split("\n")).filter(([a, b]) => a !== null && b !== null);
            return new Map(pairs.map(([a, b]) => [b + 1, lines.get(a + 1)]));
        }

        function counts(explained, own) {
            const { shape: of, grid, block } = explained;
            const launch = of ? `at ${of.m} × ${of.n} × ${of.k}` : `of ${grid.join(" × ")} blocks of ${block.join(" × ")} threads`;
            const choice = make("select", { "aria-label": "Counts beside the lines", onchange: () => { column = choice.selectedIndex; gutter(); } },
                COLUMNS.map(([name]) => make("option", {}, name)));
            choice.selectedIndex = column;
            const lines = byLine(explained);
            const cell = (value, old) => make("td", {}, number(value),
                old === null || old === undefined || old === value ? "" : make("span", { class: value < old ? "fall" : "rise" }, ` (${value < old ? "−" : "+"}${number(Math.abs(value - old))})`));
            const row = (head, now, old) => make("tr", {}, make("th", { scope: "row" }, head), COLUMNS.map(([, of]) => cell(of(now), old && of(old))));
            const rows = [...lines].sort(([a], [b]) => a - b).filter(([, now]) => COLUMNS.slice(0, 5).some(([, of]) => of(now)))
                .map(([line, now]) => row(lineElement(line) ? lead(line, String(line)) : String(line), now, last.before.get(line)));
            const table = make("table", {},
                make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "line"), COLUMNS.map(([name]) => make("th", { scope: "col" }, name)))),
                make("tbody", {}, row("all", explained.total, own && own.total), rows));
            return make("div", { class: "counts" },
                make("p", {}, make("label", {}, "Beside the lines: ", choice), ` of warps, ${launch}`,
                    own ? `; in brackets, the difference from ${origin}` : "", explained.stopped ? `. The launch ended early: ${explained.stopped}` : "", "."),
                make("details", {}, make("summary", {}, "All counts"), make("div", { class: "table-wrapper", tabindex: "0", role: "region", "aria-label": "Counts of the lines" }, table)));
        }

        /// Writes the chosen counts beside the lines; the more, the redder.
        function gutter() {
            const [, of] = COLUMNS[column];
            const lines = [...byLine(counted(last.reply))].map(([line, now]) => [lineElement(line), of(now), last.before.get(line)]).filter(([element]) => element);
            const most = Math.max(1, ...lines.map(([, count]) => count));
            place.classList.add("hit");
            for (const [element, count, old] of lines) {
                const change = old === undefined || of(old) === count ? "" : of(old) < count ? "▲ " : "▼ ";
                element.dataset.hits = count || change ? change + number(count) : "";
                element.style.setProperty("--heat", `${Math.round(40 * count / most)}%`);
            }
        }

        // ---- Tasks: what passed in this browser, and links -------------------------------------------------------------

        /// Changes what is kept about the task.
        function note(change) {
            const now = `${new Date().toISOString().slice(0, 19)}Z`;
            const all = progress();
            const task = all[title] ||= { started: now, last: now };
            for (const [name, empty] of Object.entries({ seconds: 0, checks: 0, hints: 0, failures: {}, hint_levels: {} })) task[name] ??= empty;
            const pause = (Date.parse(now) - Date.parse(task.last)) / 1000;
            // The longest pause that counts as work, as for the command line.
            if (pause > 0 && pause <= 20 * 60) task.seconds += pause;
            task.last = now;
            change(task, now);
            keep(PROGRESS, JSON.stringify(all));
        }

        function record(outcome) {
            if (!isStarter) return;
            note((task, now) => {
                task.checks += 1;
                task.code = outcome.status === "failed" ? outcome.code : undefined;
                if (task.code) task.failures[task.code] = (task.failures[task.code] || 0) + 1;
                if (outcome.status === "passed" && !task.passed) {
                    task.passed = now;
                    task.checks_to_pass = task.checks;
                }
            });
        }

        /// Notes that a level of a hint was shown.
        function hinted(symptom, level) {
            note((task) => {
                if ((task.hint_levels[symptom] || 0) >= level) return;
                task.hint_levels[symptom] = level;
                task.hints += 1;
            });
        }

        if (isStarter && progress()[title]?.passed) tell(`Passed on ${progress()[title].passed.slice(0, 10)}.`, "good");

        /// Returns a text in characters that an address may have.
        async function pack(text) {
            const packed = await squeeze(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
            return btoa(packed.reduce((out, byte) => out + String.fromCharCode(byte), "")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
        }

        async function unpack(packed) {
            const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
            return new TextDecoder().decode(await squeeze(bytes, new DecompressionStream("deflate-raw")));
        }

        async function share() {
            const launch = form.read();
            const more = launch ? `&launch=${await pack(JSON.stringify(launch))}` : "";
            history.replaceState(null, "", `#code=${await pack(editor.area.value)}${more}`);
            try {
                await navigator.clipboard.writeText(location.href);
                tell("Copied: the address of this page has the text in it.", "");
            } catch {
                tell("The address of this page has the text in it.", "");
            }
        }

        async function shared() {
            const parts = new URLSearchParams(location.hash.slice(1));
            const given = await unpack(parts.get("code"));
            const launch = parts.has("launch") ? JSON.parse(await unpack(parts.get("launch"))) : null;
            if (!editor) await open(false);
            form.write(launch);
            forget();
            editor.area.value = given;
            paint();
            tell("The text is from the address of this page; one that you wrote here is kept until you change this one.", "");
        }

        function readAddress() {
            if (location.hash.startsWith("#code=")) shared().catch(() => tell("The text in the address is damaged.", "bad"));
        }

        if (isPlayground) {
            readAddress();
            window.addEventListener("hashchange", readAddress);
        }
        return {
            run: () => { runButton.focus(); run(); },
            open,
            begin: () => { if (!location.hash.startsWith("#code=")) open(false); },
        };
    }

    /// Returns bytes that went through a stream, at most so many as a page runs.
    async function squeeze(bytes, stream) {
        const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
        const out = [];
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
            out.push(part.value);
            if (out.reduce((sum, one) => sum + one.length, 0) > MOST_CHARACTERS) throw new Error("too long");
        }
        return new Uint8Array(await new Blob(out).arrayBuffer());
    }

    // ---- Progress, in the form of `my/progress.toml` --------------------------------------------------------------------

    function progress() {
        try { return JSON.parse(kept(PROGRESS)) || {}; } catch { return {}; }
    }

    function toToml(all) {
        const isTable = ([, value]) => typeof value === "object";
        const quoted = (name) => JSON.stringify(name);
        const table = (name, entries) => (entries.length ? `\n[${name}]\n${entries.map(([key, value]) => `${quoted(key)} = ${JSON.stringify(value)}\n`).join("")}` : "");
        const task = ([name, fields]) => table(`tasks.${quoted(name)}`, Object.entries(fields).filter((one) => !isTable(one)))
            + Object.entries(fields).filter(isTable).map(([key, inner]) => table(`tasks.${quoted(name)}.${key}`, Object.entries(inner))).join("");
        return `# Progress through the tasks, written by a page of the book.\n\nformat = 1\n${Object.entries(all).map(task).join("")}`;
    }

    /// Reads the tasks of a progress file: their tables, and the numbers and strings in them.
    function fromToml(text) {
        const all = {};
        let table = null;
        for (const line of text.split(/\r?\n/)) {
            const head = line.match(/^\[tasks\.(?:"([^"]+)"|([\w-]+))(?:\.(failures|hint_levels))?\]\s*$/);
            const entry = line.match(/^"?([\w-]+)"?\s*=\s*(\d+|"[^"\\]*")\s*$/);
            if (head) {
                const task = all[head[1] || head[2]] ||= {};
                table = head[3] ? (task[head[3]] ||= {}) : task;
            } else if (line.startsWith("[")) table = null;
            else if (table && entry) table[entry[1]] = JSON.parse(entry[2]);
        }
        return all;
    }

    window.TileProgress = { toToml: () => toToml(progress()), fromToml };

    for (const place of main.querySelectorAll(".page-progress")) {
        const list = make("p", { role: "status" });
        const refresh = () => {
            const passed = Object.entries(progress()).filter(([, task]) => task.passed).map(([name]) => name).sort();
            list.textContent = passed.length ? `Passed in this browser: ${passed.join(", ")}.` : "No task has passed in this browser yet.";
        };
        const file = make("input", { type: "file", accept: ".toml", "aria-label": "Import progress.toml", onchange: async () => {
            if (!file.files.length) return;
            const read = fromToml(await file.files[0].text());
            const all = progress();
            for (const [name, task] of Object.entries(read)) if (!all[name]?.passed) all[name] = task;
            keep(PROGRESS, JSON.stringify(all));
            refresh();
        } });
        const save = make("button", { type: "button", onclick: () => {
            const url = URL.createObjectURL(new Blob([toToml(progress())], { type: "text/plain" }));
            make("a", { href: url, download: "progress.toml" }).click();
            setTimeout(() => URL.revokeObjectURL(url), 1000);
        } }, "Export progress.toml");
        place.replaceChildren(make("div", { class: "run" }, list, make("div", { class: "run-bar" }, save, make("label", {}, "Import: ", file))));
        refresh();
    }
})();
