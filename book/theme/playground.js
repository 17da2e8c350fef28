// The launch that a reader of the playground chooses. `kernels.js` loads this script in the playground alone.
(function () {
    "use strict";

    const MOST_BUFFERS = 4;
    const ELEMENTS = { "": "none", float: "float", int: "int" };
    const CONTENTS = { zeros: "zeros", index: "0, 1, 2, …", random: "random", constant: "a constant" };
    const buffer = (holds) => ({ element: "float", length: 4096, holds, value: 1 });
    /// A launch of the kernel of the book.
    const USUAL = { grid: [4, 4, 1], block: [16, 16, 1], dynamic_shared: 0, numbers: [64, 64, 64], shown: 2,
        buffers: [buffer("random"), buffer("random"), buffer("zeros")] };

    /// Returns the form of a launch: its element, and functions that read and write it. `read` returns null for the
    /// launch that is judged.
    window.TileRun.launchForm = (make, changed) => {
        const labelled = (label, control) => make("label", {}, `${label} `, control);
        const numeric = (label) => make("input", { type: "number", min: 0, inputmode: "numeric", "aria-label": label });
        const select = (label, options) => make("select", { "aria-label": label }, Object.entries(options).map(([value, text]) => make("option", { value }, text)));
        const kind = select("Run as", { "": "a product, which is judged", own: "a launch of your own" });
        const three = (name) => ["x", "y", "z"].map((axis) => numeric(`${name} ${axis}`));
        const [grid, block, shared] = [three("Grid"), three("Block"), numeric("Bytes of dynamic shared memory")];
        const numbers = make("input", { type: "text", "aria-label": "Numbers for the other parameters", spellcheck: "false" });
        const buffers = Array.from({ length: MOST_BUFFERS }, (_, i) => ({
            element: select(`Elements of buffer ${i + 1}`, ELEMENTS),
            length: numeric(`Length of buffer ${i + 1}`),
            holds: select(`Content of buffer ${i + 1}`, CONTENTS),
            value: make("input", { type: "number", step: "any", "aria-label": `Constant of buffer ${i + 1}` }),
            shown: make("input", { type: "radio", name: "shown-buffer", "aria-label": `Show buffer ${i + 1}` }),
        }));
        const head = ["", "elements", "length", "content", "constant", "show"].map((text) => make("th", { scope: "col" }, text));
        const rows = buffers.map((one, i) => make("tr", {}, make("th", { scope: "row" }, i + 1), Object.values(one).map((control) => make("td", {}, control))));
        const own = make("div", { class: "own-launch" },
            make("p", {}, make("span", {}, "Grid ", grid), make("span", {}, "Block ", block), labelled("Dynamic shared bytes", shared)),
            make("div", { class: "table-wrapper", tabindex: "0", role: "region", "aria-label": "Buffers" },
                make("table", {}, make("caption", {}, "Buffers for the pointers, in order"), make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows))),
            make("p", {}, labelled("Numbers for the other parameters, in order:", numbers)));
        const element = make("div", { class: "launch", role: "group", "aria-label": "Launch", oninput: update }, make("p", {}, labelled("Run as", kind)), own);

        function update() {
            own.hidden = !kind.value;
            for (const one of buffers) {
                for (const control of [one.length, one.holds, one.shown]) control.disabled = !one.element.value;
                one.value.disabled = !one.element.value || one.holds.value !== "constant";
            }
            changed(read());
        }

        /// Returns the value of a control that the module reads as a whole number; what is none is 0, which it refuses.
        const whole = (control) => Math.min(Math.max(Math.trunc(Number(control.value)) || 0, 0), 2 ** 31 - 1);

        function read() {
            if (!kind.value) return null;
            const given = buffers.filter((one) => one.element.value);
            return {
                grid: grid.map(whole), block: block.map(whole), dynamic_shared: whole(shared),
                numbers: numbers.value.split(/[\s,;]+/).filter(Boolean).map((text) => Number(text) || 0),
                shown: Math.max(0, given.findIndex((one) => one.shown.checked)),
                buffers: given.map((one) => ({ element: one.element.value, length: whole(one.length), holds: one.holds.value, value: Number(one.value.value) || 0 })),
            };
        }

        function write(launch) {
            const { grid: blocks, block: threads, dynamic_shared: bytes, numbers: given, shown, buffers: all } = { ...USUAL, ...launch };
            kind.value = launch ? "own" : "";
            grid.forEach((control, i) => { control.value = blocks[i]; });
            block.forEach((control, i) => { control.value = threads[i]; });
            shared.value = bytes;
            numbers.value = given.join(", ");
            buffers.forEach((one, i) => {
                const { element: of, length, holds, value } = all[i] || { ...buffer("zeros"), element: "" };
                Object.assign(one.element, { value: of });
                Object.assign(one.length, { value: length });
                Object.assign(one.holds, { value: holds });
                Object.assign(one.value, { value });
                one.shown.checked = i === shown;
            });
            update();
        }

        write(null);
        return { element, read, write };
    };
})();
