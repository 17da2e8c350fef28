// The same bytes as a row-major matrix, and as cuBLAS reads them: column after column.
(function (root) {
    "use strict";

    // Place in memory of an element, from 0.
    const rowMajor = (row, column, distance) => row * distance + column;
    const columnMajor = (row, column, distance) => column * distance + row;

    root.TileModels = Object.assign(root.TileModels || {}, { rowMajor, columnMajor });

    const Parts = root.TileParts;
    if (!Parts) return;
    const { WIDTH, svg, picture, rect, text } = Parts;
    const CELL = 30;

    function show(state) {
        const { rows, columns, at, distance } = state;
        const [row, column] = [Math.floor(at / columns), at % columns];
        const right = distance === columns;
        const [seenRow, seenColumn] = [at % distance, Math.floor(at / distance)];
        const refused = distance < columns;
        const place = seenRow < columns && seenColumn < rows ? `row ${seenRow}, column ${seenColumn}` : "no element";
        const sentence = `Number ${at + 1} in memory is row ${row}, column ${column} of the ${rows} × ${columns} matrix by rows. `
            + (refused ? `cuBLAS refuses a leading dimension of ${distance}: columns have ${columns} elements.`
                : `Read by columns, a leading dimension of ${distance} makes it ${place}: `
                    + (right ? "the transpose." : `rows of ours have ${columns} elements, and what is read is no transpose.`));
        return { sentence, good: right, image: draw(state, sentence) };
    }

    function draw({ rows, columns, at, distance }, label) {
        const count = rows * columns;
        const image = picture(70 + CELL * Math.max(rows, columns) + 8, label);
        const cell = (x, y, number, wide) => {
            const known = number < count;
            const mine = number === at;
            const box = rect(mine ? "asked" : known ? Math.floor(number / columns) % 2 ? "b2" : "a2" : "faint", x + 0.75, y + 0.75, wide - 1.5, (wide === CELL ? CELL : 24) - 1.5);
            if (known) box.dataset.pick = `at=${number}`;
            const words = text(mine ? "on" : known ? "" : "dim", x + wide / 2, y + (wide === CELL ? 20 : 17), known ? `${number + 1}` : "?", "middle");
            words.setAttribute("pointer-events", "none");
            image.append(box, words);
        };
        const strip = Math.min(CELL, WIDTH / count);
        for (let number = 0; number < count; number += 1) cell(number * strip, 0, number, Math.min(strip, CELL - 0.01));
        image.append(text("dim", 0, 52, `by rows: ${rows} × ${columns}`), text("dim", WIDTH / 2, 52, `by columns: ${columns} × ${rows}`));
        for (let row = 0; row < rows; row += 1) {
            for (let column = 0; column < columns; column += 1) {
                cell(column * CELL, 62 + row * CELL, rowMajor(row, column, columns), CELL);
                cell(WIDTH / 2 + row * CELL, 62 + column * CELL, columnMajor(column, row, distance), CELL);
            }
        }
        image.append(svg("path", { class: "grid", d: `M${WIDTH / 2 - 14} 44V${62 + CELL * Math.max(rows, columns)}` }));
        return image;
    }

    Parts.model("layout", {
        title: "The same bytes, by rows and by columns",
        ask: "What does cuBLAS read if the leading dimension is our number of rows?",
        controls: [
            { name: "rows", label: "our rows", range: [1, 5] },
            { name: "columns", label: "our columns", range: [1, 5] },
            { name: "distance", label: "leading dimension", range: [1, 8] },
            { name: "at", label: "number in memory", range: (state) => [0, state.rows * state.columns - 1], shown: (state) => state.at + 1 },
        ],
        start: { rows: 2, columns: 3, distance: 3, at: 3 },
        presets: [
            ["2 × 3", { rows: 2, columns: 3, distance: 3, at: 3 }],
            ["a wrong distance", { rows: 5, columns: 3, distance: 5, at: 5 }],
            ["4 × 5", { rows: 4, columns: 5, distance: 5, at: 7 }],
        ],
        note: "Above, memory; colours are our rows. The leading dimension says how far apart columns begin; ?: behind the matrix.",
        show,
    });
})(globalThis);
