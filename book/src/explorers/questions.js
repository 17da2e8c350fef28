// Answers in the page: <div class="question" data-question="v02.words" data-answer="2"> has a question and its folded
// answer. data-answer is a number, which data-within may loosen, or the letter of a choice: of the items of a list in
// the question, or of data-choices="yes|no". data-slips is what to say to expected wrong answers. Answers stay in this
// browser. Without this script the answers unfold.
(function () {
    "use strict";

    const Parts = window.TileParts;
    const Rules = window.TileRules;
    const Answers = window.TileAnswers;
    if (!Parts || !Rules || !Answers) return;
    const { html } = Parts;
    const letter = (i) => String.fromCharCode(97 + i);

    function build(place) {
        const { question: key, answer, within } = place.dataset;
        const slips = Object.entries(JSON.parse(place.dataset.slips || "{}"));
        const folded = place.querySelector(":scope > details");
        const items = place.dataset.choices ? [] : [...place.querySelectorAll(":scope > ul > li")];
        const choices = place.dataset.choices ? place.dataset.choices.split("|") : items.map((item) => item.textContent);
        const said = html("output", { class: "judged", "aria-live": "polite" });
        const inputs = choices.length === 0
            ? [html("input", { type: "text", inputmode: "decimal", autocomplete: "off", size: 8, "aria-label": "your answer, a number" })]
            : choices.map((_, i) => html("input", { type: "radio", name: `answer-${key}`, value: letter(i) }));
        const form = html("form", { class: "reply", novalidate: "" });
        if (choices.length === 0) form.append(...inputs);
        // The items of a list become the labels of its choices.
        items.forEach((item, i) => {
            const label = html("label", {}, inputs[i], " ");
            label.append(...item.childNodes);
            item.append(label);
        });
        if (items.length > 0) inputs.forEach((input) => input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") form.requestSubmit();
        }));
        else if (choices.length > 0) form.append(html("span", { role: "radiogroup", "aria-label": "your answer" },
            ...inputs.map((input, i) => html("label", {}, input, " ", choices[i]))));
        form.append(html("button", { type: "submit", "aria-label": "check the answer" }, "Check"), said);

        const given = () => (choices.length === 0 ? inputs[0].value.trim() : (inputs.find((input) => input.checked) || { value: "" }).value);
        const same = (known, text) => (choices.length === 0 ? Rules.isRight(text, Number(known), Number(within || 0)) : text === known);

        function show(text) {
            const isRight = same(answer, text);
            const slip = slips.find(([slip]) => same(slip, text));
            place.dataset.state = isRight ? "right" : "wrong";
            const word = choices.length === 0 ? text : choices[text.charCodeAt(0) - 97].replace(/^\([a-z]\) /, "");
            said.textContent = isRight ? "✓ Right." : `✗ Not “${word}”. ${slip ? slip[1] : "Try again, or unfold the answer."}`;
            return isRight;
        }

        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const text = given();
            if (text === "") {
                said.textContent = choices.length === 0 ? "Write a number first." : "Choose first.";
            } else if (choices.length === 0 && Rules.parseAnswer(text) === null) {
                said.textContent = `“${text}” is not a number: write 8, 0.125 or 1/8.`;
            } else {
                const isRight = show(text);
                if (isRight && folded) folded.open = true;
                Answers.keep(key, text, isRight);
            }
        });

        const known = Answers.all().answers[key];
        if (known && (choices.length === 0 || choices[known.given.charCodeAt(0) - 97])) {
            if (choices.length === 0) inputs[0].value = known.given;
            else inputs[known.given.charCodeAt(0) - 97].checked = true;
            show(known.given);
        }
        place.insertBefore(form, folded);
        return key;
    }

    const start = () => {
        // The page of all chapters is for paper.
        if (Answers.page === "print.html") return;
        Answers.has([...document.querySelectorAll("[data-question]")].map(build));
    };
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
    else start();
})();
