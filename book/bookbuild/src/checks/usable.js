// What a reader with a keyboard, a narrow screen or a printer needs of the page that is loaded. Returns complaints.
// `kind` is "screen", or "print" where the media of paper are emulated.
((kind) => {
    const out = [];
    const main = document.querySelector("main");
    if (!main) return out;
    const shown = (e) => e.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })
        && e.getBoundingClientRect().height > 0;
    const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.className && typeof e.className === "string"
        ? "." + [...e.classList].join(".") : "") + " `" + e.textContent.trim().slice(0, 40) + "`";
    const first = (list) => list.slice(0, 2).map(name).join(", ");

    if (kind === "print") {
        const folded = [...main.querySelectorAll("details > :not(summary, [data-lang][hidden], .runnable)")]
            .filter((e) => e.textContent.trim() && !shown(e));
        if (folded.length) out.push(`${folded.length} parts that can be folded are not printed: ${first(folded)}`);
        const controls = [...document.querySelectorAll("button, input, select, .buttons")].filter(shown);
        if (controls.length) out.push(`${controls.length} controls are printed: ${first(controls)}`);
        return out;
    }

    if (document.documentElement.scrollWidth > window.innerWidth + 1) out.push("scrolls sideways as a whole");

    const wide = [...main.querySelectorAll("*")].filter((e) => e.scrollWidth > e.clientWidth + 1
        && ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && shown(e));
    const mute = wide.filter((e) => e.tabIndex !== 0 || e.getAttribute("role") !== "region"
        || !e.getAttribute("aria-label"));
    if (mute.length) out.push(`${mute.length} boxes scroll, and the keyboard does not reach them: ${first(mute)}`);

    // Arrow keys turn the page from its text, and nowhere else.
    const turned = (from) => {
        const next = document.querySelector(".nav-chapters.next");
        if (!next) return null;
        const href = next.getAttribute("href");
        next.setAttribute("href", "#turned");
        if (from.tabIndex >= 0) from.focus();
        from.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
        const did = location.hash === "#turned";
        history.replaceState(null, "", location.pathname);
        next.setAttribute("href", href);
        return did;
    };
    const text = main.querySelector("p");
    if (text && turned(text) === false) out.push("the arrow keys do not turn the page");
    for (const box of ["pre code", "pre .l", "table td", ".table-wrapper", "[data-explorer] button", "summary", "figure"]) {
        const inside = main.querySelector(box);
        if (inside && turned(inside)) out.push(`an arrow key in ${box} turns the page`);
    }

    const code = main.querySelector("pre code");
    if (code) {
        document.getSelection().collapse(code, 0);
        if (turned(main)) out.push("an arrow key behind a click into code turns the page");
        document.getSelection().removeAllRanges();
    }

    const numbers = [...main.querySelectorAll(".measured")]
        .filter((e) => !e.closest("a, summary, button, label") && e.tabIndex !== 0);
    if (numbers.length) out.push(`${numbers.length} measured numbers keep their source from keyboard and finger: ${first(numbers)}`);

    for (const listing of main.querySelectorAll("figure.listing[data-launch]")) {
        const lines = [...listing.querySelectorAll("[data-counts]")];
        const stops = lines.filter((line) => line.tabIndex === 0);
        if (lines.length && stops.length !== 1) {
            out.push(`a listing has ${stops.length} lines in the order of the tab key, not one: ${name(listing)}`);
        } else if (lines.length) {
            stops[0].dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            const note = document.getElementById(stops[0].getAttribute("aria-controls") || "");
            if (!note || !note.textContent.includes(stops[0].dataset.counts)) {
                out.push(`a line of a listing does not show its counts: ${name(stops[0])}`);
            }
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
        }
        if (/^\s*\d+\s/m.test(listing.querySelector("code").innerText)) {
            out.push(`the numbers of lines are copied with the code: ${name(listing)}`);
        }
    }

    const counts = document.querySelector("select.tile-counts");
    const counted = [...main.querySelectorAll("figure.listing[data-launch] [data-counts]")];
    if (counted.length && !counts) out.push("the bar has no choice of counts beside the lines");
    if (counts) {
        counts.value = "instructions";
        counts.dispatchEvent(new Event("change"));
        const wrong = counted.find((line) => !line.dataset.counts.includes(`${line.dataset.count} PTX instructions`));
        if (wrong) out.push(`a line has another count beside it than in its note: ${name(wrong)}`);
        counts.selectedIndex = 0;
        counts.dispatchEvent(new Event("change"));
        if (main.classList.contains("gutter")) out.push("counts beside the lines cannot be switched off");
    }

    // Each question takes a wrong answer, then the right one, which is kept and unfolds the reason.
    const isPaper = location.pathname.endsWith("/print.html");
    const questions = isPaper ? [] : [...main.querySelectorAll("[data-question]")];
    for (const place of questions) {
        const { question, answer, within } = place.dataset;
        const [box, ...more] = place.querySelectorAll("input");
        if (!box) {
            out.push(`the question ${question} takes no answer`);
            continue;
        }
        const give = (text) => {
            if (box.type === "text") box.value = text;
            else [box, ...more].find((radio) => radio.value === text).checked = true;
            place.querySelector("form").requestSubmit();
            return place.dataset.state;
        };
        const wrong = box.type === "text" ? `${Number(answer) + Number(within || 0) + 1}` : answer === "a" ? "b" : "a";
        if (give(wrong) !== "wrong" || give(answer) !== "right" || !place.querySelector("details").open) {
            out.push(`the question ${question} is judged wrongly`);
        }
        place.querySelector("details").open = false;
    }
    if (questions.length > 0 && document.querySelector(".sidebar") && !document.querySelector(".sidebar a.active .answered")) {
        out.push("a page whose questions are all answered has no tick in the table of contents");
    }
    localStorage.removeItem("tile-answers");

    for (const model of main.querySelectorAll("[data-explorer]:has(.model)")) {
        const said = model.querySelector("output[aria-live]");
        const label = () => (model.querySelector(".drawn svg[role=img]")?.getAttribute("aria-label") || "");
        if (!said || !said.textContent || label() !== said.textContent) {
            out.push(`the picture of ${model.dataset.explorer} has another description than its sentence`);
        }
        const on = model.querySelector("button[aria-label='one step on']");
        const before = label() + model.querySelector(".drawn").innerHTML;
        if (on) on.click();
        if (on && label() + model.querySelector(".drawn").innerHTML === before) {
            out.push(`a step of ${model.dataset.explorer} changes nothing`);
        }
        const small = [...model.querySelectorAll(".drawn svg")].map((e) => e.getBoundingClientRect().width / e.viewBox.baseVal.width);
        if (small.some((scale) => scale > 0 && 15.5 * scale < 10)) out.push(`the words of ${model.dataset.explorer} are too small`);
    }

    // The stepper: on one screen; lines lead to their next execution, cells have a history, and it plays and stops.
    for (const stepper of isPaper ? [] : main.querySelectorAll("[data-explorer='steps']")) {
        const complain = (what) => out.push(`the stepper of ${stepper.dataset.of} ${what}`);
        const { height } = stepper.getBoundingClientRect();
        if (window.innerWidth >= 1280 && height > 650) complain(`is ${Math.round(height)} pixels high`);
        const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        const lines = [...stepper.querySelectorAll(".listing [role=button]")];
        if (lines.filter((line) => line.tabIndex === 0).length !== 1) complain("has not one line in the order of the tab key");
        for (const line of lines) {
            press(line, "Enter");
            if (!line.classList.contains("here")) complain(`does not go to line ${line.dataset.line}`);
        }
        // An MMA's fragments, as the chosen lane has them.
        const lane = [...stepper.querySelectorAll("select")].find((e) => e.id.endsWith("lane") && e.checkVisibility());
        if (Boolean(lane) !== (stepper.dataset.of === "v10")) complain("has a choice of lanes, or none");
        if (lane) {
            press(lines.find((line) => line.textContent.includes("multiply(")), "Enter");
            lane.value = 18;
            lane.dispatchEvent(new Event("input"));
            const said = stepper.querySelector(".about").textContent;
            const has = /^Lane 18 of warp \d has a_tile.* b_tile.* the accumulators of C\[4, 12\]\[4–5, 12–13\]\.$/;
            if (!has.test(said)) complain(`does not say what a lane has of an MMA: ${said}`);
        }
        const cells = stepper.querySelector(".cells");
        if (!cells) {
            complain("is not there");
            continue;
        }
        press(cells, "ArrowDown");
        const [written, history] = stepper.dataset.of === "v01" ? [/: written by warp 0, lane 0,/, ".wrote"] : [/: written by .* Read by /, ".read"];
        if (!written.test(stepper.querySelector(".about").textContent)) complain("does not say who wrote a cell");
        if (!stepper.querySelector(`.strips ${history}`)) complain("does not mark a cell's history");
        // A finger in the corner of the last tile, and in the middle of the time line.
        const touch = (element, x, y) => element.dispatchEvent(new PointerEvent("pointerdown",
            { pointerType: "touch", clientX: x, clientY: y, bubbles: true, buttons: 1 }));
        const name = [...cells.querySelectorAll("text[class^='ink-']")].pop();
        const at = name.getBoundingClientRect();
        touch(cells, at.left + 3, at.bottom + 6);
        const told = stepper.querySelector(".about").textContent;
        if (!told.startsWith(name.textContent)) complain(`does not tell of the cell of ${name.textContent} that is touched: ${told}`);
        const strips = stepper.querySelector(".strips svg").getBoundingClientRect();
        touch(stepper.querySelector(".strips"), strips.left + strips.width / 2, strips.top + 5);
        const [moment, last] = ["value", "max"].map((part) => Number(stepper.querySelector("input[type=range]")[part]));
        if (moment < last / 3 || moment > last * 2 / 3) complain("does not go to the moment that is touched");
        const play = stepper.querySelector(".play");
        play.click();
        const plays = play.textContent;
        play.click();
        if (!plays.includes("Pause") || !play.textContent.includes("Play")) complain("does not play and stop");
    }

    const focusable = [...document.querySelectorAll("a[href], button, input, select, [tabindex]")]
        .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }));
    const skip = focusable[0];
    if (document.getElementById("mdbook-menu-bar")) {
        if (!skip || !skip.matches("a[href='#mdbook-content']")) out.push("the first stop of the tab key does not skip to the text");
        const toggle = document.getElementById("mdbook-sidebar-toggle");
        if (toggle && toggle.tabIndex !== 0) out.push("the keyboard does not reach the table of contents");
    }
    // Lines of text that are easy to follow, and no wall of output on the first screen.
    const long = [...main.querySelectorAll(":scope > p")].filter(shown).map((p) =>
        [p.innerText.length, Math.round(p.getBoundingClientRect().height / parseFloat(getComputedStyle(p).lineHeight))]);
    const letters = long.filter(([, lines]) => lines > 3).map(([length, lines]) => length / (lines - 0.5));
    const line = letters.reduce((sum, n) => sum + n, 0) / letters.length;
    if (window.innerWidth > 700 && (line < 55 || line > 82)) out.push(`a line of text has ${Math.round(line)} characters`);
    const walls = [...main.querySelectorAll("pre")].filter((e) => shown(e) && e.getBoundingClientRect().top + window.scrollY < window.innerHeight
        && !e.closest("figure.listing, .editor") && e.innerText.trimEnd().split("\n").length > 20);
    if (walls.length) out.push(`more than twenty lines of output begin on the first screen: ${first(walls)}`);

    // Colours of pictures, as those see them who lack a kind of cones (Machado and others, 2009), in every theme.
    const drawing = main.querySelector(".tile-figure, .explorer");
    const classes = document.documentElement.classList;
    const themes = ["light", "rust", "coal", "navy", "ayu"];
    const own = themes.filter((theme) => classes.contains(theme));
    const cones = {
        "full colour vision": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    };
    // CIELAB, in which distances are differences that one sees.
    const lab = (hex, cone) => {
        const linear = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        const seen = cone.map((row) => Math.min(1, Math.max(0, row.reduce((sum, part, i) => sum + part * linear[i], 0))));
        const [x, y, z] = [[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]]
            .map((row) => row.reduce((sum, part, i) => sum + part * seen[i], 0))
            .map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
        return [116 * y, 500 * (x - y), 200 * (y - z)];
    };
    for (const theme of drawing ? themes : []) {
        classes.remove(...themes);
        classes.add(theme);
        const style = getComputedStyle(drawing);
        for (const names of [["a", "b", "c", "d", "bad"], ["a2", "b2", "c2", "d2", "bad2", "faint"]]) {
            const hex = names.map((name) => style.getPropertyValue(`--tf-${name}`).trim());
            for (const [kind, cone] of Object.entries(cones)) {
                const labs = hex.map((colour) => lab(colour, cone));
                const alike = names.flatMap((one, i) => names.slice(i + 1).map((other, j) => [one, other, Math.hypot(...labs[i].map((c, n) => c - labs[i + 1 + j][n]))]))
                    .find(([, , apart]) => !(apart >= 7.5));
                if (alike) out.push(`in the theme ${theme} the colours ${alike[0]} and ${alike[1]} look alike with ${kind}`);
            }
        }
    }
    classes.remove(...themes);
    classes.add(...own);

    const hidden = [...main.querySelectorAll("pre > .buttons button")].filter((e) => getComputedStyle(e).visibility === "hidden");
    if (hidden.length) out.push(`${hidden.length} buttons to copy are there for a mouse alone`);
    return out;
})(KIND)
