// The buttons of kernels that run in the page: below each listing, and at each task, with `data-run`. What they do is in
// `kernels.js`, which is loaded when one is pressed: a page that is read is as light as one without them.
(function () {
    "use strict";

    const main = document.querySelector("main");
    // The finished kernel has a place of its own where no listing shows the whole of it.
    const isShown = (place) => main.querySelector(`figure[data-run="${place.dataset.run}"]`);
    const places = main ? [...main.querySelectorAll("[data-run]")].filter((place) => place.matches("figure") || !isShown(place)) : [];
    // The page of all chapters is for printing.
    if (!places.length || location.pathname.endsWith("/print.html")) return;

    const folder = new URL(".", document.currentScript.src).href;
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = `${folder}run.css`;
    document.head.append(style);

    function label(place) {
        const name = place.dataset.run;
        if (place.matches("figure")) return "✎ Edit";
        if (name === "playground") return "✎ Edit a kernel in the page";
        return name.endsWith(".start") ? `✎ Edit the starter of ${name.slice(0, -".start".length)} in the page` : "✎ Edit the kernel in the page";
    }

    /// Returns what a committed kernel runs as.
    function committedLaunch({ committed, sizes }) {
        const name = document.createElement("code");
        name.textContent = committed;
        const text = document.createElement("span");
        text.append(name, ` as committed, at ${sizes}`);
        return text;
    }

    const loaded = {};
    /// Loads a script of the folder once; one that failed is tried again.
    function load(name) {
        loaded[name] ||= new Promise((done, fail) => {
            const script = document.createElement("script");
            script.src = folder + name;
            script.addEventListener("load", done);
            script.addEventListener("error", () => {
                delete loaded[name];
                fail(new Error(`${folder}${name} cannot be loaded; build the book again, with: cargo xtask page && cargo xtask book`));
            });
            document.head.append(script);
        });
        return loaded[name];
    }

    function press(place, action) {
        load("kernels.js").then(() => window.TileRun.press(place, action), (error) => {
            place.querySelector(".run-status").textContent = error.message;
        });
    }

    window.TileRun = { folder, places, label, committedLaunch, load };
    for (const place of places) {
        const box = document.createElement("div");
        box.className = "run";
        const bar = document.createElement("div");
        bar.className = "run-bar";
        const status = document.createElement("p");
        status.className = "run-status";
        status.setAttribute("role", "status");
        const actions = place.matches("figure") ? [["▶ Run", "run", "primary"]] : [];
        // What the compiler does not know is not edited.
        if (!place.dataset.committed) actions.push([label(place), "open", ""]);
        for (const [text, action, kind] of actions) {
            const button = document.createElement("button");
            button.type = "button";
            button.className = kind;
            button.textContent = text;
            button.addEventListener("click", () => press(place, action));
            bar.append(button);
        }
        if (place.dataset.committed) bar.append(committedLaunch(place.dataset));
        box.append(bar, status);
        for (const without of place.querySelectorAll(".without")) without.remove();
        place.append(box);
    }
    // The playground is there to be edited: it opens by itself.
    const playground = places.find((place) => place.dataset.run === "playground");
    if (playground) press(playground, "begin");
})();
