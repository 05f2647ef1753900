import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { eventOf, storeFor, temporaryStore } from '../../../../support/store.ts';
import { deliveriesContract } from '../../../../support/store-contract/deliveries.ts';

deliveriesContract(t, storeFor);

t.test('no look is longer than its bound, whatever a notification has behind it', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    for (let index = 0; index < 2_500; index += 1) {
      const relayerId = index === 3 ? 'rare' : 'busy';
      await writer.insertEvent(eventOf({ id: String(index), subject: String(index), relayerId }));
    }
  });
  const parts = [];
  let before: number | null = null;
  do {
    const part: Awaited<ReturnType<typeof store.read.deliveries>> = await store.read.deliveries(
      'hook-1',
      { before, limit: 10 },
      { relayerIds: ['rare'] },
    );
    parts.push(part.items.map(({ id }) => id));
    before = part.next;
  } while (before !== null);
  t.strictSame(parts, [[], [], ['3']], 'each passes over a thousand');

  const database = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => database.close());
  for (const [rest, index] of [
    ['', 'outbox_of_notification (notification_id=? AND position<?)'],
    ["and ending = 'dead'", 'outbox_dead (notification_id=? AND position<?)'],
  ]) {
    const query = `select position from outbox where notification_id = 'x' and position < 9 ${rest} order by position desc`;
    const plan = database.prepare(`explain query plan ${query} limit 1 offset 999`).all();
    t.match(
      plan.map(({ detail }) => detail),
      [new RegExp(`USING.*INDEX ${String(index).replace(/[?()]/g, '\\$&')}`)],
      query,
    );
  }
});
