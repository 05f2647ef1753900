import t, { type Test } from 'tap';
import { parked, retryLater } from '../../../../../../src/engine/lane/attempts/parking.ts';
import { EngineWorld, pendingTransaction, stepAt } from '../../../../../support/engine-world.ts';

const transaction = pendingTransaction('pay');

async function openAt(t: Test, now: number) {
  return stepAt(await (await EngineWorld.open(t)).step(), { now: () => now });
}

t.test('what waits says why and when it is looked at next, and each cause is told once', async (t) => {
  const step = await openAt(t, 1_000);
  const pause = { reason: 'above the cap', pauseMs: 5_000 };
  t.strictSame(parked(step, transaction, 'price', pause), {
    transaction,
    set: {
      statusReason: 'above the cap (checked again at 1970-01-01T00:00:06.000+00:00)',
      nextActionAt: 6_000,
    },
    decision: { kind: 'parked', text: 'above the cap' },
  });
  t.equal(parked(step, transaction, 'price', pause).decision, undefined);
  t.match(parked(step, transaction, 'balance', pause), { decision: { kind: 'parked' } });
  t.match(step.memory.offers.parked(), [{ relayerId: 'r1', cause: 'balance' }]);
});

t.test(
  'the more wait, the rarer each is looked at, and never so rarely that it seems set by another clock',
  async (t) => {
    for (const [crowd, pauseMs] of [
      [1_000, 10_000],
      [6_000, 30_000],
      [100_000, 50_000],
    ] as const) {
      const step = await openAt(t, 1_000);
      for (let index = 1; index < crowd; index += 1) step.memory.offers.failed(String(index));
      const { set } = parked(step, transaction, 'balance', { reason: 'no money', pauseMs: 10_000 });
      t.equal(set.nextActionAt, 1_000 + pauseMs);
    }
  },
);

t.test('a retry keeps the status and names the reason; its pause grows, up to what was asked for', async (t) => {
  const step = await openAt(t, 1_000);
  t.strictSame(retryLater(step, transaction, 'why'), {
    transaction,
    set: { statusReason: 'why', nextActionAt: 1_002 },
  });
  t.equal(retryLater(step, transaction, 'why').set.nextActionAt, 1_004);
  t.equal(retryLater(step, transaction, 'why', 3).set.nextActionAt, 1_003);
});
