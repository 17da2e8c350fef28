let R;
const cost = (a, bytes, load) => {
  const s = R.shared(a, bytes, load);
  return [R.sectors(a, bytes).length, R.lanesTogether(a, bytes, load), s.wavefronts.length, s.ideal];
};
const raced = (race) => {
  const order = R.raceOrder(race);
  return [order, R.raceProduct(R.raceReplay(order))];
};
const stepped = (trace) => {
  const sum = (steps) => steps.flatMap((step) => step.addresses || [])
    .reduce((sum, address, i) => sum + (i % 32 + 1) * (address || 0) / 4, 0);
  const warps = R.unpackSteps(trace);
  return [warps.map((steps) => [...Object.values(R.countSteps(steps)), sum(steps)]), R.unpackOrder(trace)];
};
const parts = [];
let verdict = "", n = 0;
const check = (text, got, want) => {
  n += 1;
  if (verdict === "" && JSON.stringify(got) !== want) {
    verdict = `disagreed: ${text} gives ${JSON.stringify(got)}, want ${want}`;
  }
};
// The verdict on one text of the rules: `agreed 4000`, or the first disagreement.
const judge = (rules) => {
  (0, eval)(rules);
  R = globalThis.TileRules;
  [verdict, n] = ["", 0];
  for (const part of parts) if (verdict === "") part();
  return verdict || `agreed ${n}`;
};
