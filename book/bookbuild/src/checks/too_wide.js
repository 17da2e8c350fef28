((width) => {
    const whole = (e) => e.matches('html, body, main') || e.contains(document.querySelector('main'));
    const scrolls = (element) => {
        for (let e = element.parentElement; e && !whole(e); e = e.parentElement) {
            if (getComputedStyle(e).overflowX !== 'visible') return true;
        }
        return false;
    };
    const out = [...document.querySelectorAll('body *')].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > width + 1 && !whole(element) && !scrolls(element);
    });
    const name = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '')
        + (typeof e.className === 'string' && e.className ? '.' + [...e.classList].join('.') : '');
    const inner = out.filter((element) => !out.some((other) => other !== element && element.contains(other)));
    return inner.slice(0, 3).map((e) => name(e) + ' `' + e.textContent.trim().slice(0, 40) + '`');
})(WIDTH)
