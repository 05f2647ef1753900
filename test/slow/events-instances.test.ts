/**
 * The event stream of two instances: each also reports changes of the other one, and reports each change once, even if
 * the reader switches instances.
 */
import t from 'tap';
import { type ReadEvent, readEvents } from '../support/event-reader.ts';
import { instancesFor, TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';

const idOf = ({ data }: ReadEvent) => String(data['id']);

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('events of all instances, wherever one reads', async (t) => {
  const instances = await instancesFor(t, postgres);
  const [one, two] = [await instances.compose(), await instances.compose()];
  const { apiKey: key } = one;
  const reader = await readEvents(t, two.url, { key });
  await reader.next();
  const send = async () => String((await one.request('POST', TRANSACTIONS, TRANSFER)).body.data.id);
  const sent = [await send(), await send(), await send()];
  const seen = await reader.take('transaction', 4);
  reader.leave();
  // The stream continues on the other instance where this one stopped.
  const other = await readEvents(t, one.url, { key, lastId: seen.at(-1)?.id ?? '' });
  t.match(await other.next(), { event: 'reset' }, 'which does not know of the calls here');
  const ends = new Set(['mined', 'confirmed']);
  const hasEnded = (id: string) => seen.some((event) => idOf(event) === id && ends.has(String(event.data['status'])));
  while (!sent.every(hasEnded)) seen.push(...(await other.take('transaction', 1)));
  for (const id of sent) {
    const course = seen.filter((event) => idOf(event) === id).map(({ data }) => data['status']);
    t.strictSame(course.slice(0, 3), ['pending', 'sent', 'submitted'], id);
    t.equal(new Set(course).size, course.length, 'nothing is told twice');
  }
});

t.test('the streams of a key end with it on every instance, and those of another go on', async (t) => {
  const instances = await instancesFor(t, postgres);
  const both = await Promise.all([instances.compose(), instances.compose()]);
  const [one] = both;
  const make = async () => {
    const form = { name: 'guest', permissions: ['relayers:local-1:read'] };
    return (await one.request('POST', '/api/v1/api-keys', form)).body.data as { id: string; key: string };
  };
  const open = async ({ key }: { key: string }) =>
    await Promise.all(
      both.map(async ({ url }) => {
        // The other instance learns of a new key a moment later.
        for (;;) {
          const reader = await readEvents(t, url, { key });
          if (reader.response.status === 401) continue;
          t.match(await reader.next(), { event: 'open' });
          return reader;
        }
      }),
    );
  const [revoked, limited, staying] = [await make(), await make(), await make()];
  const ends = [...(await open(revoked)), ...(await open(limited))];
  const stays = await open(staying);
  t.equal((await one.request('DELETE', `/api/v1/api-keys/${revoked.id}`)).status, 200);
  const limit = () => {
    const soon = new Date(Date.now() + 1_000).toISOString();
    return one.request('PATCH', `/api/v1/api-keys/${limited.id}`, { expires_at: soon });
  };
  // On a slow machine, this time may be over before the server reads it. Then try again.
  while ((await limit()).status !== 200);
  for (const reader of ends) t.equal(await reader.next(), undefined);
  await one.request('POST', TRANSACTIONS, TRANSFER);
  for (const reader of stays) t.match(await reader.next(), { event: 'transaction' });
});
