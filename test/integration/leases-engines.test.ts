/** Several engines with their own stores on one database: which of them drives a lane, and which are notified. */

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ChainClient } from '../../src/chains/chain-client.ts';
import { sequenceOf } from '../../src/features/transactions/records/anchor.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Leases } from '../../src/store/lease.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { EngineWorld, LANE, present, relayerNamed } from '../support/engine-world.ts';
import { FakeChain } from '../support/fake-chain.ts';
import { startPostgres } from '../support/postgres.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

const PATIENT = { leaseMs: 60_000, idleInTransactionMs: 5_000 };

/** One world per instance: an own store on the same database, and the same chain. */
async function worldsFor(t: Test, leases = [PATIENT, PATIENT]): Promise<[EngineWorld, EngineWorld, ...EngineWorld[]]> {
  const url = await postgres.createDatabase();
  const chain = new FakeChain();
  const worlds: EngineWorld[] = [];
  for (const pace of leases) {
    const store = await openPostgresStore({ url, log: createLog('silent'), ...pace });
    t.teardown(() => store.close());
    worlds.push(new EngineWorld(store, chain));
  }
  const [first, second, ...others] = worlds;
  await first?.store.write((writer) => writer.putRelayer(relayerNamed('r1')));
  return [present(first), present(second), ...others];
}

/** Without the sweeper, so that everything happens because of hints. */
const NO_SWEEP = { sweepMs: 600_000, idleMs: 600_000 };

t.test('what one accepts the other drives at once, and a wait on either hears of it', async (t) => {
  const [one, two] = await worldsFor(t);
  await one.store.write((writer) => writer.pinChainIdentity('evm', 'fake', '31337'));
  const owner = one.engine({ timing: NO_SWEEP });
  await owner.start();
  t.teardown(() => owner.close());
  const first = await one.accept('first');
  owner.wake(LANE);
  await one.untilStatus(first, 'confirmed', { mining: true });

  const other = two.engine({ timing: NO_SWEEP });
  await other.start();
  t.teardown(() => other.close());
  const services = two.services(other);
  const sent = await services.transactions.send('r1', { effect: 'second' });
  const id = String(sent['id']);
  const asked = performance.now();
  const waiting = services.transactions.wait(
    'r1',
    id,
    { intervalMs: 600_000, timeoutMs: 600_000 },
    new AbortController().signal,
  );
  await one.untilStatus({ ...first, id }, 'confirmed', { mining: true });
  t.match(await waiting, { status: /mined|confirmed/ });
  t.ok(performance.now() - asked < 30_000, 'a hint ended the wait, not the interval');
  t.strictSame(two.metrics.of('transaction_transitions', 'from', 'to'), [], 'the other instance has driven nothing');
});

t.test('an instance that ends hands its lanes to the others', async (t) => {
  const [one, two] = await worldsFor(t);
  await one.store.write((writer) => writer.pinChainIdentity('evm', 'fake', '31337'));
  const owner = one.engine({ timing: NO_SWEEP });
  await owner.start();
  const first = await one.accept('first');
  owner.wake(LANE);
  await one.untilStatus(first, 'submitted');
  const heir = two.engine({ timing: NO_SWEEP });
  await heir.start();
  t.teardown(() => heir.close());
  const second = await two.accept('second');
  heir.wake(LANE);
  await two.untilStatus(second, 'submitted');
  t.strictSame(two.metrics.of('transaction_transitions', 'from', 'to'), [], 'as long as it lives it drives');
  await owner.close();
  for (const transaction of [first, second]) await two.untilStatus(transaction, 'confirmed', { mining: true });
  t.equal(two.chain.executed.length, 2);
});

t.test('an idle lane is given back, and whoever has work for it next takes it', async (t) => {
  const [one, two] = await worldsFor(t);
  await one.store.write((writer) => writer.pinChainIdentity('evm', 'fake', '31337'));
  const owner = one.engine({ timing: { idleMs: 50 } });
  await owner.start();
  t.teardown(() => owner.close());
  const first = await one.accept('first');
  owner.wake(LANE);
  await one.untilStatus(first, 'confirmed', { mining: true });
  await two.until('it is free', async () => (await two.store.leases.acquire(LANE)).kind === 'taken');
  t.match(await one.store.leases.acquire(LANE), { kind: 'elsewhere' });
});

