// Which lane holds which element of mma.sync.m16n8kK, from the layout of the PTX manual.
(function (root) {
    "use strict";

    // The elements that a lane holds of A, B and D, register after register: [row, column] pairs. `packed` elements of A or
    // B share a register: 2 of bf16, 1 of TF32.
    function fragment(k, packed, lane) {
        const [group, within] = [lane >> 2, lane & 3];
        const each = (n, one) => Array.from({ length: n }, (_, i) => one(i));
        const columns = (register) => packed * (within + 4 * register);
        const a = each(k / packed / 2, (register) => each(packed, (i) => [group + 8 * (register % 2), columns(register >> 1) + i]));
        const b = each(k / packed / 4, (register) => each(packed, (i) => [columns(register) + i, group]));
        const d = each(4, (register) => [[group + 8 * (register >> 1), 2 * within + register % 2]]);
        return [a, b, d];
    }

    root.TileModels = Object.assign(root.TileModels || {}, { fragment });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const FORMS = { "bf16-16": [16, 2], "bf16-8": [8, 2], "tf32-8": [8, 1], "tf32-4": [4, 1] };
    const NAMES = ["A", "B", "D"];

    // Lane and register of each element of the three matrices.
    function holders(k, packed) {
        const of = [new Map(), new Map(), new Map()];
        for (let lane = 0; lane < 32; lane += 1) {
            fragment(k, packed, lane).forEach((registers, matrix) => registers.forEach((elements, register) =>
                elements.forEach(([row, column]) => of[matrix].set(`${row},${column}`, { lane, register }))));
        }
        return of;
    }

    function show(state) {
        const [k, packed] = FORMS[state.form];
        const held = fragment(k, packed, state.lane);
        const list = (registers) => registers.map((elements) => elements.map(([row, column]) => `(${row}, ${column})`).join(" and ")).join("; ");
        const sentence = `Lane ${state.lane} holds, register by register, of A: ${list(held[0])}; of B: ${list(held[1])}; of C and D: ${list(held[2])}.`;
        return { sentence, image: draw(k, packed, state.lane, sentence) };
    }

    function draw(k, packed, lane, label) {
        const [cell, high, gap] = [17, 12.6, 20];
        const left = (WIDTH - (k + 8) * cell - gap) / 2;
        const [right, below] = [left + k * cell + gap, 18 + k * high + gap];
        const image = picture(below + 16 * high + 4, label);
        const frames = [[left, below, 16, k], [right, 18, k, 8], [right, below, 16, 8]];
        const shades = ["a", "b", "c"];
        holders(k, packed).forEach((of, matrix) => {
            const [x0, y0, rows, columns] = frames[matrix];
            image.append(text(`ink-${shades[matrix]}`, x0, y0 - 5, matrix === 2 ? "C and D" : NAMES[matrix]));
            for (let row = 0; row < rows; row += 1) {
                for (let column = 0; column < columns; column += 1) {
                    const { lane: owner, register } = of.get(`${row},${column}`);
                    const mine = owner === lane;
                    const box = rect(mine ? shades[matrix] : owner >> 2 === lane >> 2 ? `${shades[matrix]}2` : "faint",
                        x0 + column * cell + 0.5, y0 + row * high + 0.5, cell - 1, high - 1);
                    box.dataset.pick = `lane=${owner}`;
                    box.append(svg("title", {}, `${NAMES[matrix]}[${row}][${column}]: lane ${owner}, register ${register}`));
                    image.append(box);
                    if (!mine) continue;
                    const words = text("on", x0 + (column + 0.5) * cell, y0 + row * high + 10.6, `${register}`, "middle");
                    words.setAttribute("pointer-events", "none");
                    words.setAttribute("font-size", 12);
                    image.append(words);
                }
            }
        });
        const note = svg("text", { class: "strong", x: left, y: 34 }, `lane ${lane}`);
        image.append(note, text("dim", left, 54, `group ${lane >> 2}`));
        return image;
    }

    Parts.model("fragment", {
        title: "Which lane holds which element?",
        ask: "By what rule is C[13][6] in lane 23?",
        controls: [
            { name: "form", label: "instruction", wide: true, choices: [["bf16-16", "m16n8k16, bf16"], ["bf16-8", "m16n8k8, bf16"],
                ["tf32-8", "m16n8k8, TF32"], ["tf32-4", "m16n8k4, TF32"]] },
            { name: "lane", label: "lane", wide: true, range: [0, 31] },
        ],
        start: { form: "bf16-16", lane: 9 },
        note: "Full colour: the lane's own elements, with the number of the register; pale: the three other lanes of its group. Point at "
            + "an element, or touch it, to see all that its lane holds. The layout is the PTX manual's, which the emulated GPU multiplies by.",
        show,
    });
})(globalThis);
