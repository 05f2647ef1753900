import type { Test } from 'tap';
import { type DecisionKind, decisionKindSchema } from '../../../src/features/transactions/records/timeline-decision.ts';
import type { Store } from '../../../src/store/store.ts';

/** Tests of decisions about transactions for every store. */
export function decisionsContract(t: Test, open: (t: Test) => Promise<Store>): void {
  const decide = (store: Store, transactionId: string, kind: DecisionKind, text: string) =>
    store.write((writer) => writer.insertDecision(transactionId, { kind, text }));

  t.test('decisions of every kind come back in order, with their time', async (t) => {
    const store = await open(t);
    const before = await store.now();
    for (const kind of decisionKindSchema.options) await decide(store, 'a', kind, `why ${kind}`);
    await decide(store, 'b', 'parked', 'of another');
    const decisions = await store.read.decisions('a', 100);
    t.strictSame(
      decisions.map(({ kind, text }) => [kind, text]),
      decisionKindSchema.options.map((kind) => [kind, `why ${kind}`]),
    );
    const after = await store.now();
    t.ok(decisions.every(({ at }) => at >= before && at <= after));
    t.strictSame(await store.read.decisions('no such', 100), []);
  });

  t.test('of many the latest are told, the oldest of them first', async (t) => {
    const store = await open(t);
    for (let count = 1; count <= 5; count += 1) await decide(store, 'a', 'parked', String(count));
    const told = await store.read.decisions('a', 3);
    t.strictSame(
      told.map(({ text }) => text),
      ['3', '4', '5'],
    );
  });

  t.test('a text that a node made up is kept as far as it can be', async (t) => {
    const store = await open(t);
    await decide(store, 'a', 'refused', 'bad\0 \ud800');
    t.equal((await store.read.decisions('a', 1))[0]?.text, 'bad\ufffd \ufffd');
  });
}