t.test('relayers are checked by one instance; the others see what it found, and take over', async (t) => {
  const [one, two] = await worldsFor(t);
  one.chain.balance = 0n;
  const pace = { firstCheckMs: 60_000, recheckMs: [20] };
  const first = one.engine({ timing: pace });
  await first.start();
  t.teardown(() => first.close());
  t.strictSame(one.metrics.of('relayer_checks', 'result').slice(0, 1), ['failed']);
  const second = two.engine({ timing: { ...pace, firstCheckMs: 20 } });
  await second.start();
  t.teardown(() => second.close());
  await one.until('it is checked again', async () => one.metrics.of('relayer_checks', 'result').length > 5);
  t.strictSame(two.metrics.of('relayer_checks', 'result'), [], 'the other does not check');

  await first.close();
  await two.until('the other takes over', async () => two.metrics.of('relayer_checks', 'result').length > 0, {
    withinMs: 30_000,
  });
  two.chain.balance = 10n ** 18n;
  await two.until('it is enabled', async () => (await two.store.read.relayer('r1'))?.disabledReason === null);
});

t.test('two that start together on a fit relayer are both ready when one has checked it', async (t) => {
  const [one, two] = await worldsFor(t);
  const engines = [one, two].map((world) => world.engine({ timing: { firstCheckMs: 60_000 } }));
  t.teardown(() => Promise.all(engines.map((engine) => engine.close())));
  await Promise.all(engines.map((engine) => engine.start()));
  t.equal(await two.store.read.chainIdentity('evm', 'fake'), '31337');
  t.ok(one.metrics.of('relayer_checks', 'result').length + two.metrics.of('relayer_checks', 'result').length >= 1);
});

t.test('a change of a relayer on one instance is checked by the one that watches it', async (t) => {
  const [one, two] = await worldsFor(t);
  one.chain.balance = 0n;
  const pace = { firstCheckMs: 100, recheckMs: [600_000] };
  const [first, second] = [one.engine({ timing: pace }), two.engine({ timing: pace })];
  t.teardown(() => Promise.all([first.close(), second.close()]));
  await first.start();
  await second.start();
  const before = one.metrics.of('relayer_checks', 'result').length;
  one.chain.balance = 10n ** 18n;
  second.recheck('r1');
  await two.until('it is enabled', async () => (await two.store.read.relayer('r1'))?.disabledReason === null);
  // A check is counted after its result is stored.
  await one.until('its check is counted', async () => one.metrics.of('relayer_checks', 'result').length > before);
  t.strictSame(two.metrics.of('relayer_checks', 'result'), [], 'the other does not check');
});

t.test('leases that are lost all the time cost time, and no effect happens twice', async (t) => {
  const hasty = { leaseMs: 200, idleInTransactionMs: 150 };
  // The first world has no engine. A busy machine must not end the leases of the test's own writes.
  const [one, ...worlds] = await worldsFor(t, [PATIENT, hasty, hasty, hasty]);
  await one.store.write((writer) => writer.pinChainIdentity('evm', 'fake', '31337'));
  const slow = (client: ChainClient): ChainClient =>
    new Proxy(client, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          await delay((randomBytes(1)[0] ?? 0) / 8);
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  // Half of the renewals only seem to succeed. The instance then works under a lease that belongs to another instance.
  const deceived = ({ store }: EngineWorld): Store => {
    const { leases } = store;
    const renew: Leases['renew'] = async (held) => ((randomBytes(1)[0] ?? 0) < 128 ? [...held] : leases.renew(held));
    return {
      ...store,
      leases: {
        lastsMs: leases.lastsMs,
        acquire: (name) => leases.acquire(name),
        release: (held) => leases.release(held),
        renew,
      },
    };
  };
  const timing = { batch: 4, inFlight: 8, driftMs: 60_000 };
  const engines = worlds.map((world) => world.engine({ store: deceived(world), client: slow(world.client), timing }));
  t.teardown(() => Promise.all(engines.map((engine) => engine.close())));
  await Promise.all(engines.map((engine) => engine.start()));
  const accepted = [];
  for (let index = 0; index < 40; index += 1) {
    accepted.push(await one.accept(`pay ${index}`));
    present(engines[index % 3]).wake(LANE);
  }
  const isConfirmed = async () =>
    (await one.store.read.transactions('r1', { page: 1, perPage: 1 }, 'confirmed')).total === accepted.length;
  await one.until('all are confirmed', isConfirmed, { mining: true, withinMs: 40_000 });
  t.strictSame(
    one.chain.executed.map(({ transaction }) => transaction.effect).sort(),
    accepted.map((_, index) => `pay ${index}`).sort(),
  );
  const attempts = (await Promise.all(accepted.map(({ id }) => one.store.read.attempts(id)))).flat();
  t.equal(attempts.length, 40, 'each was signed once');
  t.equal(new Set(attempts.map(({ anchor }) => sequenceOf(anchor))).size, 40);
  const lost = worlds.flatMap(({ logLines }) =>
    logLines.filter((line) => /another instance drives|lease lost/.test(line)),
  );
  t.ok(lost.length > 0, `${lost.length} times a lease was lost on the way`);
});
