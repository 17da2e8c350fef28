(async (words) => {
    const results = document.getElementById('mdbook-searchresults');
    const bar = document.getElementById('mdbook-searchbar');
    if (document.getElementById('mdbook-search-wrapper').classList.contains('hidden')) {
        document.getElementById('mdbook-search-toggle').click();
    }
    results.replaceChildren();
    for (let i = 0; i < 100 && !results.querySelector('li a'); i++) {
        bar.value = words;
        bar.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
        await new Promise((done) => setTimeout(done, 50));
    }
    const first = results.querySelector('li a');
    return first ? `${first.getAttribute('href')} ${first.textContent}` : '';
})
