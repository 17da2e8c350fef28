(() => {
  // The pictures have the colours of the book's dark theme under this name.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = () => document.documentElement.classList.toggle('navy', dark.matches);
  dark.addEventListener('change', paint);
  paint();
  const slides = [...document.querySelectorAll('section')];
  const current = () => {
    const middle = innerHeight / 2;
    const at = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > middle);
    return at < 0 ? slides.length - 1 : at;
  };
  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      slides[Math.max(0, Math.min(slides.length - 1, current() + step))].scrollIntoView();
    } else if (event.key === 'Enter' && event.target === document.body) {
      const answer = slides[current()].querySelector('details');
      if (answer) answer.open = !answer.open;
    }
  });
})();
