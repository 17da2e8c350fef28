// What a reader does with the kernels of a page. `all` and `hostile` return complaints.
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
            if (place.matches("figure")) await run(place);
            const launch = / on (\d+)x(\d+)(?:x(\d+))?$/.exec(place.dataset.launch || "");
            if (launch) [...place.querySelectorAll(".sizes input")].forEach((input, i) => { input.value = launch[i + 1] || 1; });
            const said = await run(place);
            const isRight = !name.endsWith(".start") && !location.pathname.endsWith("/museum.html");
            if (isRight !== said.startsWith("Passed")) out.push(`${name} ends with: ${said}`);
            if (!/^(Passed|Failed|Does not compile)/.test(said)) out.push(`${name} does not run: ${said}`);
            const choice = place.querySelector(".counts select");
            if (!choice && !said.startsWith("Does not")) out.push(`${name} has no counts`);
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

    return { all, hostile, until };
})()
