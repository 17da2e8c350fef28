// What a page needs beyond mdBook: arrow keys that stay where they are used, boxes that scroll by keyboard, notes on
// measured numbers and on lines of code, controls with names, everything unfolded on paper. Without this script
// every page can be read; a number then has its source in its title and at the end of the page.
(function () {
    "use strict";

    const main = document.querySelector("main");
    if (!main) return;

    // ---- Arrow keys turn the page, but not from within something that uses them ------------------------------

    const USES_ARROWS = "[data-explorer], .explorer, pre, table, .table-wrapper, figure, button, summary, "
        + "[role=region], [role=button], [role=slider], [role=tablist], [contenteditable]";

    function usesArrows(node) {
        const element = node && (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
        const within = element && element.closest(USES_ARROWS);
        return Boolean(within && document.getElementById("mdbook-content").contains(within));
    }

    // mdBook listens on the document; what the element itself does has been done when the key arrives here.
    document.body.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        const selection = document.getSelection();
        // A click into code that does not scroll gives the focus to the text as a whole.
        const whole = event.target === document.body || event.target === main;
        const clicked = whole && selection ? selection.anchorNode : null;
        if (usesArrows(event.target) || usesArrows(clicked)) event.stopPropagation();
    });

    // ---- Boxes that scroll sideways ---------------------------------------------------------------------------

    const BOXES = "pre > code, .table-wrapper, figure.picture .scroll";

    function nameOf(box, number) {
        const figure = box.closest("figure");
        const caption = figure && figure.querySelector("figcaption");
        const kind = box.matches("code") ? "Code" : box.matches(".table-wrapper") ? "Table" : "Picture";
        const text = caption ? `: ${caption.textContent.trim().slice(0, 60)}` : "";
        return `${kind} ${number}${text}, scrolls sideways`;
    }

    function atEnds(box) {
        box.classList.toggle("at-start", box.scrollLeft <= 1);
        box.classList.toggle("at-end", box.scrollLeft + box.clientWidth >= box.scrollWidth - 1);
    }

    const boxes = [...main.querySelectorAll(BOXES)];

    function measure() {
        // All sizes are read before anything is changed: one layout for a page, not one for each box.
        const wide = boxes.map((box) => box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1);
        boxes.forEach((box, i) => {
            if (wide[i] === box.classList.contains("scrolls")) return;
            box.classList.toggle("scrolls", wide[i]);
            if (wide[i]) {
                box.setAttribute("tabindex", "0");
                box.setAttribute("role", "region");
                box.setAttribute("aria-label", nameOf(box, i + 1));
                atEnds(box);
            } else {
                for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
            }
        });
    }

    for (const box of boxes) box.addEventListener("scroll", () => atEnds(box), { passive: true });
    const watch = new ResizeObserver(measure);
    watch.observe(main);
    // What is folded has no size.
    main.addEventListener("toggle", measure, true);

    // ---- Notes: where a number comes from, what a line of code did --------------------------------------------

    const note = document.createElement("div");
    note.className = "note";
    note.id = "tile-note";
    note.setAttribute("role", "status");
    main.append(note);
    let noted = null;

    function hide() {
        if (!noted) return;
        if (noted.hasAttribute("aria-expanded")) noted.setAttribute("aria-expanded", "false");
        noted = null;
        note.classList.remove("shown");
        note.textContent = "";
    }

    function show(element, text) {
        const again = noted === element;
        hide();
        if (again) return;
        noted = element;
        if (element.hasAttribute("aria-expanded")) element.setAttribute("aria-expanded", "true");
        note.textContent = text;
        note.classList.add("shown");
        const place = element.getBoundingClientRect();
        const around = main.getBoundingClientRect();
        const left = Math.min(place.left - around.left, around.width - note.offsetWidth);
        note.style.left = `${Math.max(0, left)}px`;
        note.style.top = `${place.bottom - around.top + 4}px`;
    }

    function button(element, text, stop) {
        element.setAttribute("role", "button");
        element.setAttribute("aria-expanded", "false");
        element.setAttribute("aria-controls", note.id);
        element.setAttribute("tabindex", stop ? "0" : "-1");
        element.addEventListener("click", () => {
            const selection = document.getSelection();
            // Who marks code to copy it does not ask for a note.
            if (!selection || selection.isCollapsed) show(element, text());
        });
        element.addEventListener("keydown", (event) => {
            if (event.target !== element || (event.key !== "Enter" && event.key !== " ")) return;
            event.preventDefault();
            show(element, text());
        });
    }

    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape") hide();
    });
    document.addEventListener("click", (event) => {
        if (noted && !noted.contains(event.target) && !note.contains(event.target)) hide();
    });

    for (const number of main.querySelectorAll(".measured[title]")) {
        if (number.closest("a, summary, button, label")) continue;
        const source = number.title;
        button(number, () => source, true);
    }

    // Terms of the glossary are explained where they are pointed at or have the focus, and as long as the pointer is in
    // the note.
    let leaving = null;
    const stay = () => clearTimeout(leaving);
    const leave = () => { leaving = setTimeout(hide, 200); };
    note.addEventListener("pointerenter", stay);
    note.addEventListener("pointerleave", () => { if (noted && noted.matches("a")) leave(); });
    for (const term of main.querySelectorAll("a[href*='glossary.html#'][title]")) {
        const about = term.title;
        term.removeAttribute("title");
        const explain = () => {
            stay();
            if (noted !== term) show(term, about);
        };
        term.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") explain(); });
        term.addEventListener("pointerleave", leave);
        term.addEventListener("focus", explain);
        term.addEventListener("blur", hide);
    }

    // One stop of the tab key for a listing; up and down go from line to line.
    for (const listing of main.querySelectorAll("figure.listing[data-launch]")) {
        const lines = [...listing.querySelectorAll(".l[data-counts]")];
        lines.forEach((line, i) => {
            button(line, () => `Line ${line.dataset.n}: ${line.dataset.counts}. `
                + `Counted on the emulated GPU: ${listing.dataset.launch}.`, i === 0);
            line.addEventListener("keydown", (event) => {
                const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: lines.length - 1 }[event.key];
                if (to === undefined || !lines[to]) return;
                event.preventDefault();
                line.setAttribute("tabindex", "-1");
                lines[to].setAttribute("tabindex", "0");
                lines[to].focus();
            });
        });
    }

    // ---- Choices in the bar, which the next page remembers -------------------------------------------------------

    const bar = document.querySelector("#mdbook-menu-bar .right-buttons");
    const offer = (label, options, key, apply) => {
        const choice = document.createElement("select");
        choice.className = `choice ${key}`;
        choice.setAttribute("aria-label", label);
        for (const option of options) choice.add(new Option(option));
        choice.addEventListener("change", () => {
            apply(choice);
            try { localStorage.setItem(key, choice.value); } catch { /* The next page begins with the first option. */ }
        });
        try { choice.value = localStorage.getItem(key) || choice.value; } catch { /* Nothing is kept. */ }
        if (choice.selectedIndex < 0) choice.selectedIndex = 0;
        if (choice.selectedIndex > 0) apply(choice);
        bar.prepend(choice);
    };

    // A column of counts beside the lines of kernels.
    const listings = [...main.querySelectorAll("figure.listing[data-launch]")];
    if (bar && listings.length) {
        const count = (choice) => {
            const pattern = new RegExp(`([\\d\u00a0]+) (?:PTX )?${choice.value}`);
            main.classList.toggle("gutter", choice.selectedIndex > 0);
            for (const listing of listings) {
                const lines = [...listing.querySelectorAll(".l[data-n]")];
                const found = lines.map((line) => (pattern.exec(line.dataset.counts) || ["", ""])[1].trim());
                const counts = found.map((text) => Number(text.replace(/\u00a0/g, "")));
                const most = Math.max(1, ...counts);
                lines.forEach((line, i) => {
                    line.dataset.count = found[i];
                    line.style.setProperty("--heat", `${Math.round(40 * counts[i] / most)}%`);
                });
            }
            measure();
        };
        offer("Counts beside the lines of kernels", ["no counts", "sectors", "wavefronts", "instructions"], "tile-counts", count);
    }

    // Listings in the other language, where the kernel has a sibling.
    const inBoth = [...main.querySelectorAll("figure.listing[data-lang]")];
    if (bar && inBoth.length) {
        offer("Language of the kernels", ["CUDA C++", "Rust"], "tile-language", (choice) => {
            for (const listing of inBoth) listing.hidden = (listing.dataset.lang === "rust") !== (choice.value === "Rust");
            measure();
        });
    }

    // ---- mdBook's own controls --------------------------------------------------------------------------------

    const skip = document.querySelector("a.skip");
    if (skip) document.body.prepend(skip);
    main.tabIndex = -1;
    if (skip) skip.addEventListener("click", () => main.focus({ preventScroll: true }));

    // A label is no control; this one gets what makes it one.
    const sidebar = document.getElementById("mdbook-sidebar-toggle");
    if (sidebar) {
        sidebar.setAttribute("role", "button");
        sidebar.tabIndex = 0;
        sidebar.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            sidebar.click();
        });
    }

    const themes = [...document.querySelectorAll("#mdbook-theme-list .theme")];
    function chosen() {
        for (const theme of themes) {
            theme.setAttribute("role", "menuitemradio");
            theme.setAttribute("aria-checked", String(theme.classList.contains("theme-selected")));
        }
    }
    const list = document.getElementById("mdbook-theme-list");
    if (list) new MutationObserver(chosen).observe(list, { subtree: true, attributeFilter: ["class"] });
    chosen();

    // ---- Answers that this browser keeps, and ticks for pages whose questions are all answered ----------------

    const KEPT = "tile-answers";
    const page = location.pathname.split("/").pop() || "index.html";

    function kept() {
        try {
            return { answers: {}, pages: {}, ...JSON.parse(localStorage.getItem(KEPT)) };
        } catch {
            return { answers: {}, pages: {} };
        }
    }

    function change(edit) {
        const all = kept();
        edit(all);
        try {
            localStorage.setItem(KEPT, JSON.stringify(all));
        } catch {
            // Nothing is kept where the browser does not allow it.
        }
        tick();
    }

    function tick() {
        const { answers, pages } = kept();
        for (const link of document.querySelectorAll(".sidebar .chapter-item a[href]")) {
            const keys = pages[link.getAttribute("href").split("/").pop()] || [];
            const done = keys.length > 0 && keys.every((key) => (answers[key] || {}).right);
            const old = link.querySelector(".answered");
            if (old && !done) old.remove();
            if (old || !done) continue;
            const mark = document.createElement("span");
            mark.className = "answered";
            mark.title = "all questions answered";
            mark.setAttribute("role", "img");
            mark.setAttribute("aria-label", mark.title);
            mark.textContent = " ✓";
            link.append(mark);
        }
    }

    window.TileAnswers = {
        page,
        all: kept,
        keep: (key, given, right) => change(({ answers }) => { answers[key] = { given, right }; }),
        has: (keys) => change(({ pages }) => { pages[page] = keys; }),
    };
    tick();

    // ---- What readers call it -----------------------------------------------------------------------------------

    // The page that a search for a word should find first, where its text alone does not say so.
    const ALIASES = [
        ["install installation setup", "getting-started.html", "Getting started"],
        ["race|data race|race condition", "v02-shared.html#the-missing-second-barrier", "v02: a missing barrier is a race"],
        ["__syncthreads syncthreads", "together.html#barriers", "Working together: barriers"],
        ["stream-k streamk", "v11-every-shape.html#steps-not-tiles", "v11: stream-K, steps and not tiles"],
        ["cublas", "v09-cublas.html", "v09 cuBLAS"],
        ["tma", "v11-copies.html#a-unit-that-copies-boxes", "v11: the TMA, a unit that copies boxes"],
        ["mbarrier", "v11-copies.html#a-barrier-that-counts-bytes", "v11: a barrier that counts bytes"],
        ["wgmma", "v12-hopper.html", "v12 Hopper: wgmma"],
        ["ldmatrix", "v12-feeding.html", "v12: feeding tensor cores with ldmatrix"],
        ["tensor core|tensor cores", "v10-tensor-cores.html", "v10 tensor cores"],
    ].map(([words, ...to]) => [words.split(words.includes("|") ? "|" : " "), ...to]);
    const results = document.getElementById("mdbook-searchresults");
    const searchbar = document.getElementById("mdbook-searchbar");
    // It counts the results anew for each search, before it lists them.
    const header = document.getElementById("mdbook-searchresults-header");
    if (results && searchbar && header) new MutationObserver(() => {
        const term = searchbar.value.trim().toLowerCase();
        const known = ALIASES.find(([words]) => words.includes(term));
        if (!known || results.querySelector(".alias")) return;
        const item = document.createElement("li");
        const link = document.createElement("a");
        item.className = "alias";
        link.textContent = known[2];
        link.setAttribute("href", `${typeof path_to_root === "string" ? path_to_root : ""}${known[1]}`);
        item.append(link);
        results.prepend(item);
    }).observe(header, { childList: true, characterData: true, subtree: true });

    // ---- Back to the top, from far below ------------------------------------------------------------------------

    const up = document.createElement("a");
    up.className = "to-top";
    up.href = "#mdbook-content";
    up.textContent = "↑";
    up.title = "back to the top";
    up.setAttribute("aria-label", up.title);
    up.addEventListener("click", (event) => {
        event.preventDefault();
        window.scrollTo({ top: 0 });
        main.focus({ preventScroll: true });
    });
    main.after(up);
    const far = () => up.classList.toggle("far", window.scrollY > 2 * window.innerHeight);
    document.addEventListener("scroll", far, { passive: true });
    far();

    // ---- Paper cannot unfold ----------------------------------------------------------------------------------

    let unfolded = [];
    window.addEventListener("beforeprint", () => {
        hide();
        unfolded = [...main.querySelectorAll("details:not([open])")];
        for (const details of unfolded) details.open = true;
    });
    window.addEventListener("afterprint", () => {
        for (const details of unfolded) details.open = false;
    });

    measure();
})();
