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
  const sum = (steps) => steps.filter(({ addresses }) => addresses).reduce((sum, { addresses, size }) =>
    addresses.reduce((sum, address, lane) => sum + (lane + 1) * (address || 0) / size, sum), 0);
  const warps = R.unpackSteps(trace);
  return [warps.map((steps) => [...Object.values(R.countSteps(steps)), sum(steps)]), R.unpackOrder(trace)];
};
// Whether each lane has the elements in an MMA of 16 x 16 x 16 that it has in mma.sync, of which 16 columns of B take two.
const fragmentsOf = (trace) => R.unpackSteps(trace).flat().filter(({ kind }) => kind === "mma").map(({ fragments }) =>
  fragments.every((accesses, matrix) => {
    const cols = trace.arrays[accesses[0].array][2];
    const lanes = Array.from({ length: R.LANES }, (_, lane) => accesses.flatMap((access) => R.held(access)[lane]));
    const start = Math.min(...lanes.flat());
    return lanes.every((held, lane) => {
      const own = TileModels.fragment(16, 2, lane)[matrix].flat();
      const all = (matrix === 0 ? [0] : [0, 8]).flatMap((right) => own.map(([row, col]) => start + row * cols + col + right));
      return held.join() === all.join();
    });
  }));
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
