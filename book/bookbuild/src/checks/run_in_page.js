// What a reader does with the kernels of a page. All but `until` return complaints.
(() => {
    const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    const until = async (isTrue) => {
        for (let i = 0; i < 1500 && !isTrue(); i += 1) await pause(20);
        return Boolean(isTrue());
    };
    const button = (place, text) => [...place.querySelectorAll("button")].find((e) => e.textContent.includes(text));
    const status = (place) => place.querySelector(".run-status").textContent;
    const ran = (place) => until(() => !button(place, "Run").disabled && status(place) !== "");
    const run = async (place) => {
        place.querySelector(".run-status").textContent = "";
        button(place, "Run").click();
        await ran(place);
        return status(place);
    };

    // Runs each kernel as it stands. A listing's counts are those that the book has of it.
    async function all() {
        const out = [];
        const places = [...document.querySelectorAll("[data-run]")].filter((place) => place.querySelector(".run"));
        if (!places.length) out.push("has kernels to run, and no buttons");
        for (const place of places) {
            const name = place.dataset.run;
            for (let e = place; e; e = e.parentElement) if (e.matches("details")) e.open = true;
            if (!place.matches("figure") && !place.querySelector("textarea")) {
                button(place, "Edit").click();
                await until(() => place.querySelector("textarea"));
            }
            // The first press loads what the buttons need, sizes among it.
            const { committed } = place.dataset;
            if (place.matches("figure") && !committed) await run(place);
            const launch = !committed && / on (\d+)x(\d+)(?:x(\d+))?$/.exec(place.dataset.launch || "");
            if (launch) [...place.querySelectorAll(".sizes input")].forEach((input, i) => { input.value = launch[i + 1] || 1; });
            const said = await run(place);
            const isRight = !name.endsWith(".start") && !location.pathname.endsWith("/museum.html");
            if (isRight !== said.startsWith("Passed")) out.push(`${name} ends with: ${said}`);
            if (!/^(Passed|Failed|Does not compile)/.test(said)) out.push(`${name} does not run: ${said}`);
            const choice = place.querySelector(".counts select");
            const isCounted = choice && (!committed || place.querySelector(".l[data-hits]"));
            if (!isCounted && !said.startsWith("Does not")) out.push(`${name} has no counts`);
            for (const [index, option] of launch && choice ? [[1, "sectors"], [2, "wavefronts"]] : []) {
                choice.selectedIndex = index;
                choice.dispatchEvent(new Event("change"));
                for (const line of place.querySelectorAll(".l[data-counts]")) {
                    const book = (new RegExp(`([\\d\u00a0]+) ${option}`).exec(line.dataset.counts) || ["", "0"])[1].trim();
                    const counted = (line.dataset.hits || "0").trim() || "0";
                    if (counted !== book) out.push(`line ${line.dataset.n} of ${name} has ${counted} ${option} in the page, and ${book} in the book`);
                }
            }
            for (const details of place.querySelectorAll(".run details")) details.open = true;
            if (!place.matches("figure")) button(place, "Close").click();
        }
        return out;
    }

    // Texts that do harm elsewhere. The page answers a press of Stop while a kernel runs, and runs the next one.
    async function hostile() {
        const out = [];
        const place = document.querySelector("figure[data-run=v02]");
        if (!place.querySelector("textarea")) button(place, "Edit").click();
        await until(() => place.querySelector("textarea"));
        const area = place.querySelector("textarea");
        const own = area.value;
        const give = (text) => {
            area.value = text;
            area.dispatchEvent(new Event("input"));
        };
        const expect = (what, said, wanted) => { if (!wanted.test(said)) out.push(`${what} ends with: ${said}`); };
        give(own.replace("T acc = 0;", "T acc = 0; while (true) {}"));
        expect("an endless loop", await run(place), /^Failed/);
        give(own.replace("T acc = 0;", `T acc = ${"(".repeat(50000)}0${")".repeat(50000)};`));
        expect("deep nesting", await run(place), /^(Does not compile|Passed)/);
        give(own + "x".repeat(5000000));
        expect("a text of 5 MB", await run(place), /^the text has/);
        give(own.replace("T acc = 0;", "T acc = 0; for (int i = 0; i < 2000000000; ++i) acc += A[i % K];"));
        place.querySelector(".run-status").textContent = "";
        button(place, "Run").click();
        await until(() => !button(place, "Stop").hidden);
        button(place, "Stop").click();
        await ran(place);
        expect("a run that is stopped", status(place), /^stopped/);
        give(own);
        expect("the run after it", await run(place), /^Passed/);
        return out;
    }

    // Runs a mistake and another kernel of the file by their chips.
    async function chips() {
        const out = [];
        const place = document.querySelector("figure[data-run=v02]");
        const press = async (label) => {
            place.querySelector(".run-status").textContent = "";
            button(place, label).click();
            await ran(place);
            return status(place);
        };
        const swap = () => button(place, "The other order");
        if (!/^Failed: .*written and read/.test(await press("without the second barrier")) || !swap()) out.push("a race has no picture");
        else {
            const before = place.querySelector(".race [role=status]").textContent;
            swap().click();
            if (place.querySelector(".race [role=status]").textContent === before) out.push("the order of a race does not change");
        }
        await press("Reset");
        const said = await press("tile 16");
        if (!said.startsWith("Passed") || !place.querySelector(".counts .rise")) out.push(`tile 16 ends with: ${said}`);
        button(place, "Step through").click();
        if (!await until(() => place.querySelector(".explorer .listing [role=button]"))) out.push(`no steps of tile 16: ${place.querySelector(".explorer").textContent}`);
        return out;
    }

    // Launches a kernel as the reader chooses, and takes the launch from the address.
    async function launch() {
        const out = [];
        const place = document.querySelector("[data-run=playground]");
        const field = (label) => place.querySelector(`[aria-label="${label}"]`);
        const set = (label, value) => {
            field(label).value = value;
            field(label).dispatchEvent(new Event("input", { bubbles: true }));
        };
        const expect = (what, said, wanted) => { if (!wanted.test(said)) out.push(`${what} ends with: ${said}`); };
        if (!place.querySelector("textarea")) button(place, "Edit").click();
        await until(() => field("Run as"));
        set("Run as", "own");
        expect("a launch", await run(place), /^Ran playground: no finding/);
        if (!place.querySelector(".map canvas") || place.querySelectorAll(".run-results tbody tr").length < 8) out.push("the buffer of a launch is not shown");
        set("Elements of buffer 3", "");
        expect("a launch without a buffer", await run(place), /playground takes \(an int, an int, an int, a pointer, a pointer, a pointer\), and the launch has 2 buffers/);
        set("Elements of buffer 3", "int");
        set("Length of buffer 3", "100");
        expect("a short buffer", await run(place), /^Ran playground: 1 finding/);
        button(place, "Link").click();
        await until(() => location.hash.includes("&launch="));
        set("Length of buffer 3", "4096");
        window.dispatchEvent(new Event("hashchange"));
        if (!await until(() => field("Length of buffer 3").value === "100")) out.push("the address has no launch");
        return out;
    }

    // Returns a source of `emulator/cuda/tests/hostile.txt`, with fewer copies where the compiler's own test has more.
    function expanded(text) {
        const parts = text.split("@").map((part, i, all) => {
            if (i % 3 === 0) return part;
            return i % 3 === 1 ? Array.from({ length: Math.min(2500, all[i + 1]) }, (_, n) => part.replaceAll("%", n).replaceAll("$", n + 1)).join("") : "";
        });
        const whole = parts.join("");
        return whole.startsWith(":") ? whole.slice(1) : `__global__ void k(int n, float* a, int* b) { int i = threadIdx.x;\n${whole} }`;
    }

    // Returns damaged copies of a text: words and signs that are removed, repeated, put elsewhere or swapped.
    function damaged(text, copies, random) {
        const original = text.match(/\w+|\s+|[^]/g);
        return Array.from({ length: copies }, () => {
            const words = [...original];
            for (let i = random(3); i >= 0; i -= 1) {
                const [at, other] = [random(words.length), random(words.length)];
                const one = original[random(original.length)];
                [() => words.splice(at, 1), () => words.splice(at, 0, one), () => { words[at] = one; },
                    () => { [words[at], words[other]] = [words[other], words[at]]; }][random(4)]();
            }
            return words.join("");
        });
    }

    // Runs sources that are large, that do harm elsewhere, or that are damaged: each is answered, or stopped by the page's
    // clock, and the page handles a press before. Runs one part of so many, since a reply to the test has a limit of time.
    async function harmful(large, bodies, [part, parts]) {
        const out = [];
        const { runs, headers, tasks: { v02: task } } = self.tileSources;
        let state = 1;
        const random = (n) => {
            state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
            return (state >>> 8) % n;
        };
        const kernel = ([before, body]) => `#include "common.cuh"\n${before}\nextern "C" __global__ void ${task.entry}`
            + `(int M, int N, int K, const float* A, const float* B, float* C)\n{\n${body}\n}\n`;
        const sources = new Set([large.map(expanded), bodies.map(kernel),
            Object.values(runs).map(({ source }) => damaged(source, 3, random))].flat(2));
        if (sources.size < 200) out.push(`has only ${sources.size} harmful sources`);
        const other = document.querySelector("#mdbook-theme-toggle");
        const { port1, port2 } = new MessageChannel();
        for (const source of [...sources].filter((_, i) => i % parts === part)) {
            const events = [];
            const answer = window.TileRun.ask({ name: "harm.cu", source, headers, task, judge: false })
                .then(({ reply }) => (reply.error ? "refused" : reply.explained ? "counted" : reply.messages.length ? "not compiled" : "not launched"), (error) => error.message)
                .then((how) => { events.push(how); });
            const press = new Promise((done) => { port1.onmessage = done; });
            other.onclick = () => { events.push("press"); };
            port2.postMessage(0);
            await press;
            other.click();
            await answer;
            const [first, how] = events;
            if (first !== "press") out.push(`a press is handled only after the answer about: ${source.slice(0, 200)}`);
            if (/ the kernel may need /.test(how)) out.push(`${how} for: ${source.slice(0, 200)}`);
        }
        return out;
    }

    return { all, chips, harmful, hostile, launch, until };
})()
