/** Threat: a further run hears something else than the first, in another order, or before it should. */
import t from 'tap';
import type { Delivery } from '../../../../../../src/domain/idempotency.ts';
import { CallJournal } from '../../../../../../src/features/plugins/host/call-journal.ts';

const START = { seed: '0'.repeat(64), now: 100, version: 'v1', context: '{}' };
const asked = (request: number) => ({ request, method: 'kv.get', hash: `h${request}`, payload: { key: `${request}` } });
const heardOf = (request: number, at: number): Delivery => ({ ...asked(request), at, reply: { ok: true, value: at } });
const journalOf = (deliveries: Delivery[] = []) =>
  new CallJournal({ claim: { id: 'c', token: 1 }, start: START, deliveries, maxBytes: 10_000 });
const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('answers come in the order in which they were heard, whatever the order of requests', async (t) => {
  const journal = journalOf([heardOf(3, 101), heardOf(1, 102), heardOf(4, 103)]);
  const order: number[] = [];
  const meet = (request: number) =>
    journal.meet(asked(request), false).then((heard) => {
      order.push(request);
      return heard?.at;
    });
  const [one, two] = [meet(1), meet(2)];
  await turn();
  t.strictSame(order, [], 'the first answer is of a request that was not made yet');
  const three = meet(3);
  t.strictSame([await three, await one], [101, 102]);
  await turn();
  t.strictSame(order, [3, 1], 'what is new waits until all was heard');
  t.equal(journal.isLive, false);
  t.match(journal.missed(), { code: 'EFFECT_MISMATCH', message: /its call 4 is not made/ });
  t.strictSame([await meet(4), await two], [103, undefined]);
  t.strictSame(order, [3, 1, 4, 2]);
  t.equal(journal.isLive, true);
  t.equal(journal.missed(), undefined);
  await t.rejects(journalOf([heardOf(1, 1)]).meet({ ...asked(1), hash: 'other' }, false), { code: 'EFFECT_MISMATCH' });
});

t.test(
  'a request of which nobody heard is no way out of the order, and a run that is over hears nothing',
  async (t) => {
    const journal = journalOf([heardOf(1, 101), heardOf(2, 102)]);
    const twice = [journal.meet(asked(2), false), journal.meet(asked(2), false)] as const;
    void twice[0];
    await t.rejects(twice[1], { code: 'EFFECT_MISMATCH' }, 'one number, two requests');
    const late = journal.meet(asked(3), false);
    journal.end();
    await t.rejects(late, /is over/);
  },
);

t.test('time moves only ahead, and is told as it is kept', async (t) => {
  const journal = journalOf();
  t.equal(journal.askedAt(1), 100);
  t.equal(journal.hear(asked(1), { ok: true, value: 1 }, 200).at, 200);
  t.equal(journal.hear(asked(2), { ok: true, value: 1 }, 150).at, 200, 'a clock that was set back');
  t.strictSame(
    journal.heard.map(({ at }) => at),
    [200, 200],
  );
  const again = journal.again([]);
  t.equal((await again.meet(asked(1), false))?.at, 200);
  t.equal(again.askedAt(9), 200);
});

t.test('what was heard counts as stored once its commit is done', async (t) => {
  const journal = journalOf();
  journal.hear(asked(1), { ok: true, value: 1 }, 200);
  const { effect, stored } = journal.effect(asked(2));
  t.match(effect.journal, { position: 0, page: { start: START, deliveries: [{ request: 1 }] } });
  t.match(
    effect.journal,
    { position: 0, page: { deliveries: [{ request: 1 }] } },
    'also for a commit that is made again',
  );
  journal.hear(asked(3), { ok: true, value: 1 }, 201);
  stored();
  t.strictSame(journal.unstored()?.page.start, undefined);
  t.match(journal.unstored(), { position: 1, page: { deliveries: [{ request: 3 }] } });
  journal.noteStored(2);
  t.equal(journal.unstored(), undefined);
  t.match(journal.again([]).unstored(), undefined, 'nor is it stored again by a further run');
});
