// Pictures of what a run found: the elements of C that are wrong, a buffer of the playground, the two accesses of a race.
// `kernels.js` loads this script with the sources.
(function () {
    "use strict";

    /// Rows of a table of values, and values of a row.
    const [ROWS, COLUMNS] = [8, 8];

    const colour = (name, other) => getComputedStyle(document.querySelector("main")).getPropertyValue(name).trim() || other;

    /// Returns a picture of elements, row by row. `shade` returns for an element how much it is inked, and with what; null
    /// for nothing.
    function grid(make, [rows, columns], n, label, caption, shade) {
        const scale = Math.max(1, Math.floor(200 / Math.max(rows, columns)));
        const canvas = make("canvas", { width: columns * scale, height: rows * scale, role: "img", "aria-label": label });
        const pen = canvas.getContext("2d");
        pen.fillStyle = colour("--tile-face", "#eee");
        pen.fillRect(0, 0, canvas.width, canvas.height);
        const inks = { value: colour("--tile-accent", "#1d4ed8"), bad: colour("--tile-bad", "#b91c1c") };
        for (let at = 0; at < n; at += 1) {
            const [alpha, ink] = shade(at);
            pen.globalAlpha = alpha;
            pen.fillStyle = inks[ink];
            if (alpha) pen.fillRect((at % columns) * scale, Math.floor(at / columns) * scale, scale, scale);
        }
        return make("figure", { class: "map" }, canvas, make("figcaption", {}, caption));
    }

    /// Draws which elements of C are wrong.
    function wrongElements(make, { rows, columns, wrong }) {
        const first = `C[${Math.floor(wrong[0] / columns)}][${wrong[0] % columns}]`;
        const set = new Set(wrong);
        return grid(make, [rows, columns], rows * columns,
            `Map of C, ${rows} rows and ${columns} columns: ${wrong.length} elements are wrong, the first is ${first}`,
            `C at ${rows} × ${columns}: ${wrong.length} wrong elements in red, the first is ${first}.`,
            (at) => [set.has(at) ? 1 : 0, "bad"]);
    }

    /// Draws the values of a buffer after a launch, and lists the first.
    function buffer(make, launch, values, name) {
        const width = launch.grid[0] * launch.block[0];
        const columns = width > 1 && width <= 256 && width < values.length ? width : Math.ceil(Math.sqrt(values.length));
        const rows = Math.ceil(values.length / columns);
        const numbers = values.map(Number);
        const finite = numbers.filter(Number.isFinite);
        const [least, most] = finite.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
        const range = finite.length ? `from ${least}, the lightest, to ${most}` : "no finite number";
        const shape = `${rows} rows of ${columns} values`;
        const special = finite.length < values.length ? "; what is no finite number is red" : "";
        const picture = grid(make, [rows, columns], values.length, `Map of ${name}, ${shape}, ${range}`, `${name}, ${shape}: ${range}${special}.`,
            (at) => (Number.isFinite(numbers[at]) ? [most > least ? (numbers[at] - least) / (most - least) : 0, "value"] : [1, "bad"]));
        const first = Array.from({ length: Math.min(ROWS, Math.ceil(values.length / COLUMNS)) }, (_, row) => make("tr", {},
            make("th", { scope: "row" }, `[${row * COLUMNS}]`), values.slice(row * COLUMNS, (row + 1) * COLUMNS).map((value) => make("td", {}, value))));
        return [picture, make("div", { class: "table-wrapper", tabindex: "0", role: "region", "aria-label": `First values of ${name}` },
            make("table", {}, make("caption", {}, `The first values of ${name}`), make("tbody", {}, first)))];
    }

    /// Draws the two accesses of a race in time, and lets the reader exchange them: nothing orders them. `lead` returns a
    /// control that leads to a line.
    function race(make, { element, address, accesses }, lead) {
        const SVG = (name, attributes, ...children) => {
            const out = document.createElementNS("http://www.w3.org/2000/svg", name);
            for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
            out.append(...children);
            return out;
        };
        const verbs = { read: ["reads", "read"], write: ["writes", "write"], atomic: ["updates", "update"] };
        const who = ({ block, thread }) => `block (${block.join(",")}), warp ${Math.floor(thread / 32)}, lane ${thread % 32}`;
        const line = (access) => (access.line ? `line ${access.line}` : "no line");
        let order = [0, 1];
        const list = make("ol", {});
        const picture = make("div", {});
        const said = make("p", { role: "status" });

        function draw() {
            const [first, then] = order.map((i) => accesses[i]);
            list.replaceChildren(...[first, then].map((access) => make("li", {}, `${who(access)} ${verbs[access.does][0]} in `,
                access.own ? lead(access.line) : line(access), access.own || !access.file ? "" : ` of ${access.file}`)));
            const label = `${who(first)} ${verbs[first.does][0]} ${element} first, then ${who(then)} ${verbs[then.does][0]} it`;
            const image = SVG("svg", { viewBox: "0 0 360 132", role: "img", "aria-label": label });
            image.append(SVG("rect", { class: "cell", x: 120, y: 100, width: 120, height: 28, rx: 3 }),
                SVG("text", { x: 180, y: 119, "text-anchor": "middle" }, element));
            accesses.forEach((access, row) => {
                const [y, at] = [10 + 44 * row, order.indexOf(row)];
                const [x, end] = [150 + 110 * at, 160 + 40 * at];
                const isRead = access.does === "read";
                image.append(SVG("text", { x: 0, y: y + 12 }, `warp ${Math.floor(access.thread / 32)}, lane ${access.thread % 32}`),
                    SVG("text", { class: "dim", x: 0, y: y + 27 }, `block (${access.block.join(",")})`),
                    SVG("path", { class: "time", d: `M120 ${y + 14}H356` }),
                    SVG("path", { class: isRead ? "read" : "write", d: `M${x} ${y + 28}L${end} 100` }),
                    SVG("rect", { class: isRead ? "read" : "write", x: x - 26, y, width: 92, height: 28, rx: 3 }),
                    SVG("text", { class: isRead ? "" : "on", x: x + 20, y: y + 19, "text-anchor": "middle" }, `${verbs[access.does][1]}, ${line(access).slice(0, 9)}`));
            });
            picture.replaceChildren(image);
            const outcome = first.does === "read" ? "the read finds the value from before the write"
                : then.does === "read" ? "the read finds what the write stored" : "the second write stays";
            said.textContent = `${order[0] ? "In the other order" : "In this run"} ${outcome}.`;
        }

        const swap = make("button", { type: "button", onclick: () => { order = [order[1], order[0]]; draw(); } }, "The other order");
        draw();
        return make("figure", { class: "race" },
            make("figcaption", {}, make("code", {}, element), ` at 0x${address.toString(16)}: nothing orders these two accesses.`),
            picture, list, said, swap);
    }

    window.TilePictures = { wrongElements, buffer, race };
})();
