/**
 * A transaction gets a further attempt only if it conflicts with every attempt that may still land, or if all are dead.
 * Otherwise the relayer could pay twice. The engine enforces this, whatever an adapter asks for.
 */

import t from 'tap';
import { type Anchor, anchorsConflict } from '../../src/features/transactions/records/anchor.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../src/features/transactions/records/attempt.ts';
import { EngineWorld } from '../support/engine-world.ts';
import { blockhashWorlds } from '../support/model/blockhash-world.ts';
import { drawHistories, liveThrough } from '../support/model/histories.ts';
import { isFaultless } from '../support/model/judge.ts';
import { wrongAdapter } from '../support/model/wrong-adapter.ts';
import { fc, propertySeed, runsOf } from '../support/properties.ts';

const anchors: Anchor[] = [
  { kind: 'none' },
  { kind: 'text', text: 'a nonce' },
  { kind: 'text', text: 'another' },
  { kind: 'sequence', sequence: 7n },
  { kind: 'sequence', sequence: 8n },
];

const step = fc.oneof(
  fc.record({ kind: fc.constant('sign' as const), anchor: fc.constantFrom(...anchors) }),
  fc.record({ kind: fc.constant('dies' as const), which: fc.nat(5) }),
);

t.test('nothing is stored that could execute besides a living attempt', async (t) => {
  const world = await EngineWorld.open(t);
  const ledger = world.ledger();
  let refused = 0;
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const transaction = await world.accept('pay', { status: 'submitted' });
    const { id: transactionId, lane, request } = transaction;
    const stored: Attempt[] = [];
    for (const [index, one] of steps.entries()) {
      const victim = one.kind === 'dies' ? stored[one.which % Math.max(stored.length, 1)] : undefined;
      if (victim !== undefined) {
        victim.deadAt = index;
        await ledger.apply([{ transaction, set: {}, died: { ordinals: [victim.ordinal], at: index } }]);
      }
      if (one.kind !== 'sign') continue;
      const about = { transactionId, ordinal: stored.length + 1, lane, anchor: one.anchor, purpose: 'bump' } as const;
      const bytes = `${transactionId} ${index}`;
      const attempt = { ...about, request, fields: {}, raw: bytes, hash: bytes, createdAt: 0, ...UNACCEPTED_ATTEMPT };
      const mayBe = stored.every(({ deadAt, anchor }) => deadAt !== null || anchorsConflict(anchor, one.anchor));
      const isStored = await ledger.record([{ transaction, set: {}, attempt }]).catch(() => false);
      if (isStored !== mayBe) return false;
      if (isStored) stored.push({ ...attempt });
      else refused += 1;
    }
    return (await world.store.read.attempts(transactionId)).length === stored.length;
  });
  await fc.assert(property, { numRuns: runsOf(40), seed: propertySeed() });
  t.ok(refused > 0);
});

t.test('an adapter that replaces what it cannot doubles nothing', async (t) => {
  const { adapter, watched } = wrongAdapter();
  const histories = drawHistories(blockhashWorlds, runsOf(8), propertySeed());
  const lived = histories.map((history) => liveThrough(blockhashWorlds, history, { mutant: adapter }));
  const broken = (await Promise.all(lived)).filter(({ faults }) => !isFaultless(faults));
  t.strictSame(broken, []);
  t.strictSame(watched.stored, []);
  t.ok(watched.refused > 0, `${watched.refused} were asked for`);
});
