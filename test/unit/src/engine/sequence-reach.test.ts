import t from 'tap';
import { hasGap, outOfReach, reached, signedBelow, WIDEST_GAP } from '../../../../src/engine/sequence-reach.ts';

const unpaid = () => 0n;
const held = (...sequences: bigint[]) => new Set(sequences);
const run = (from: bigint, count: number) => Array.from({ length: count }, (_, index) => from + BigInt(index));

t.test('what more than the widest gap is free below is out of reach, all gaps together', async (t) => {
  t.equal(outOfReach(0n, held(), unpaid), undefined);
  t.equal(outOfReach(0n, held(WIDEST_GAP), unpaid), undefined);
  t.equal(outOfReach(0n, held(WIDEST_GAP + 2n, WIDEST_GAP + 1n), unpaid), WIDEST_GAP + 1n);
  t.equal(outOfReach(5n, held(...run(5n, 1_000), 1_005n + WIDEST_GAP), unpaid), undefined, 'our own are no gap');
  t.equal(
    outOfReach(1n, held(0n, WIDEST_GAP, WIDEST_GAP + 5n), unpaid),
    WIDEST_GAP + 5n,
    'those that are mined do not count',
  );
});

t.test('how far was signed below a sequence', async (t) => {
  const signed = { held: held(3n, 7n, 900n), settled: 2n, mined: null, known: 901n };
  t.equal(signedBelow(signed, 900n), 8n);
  t.equal(signedBelow({ ...signed, settled: 8n }, 900n), 8n);
  t.equal(signedBelow(signed, 3n), 2n);
  t.equal(signedBelow({ ...signed, settled: null }, 3n), null);
});

t.test('what was filled below one counts as free below it', async (t) => {
  const paidFor = (sequence: bigint) => (sequence === 300n ? 100n : 0n);
  t.equal(outOfReach(150n, held(200n, 300n), paidFor), undefined);
  t.equal(outOfReach(100n, held(200n, 300n), paidFor), 300n);
});

t.test('there is a gap where a sequence below an open one is nobody’s', async (t) => {
  t.notOk(hasGap(5n, held()));
  t.notOk(hasGap(5n, held(4n, 5n, 6n)));
  t.ok(hasGap(5n, held(6n)));
  t.ok(hasGap(5n, held(5n, 7n)));
  t.notOk(hasGap(8n, held(5n, 7n)), 'what is used is no gap');
});

t.test('the account has come as far as was signed without a wide gap', async (t) => {
  const reach = (signed: { held: Set<bigint>; settled?: bigint; mined?: bigint; known?: bigint }) =>
    reached({ settled: null, mined: null, known: null, ...signed });
  t.equal(reach({ held: held() }), 0n);
  t.equal(reach({ held: held(), settled: 7n, known: 9n }), 9n);
  t.equal(reach({ held: held(...run(10n, 400)), settled: 10n, known: 410n }), 410n);
  t.equal(reach({ held: held(0n, 1n, 1_000_000n), known: 1_000_001n }), 2n);
  t.equal(reach({ held: held(5_000n), known: 5_001n }), 0n, 'nothing is proved of a first contact');
  t.equal(reach({ held: held(5_000n), settled: 4_999n, known: 5_001n }), 5_001n);
  t.equal(reach({ held: held(5_000n), mined: 5_001n, known: 5_001n }), 5_001n, 'what is in a block proves it');
  t.equal(reach({ held: held(5_000n, 5_001n), settled: 9n, mined: 5_001n, known: 5_002n }), 5_002n);
  t.equal(reach({ held: held(0n, 40n, 65n), settled: 0n, known: 66n }), 66n);
  t.equal(reach({ held: held(0n, 40n, 67n), settled: 0n, known: 68n }), 41n, 'narrow gaps are wide together');
});
