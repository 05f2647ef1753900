import t from 'tap';
import { outOfReach, reached, signedBelow, WIDEST_GAP } from '../../../../src/engine/sequence-reach.ts';

const held = (...sequences: bigint[]) => new Set(sequences);
const run = (from: bigint, count: number) => Array.from({ length: count }, (_, index) => from + BigInt(index));

t.test('what more than the widest gap is free below is out of reach, all gaps together', async (t) => {
  t.equal(outOfReach(0n, held()), undefined);
  t.equal(outOfReach(0n, held(WIDEST_GAP)), undefined);
  t.equal(outOfReach(0n, held(WIDEST_GAP + 2n, WIDEST_GAP + 1n)), WIDEST_GAP + 1n);
  t.equal(outOfReach(5n, held(...run(5n, 1_000), 1_005n + WIDEST_GAP)), undefined, 'our own are no gap');
  t.equal(outOfReach(1n, held(0n, WIDEST_GAP, WIDEST_GAP + 5n)), WIDEST_GAP + 5n, 'those that are mined do not count');
});

t.test('how far was signed below a sequence', async (t) => {
  const signed = { held: held(3n, 7n, 900n), settled: 2n, known: 901n };
  t.equal(signedBelow(signed, 900n), 8n);
  t.equal(signedBelow({ ...signed, settled: 8n }, 900n), 8n);
  t.equal(signedBelow(signed, 3n), 2n);
  t.equal(signedBelow({ ...signed, settled: null }, 3n), null);
});

t.test('the account has come as far as was signed without a wide gap', async (t) => {
  t.equal(reached({ held: held(), settled: null, known: null }), 0n);
  t.equal(reached({ held: held(), settled: 7n, known: 9n }), 9n);
  t.equal(reached({ held: held(...run(10n, 400)), settled: 10n, known: 410n }), 410n);
  t.equal(reached({ held: held(0n, 1n, 1_000_000n), settled: null, known: 1_000_001n }), 2n);
  t.equal(reached({ held: held(5_000n), settled: null, known: 5_001n }), 0n, 'nothing is proved of a first contact');
  t.equal(reached({ held: held(5_000n), settled: 4_999n, known: 5_001n }), 5_001n);
  const narrow = run(0n, 3).map((index) => index * 200n);
  t.equal(reached({ held: held(...narrow), settled: 0n, known: 401n }), 401n, 'gaps that are narrow each');
});
