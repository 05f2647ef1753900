/**
 * Threat: the service, or the process of a plugin, is killed anywhere in an accepted call, and a payment is made twice,
 * or never, or the call is answered otherwise than it would have been. The smallest runs of `npm run soak -- durable`.
 */
import t from 'tap';
import { soakDurable } from '../load/soak/durable/durable.ts';
import { describeLines } from '../load/soak/report.ts';

const small = { seed: 4, patienceMs: 400_000, say: (text: string) => t.comment(text) };

t.test('something dies at each entry into the guest', { timeout: 600_000 }, async (t) => {
  const run = { database: 'sqlite', instances: 1, calls: 2, kills: 'entry' } as const;
  const { lines, faults } = await soakDurable({ ...small, ...run });
  t.same(faults, [], describeLines(lines));
  t.match(Object.fromEntries(lines), { returned: 2, doubled: 0, replays: 2, 'events after a suspension': 1 });
});

t.test('something dies at any time, on three instances', { timeout: 600_000 }, async (t) => {
  const run = { database: 'postgres', instances: 3, calls: 12, kills: 'random' } as const;
  const { lines, faults } = await soakDurable({ ...small, ...run });
  t.same(faults, [], describeLines(lines));
  t.match(Object.fromEntries(lines), { returned: 12, doubled: 0, replays: 12 });
});
