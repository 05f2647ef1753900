import t, { type Test } from 'tap';
import { SettingsFeed } from '../../../../src/features/settings-feed.ts';
import { createLog } from '../../../../src/observability/log.ts';
import type { Hint, Hints } from '../../../../src/store/instances.ts';

/** A feed over a store. The test sets the store's latest change and the hints that the feed hears. */
function stage(t: Test, { isShared = true } = {}) {
  let latest = 3;
  let failing = false;
  const sent: Hint[] = [];
  let tell: (heard: Hint | 'missed') => void = () => {};
  const hints: Hints = {
    send: (hint) => void sent.push(hint),
    listen: (listener) => {
      tell = listener;
      return () => {
        tell = () => {};
      };
    },
  };
  const lines: string[] = [];
  const store = {
    read: {
      latestChange: async () => {
        if (failing) throw new Error('the database is away');
        return latest;
      },
    },
    hints,
    instances: isShared ? {} : null,
  } as unknown as ConstructorParameters<typeof SettingsFeed>[0]['store'];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const feed = new SettingsFeed({ store, log, everyMs: 1 });
  t.teardown(() => feed.close());
  const read = { network: 0, notification: 0 };
  const follow = async () => {
    for (const kind of ['network', 'notification'] as const) {
      await feed.follow(kind, async () => {
        read[kind] += 1;
      });
    }
  };
  return {
    feed,
    follow,
    read,
    sent,
    lines,
    tell: (heard: Hint | 'missed') => tell(heard),
    change: () => {
      latest += 1;
    },
    fail: (fails: boolean) => {
      failing = fails;
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

t.test(
  'settings are read at once, and anew after a change of this instance, which the others are told of',
  async (t) => {
    const { feed, follow, read, sent } = stage(t, { isShared: false });
    await follow();
    t.strictSame(read, { network: 1, notification: 1 });
    await feed.start();
    await feed.changed('network');
    t.strictSame(read, { network: 2, notification: 1 });
    t.strictSame(sent, [{ topic: 'settings', id: 'network' }]);
    await feed.changed('relayer');
    t.strictSame(read, { network: 2, notification: 1 }, 'of which nothing is held in memory');
  },
);

t.test('what another instance has changed is read when it says so, or without a word', async (t) => {
  const { feed, follow, read, tell, change } = stage(t);
  await follow();
  await feed.start();
  t.equal(read.network, 2, 'what changed before it heard the others');
  change();
  tell({ topic: 'settings', id: 'network' });
  await until(() => read.network === 3);
  change();
  await until(() => read.network === 4);
  tell({ topic: 'lane', id: 'x' });
  tell('missed');
  await feed.close();
  await feed.close();
  t.equal(read.network, 4, 'without a change nothing is read');
  change();
  tell('missed');
  t.equal(read.network, 4);
});

t.test('a look that fails is followed by the next', async (t) => {
  const { feed, follow, read, lines, change, fail } = stage(t);
  await follow();
  await feed.start();
  fail(true);
  change();
  await until(() => lines.length > 0);
  t.match(lines[0], /changed settings could not be read/);
  fail(false);
  await until(() => read.network === 3);
});
