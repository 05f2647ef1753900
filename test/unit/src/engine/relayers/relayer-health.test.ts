import t, { type Test } from 'tap';
import type { RelayerEndpoints } from '../../../../../src/chains/rpc-connections.ts';
import { BalanceWatch, LOW_BALANCE_FACTOR } from '../../../../../src/engine/relayers/balance-watch.ts';
import {
  EndpointContactWatch,
  type EndpointContactWatchDeps,
  RelayerHealth,
  type RelayerHealthDeps,
} from '../../../../../src/engine/relayers/relayer-health.ts';
import { Outbox } from '../../../../../src/engine/webhooks/outbox.ts';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import type { Hint } from '../../../../../src/store/instances.ts';
import { LeaseLost, type Leases } from '../../../../../src/store/lease.ts';
import { EngineWorld, fastTiming, LANE, relayerNamed } from '../../../../support/engine-world.ts';
import { FakeChain } from '../../../../support/fake-chain.ts';
import { FakeChainClient } from '../../../../support/fake-chain-client.ts';
import { FakeInstances } from '../../../../support/fake-instances.ts';
import { InstanceLeases } from '../../../../support/instance-leases.ts';

function healthOf(
  world: EngineWorld,
  timing: Partial<typeof fastTiming> = {},
  parts: Partial<RelayerHealthDeps> = {},
): RelayerHealth {
  return new RelayerHealth({
    store: world.store,
    leases: world.leases(),
    elapsed: () => performance.now(),
    random: () => 0,
    chains: new Map([['evm', world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
    log: world.log,
    metrics: world.metrics,
    outbox: world.outbox,
    timing: { ...fastTiming, ...timing },
    ...parts,
  });
}

async function relayer(world: EngineWorld): Promise<Relayer | undefined> {
  return world.store.read.relayer('r1');
}

/** Runs the checks of one start, without repetition. */
async function checkOnce(world: EngineWorld): Promise<void> {
  const health = healthOf(world, { recheckMs: [600_000] });
  await health.start();
  await health.close();
}

t.test('a fit relayer stays enabled, and one that was disabled is enabled', async (t) => {
  const world = await EngineWorld.open(t);
  const disabledReason = { type: 'RpcValidationFailed', details: 'No endpoint answered', nextCheckAt: 1 } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await checkOnce(world);
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.of('relayer_checks', 'result'), ['passed']);
  t.match(world.logLines.join(''), /relayer enabled/);
});

t.test('an empty account disables, and whoever asks is told its figures', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  await checkOnce(world);
  t.match((await relayer(world))?.disabledReason, {
    type: 'BalanceCheckFailed',
    details: 'Insufficient balance: 0xaa has 0 wei, min_balance asks for 1',
  });
  t.match(world.logLines.join(''), /0xaa has 0 wei, min_balance asks for 1/);
});

t.test('endpoints that do not answer disable with every check that failed', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.fault = () => 'request-lost';
  await checkOnce(world);
  t.match((await relayer(world))?.disabledReason, {
    type: 'Multiple',
    details: [
      { type: 'RpcValidationFailed', details: /^RPC endpoint validation failed: .*identity timed out/ },
      { type: 'NonceSyncFailed', details: /^Nonce synchronization failed: .*timed out/ },
      { type: 'BalanceCheckFailed', details: /^Balance not known: .*timed out/ },
    ],
  });
});

t.test('the first contact pins the chain; endpoints that serve another one later disable', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { network: 'fresh' })));
  await checkOnce(world);
  t.equal(await world.store.read.chainIdentity('evm', 'fresh'), '31337');

  world.client.identityText = '1';
  await checkOnce(world);
  t.match((await relayer(world))?.disabledReason, { type: 'RpcValidationFailed' });
  t.match(world.logLines.join(''), /serve chain 1, but network fresh was chain 31337/);
});

t.test('a disabled relayer is checked again and again, and enabled once it is fit', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const health = healthOf(world);
  t.teardown(() => health.close());
  await health.start();
  await world.until('several checks', async () => world.metrics.of('relayer_checks', 'result').length > 3);
  const nextCheckAt = (await relayer(world))?.disabledReason?.nextCheckAt ?? 0;
  await world.until('it says when it is looked at next', async () => {
    return ((await relayer(world))?.disabledReason?.nextCheckAt ?? 0) > nextCheckAt;
  });
  const shown = await world.services().relayers.get('r1');
  t.match(shown['disabled_reason'], { type: 'BalanceCheckFailed', next_check_at: /^20/ });
  await t.rejects(world.services().transactions.send('r1', { effect: 'pay' }), {
    code: 'RELAYER_DISABLED',
    message: /^Relayer disabled: Insufficient balance: 0xaa has 0 wei, min_balance asks for 1 \(checked again at 20/,
    disabledReason: { type: 'BalanceCheckFailed', nextCheckAt: Number },
  });
  world.chain.balance = 10n;
  await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
});

t.test('what clients changed meanwhile is kept', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const { client } = world;
  const balance = client.balance.bind(client);
  client.balance = async (address) => {
    await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
    return balance(address);
  };
  await checkOnce(world);
  t.match(await relayer(world), { paused: true, disabledReason: { type: 'BalanceCheckFailed' } });
});

t.test('a network or a family that is not known disables its relayer only', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('other', { networkType: 'solana' })));
  const health = new RelayerHealth({
    store: world.store,
    leases: world.leases(),
    elapsed: () => performance.now(),
    random: () => 0,
    chains: new Map([['evm', world.family]]),
    connections: {
      clientOf: () => {
        throw new Error('network fake is not known');
      },
      close: async () => {},
    },
    log: world.log,
    metrics: world.metrics,
    outbox: world.outbox,
    timing: { ...fastTiming, recheckMs: [600_000] },
  });
  await health.start();
  await health.close();
  for (const id of ['r1', 'other']) {
    t.match((await world.store.read.relayer(id))?.disabledReason, { type: 'RpcValidationFailed' });
  }
});

t.test('the start does not wait for ever for an endpoint, and an end may come at any time', async (t) => {
  const world = await EngineWorld.open(t);
  let answer: (balance: bigint) => void = () => {};
  world.client.balance = () => new Promise((resolve) => (answer = resolve));
  const health = healthOf(world, { firstCheckMs: 5 });
  await health.start();
  t.strictSame(world.metrics.of('relayer_checks', 'result'), []);
  const closing = health.close();
  answer(10n);
  await closing;
  await health.close();
  t.strictSame(world.metrics.of('relayer_checks', 'result'), ['passed']);
});

t.test('a store that fails is no verdict on the relayer', async (t) => {
  const world = await EngineWorld.open(t);
  let failures = 0;
  const writeUnder: typeof world.store.writeUnder = (lease, body) => {
    failures += 1;
    return failures === 1 ? Promise.reject(new Error('disk full')) : world.store.writeUnder(lease, body);
  };
  world.chain.balance = 0n;
  const health = healthOf(world, {}, { leases: world.leases({ ...world.store, writeUnder }) });
  t.teardown(() => health.close());
  await health.start();
  await world.until('the verdict is stored', async () => (await relayer(world))?.disabledReason !== null);
  t.match(await relayer(world), { disabledReason: { type: 'BalanceCheckFailed' } });
});

t.test(
  'a hundred unfit relayers leave room for other writes, and are repeated at a pace that all can share',
  async (t) => {
    const world = await EngineWorld.open(t);
    const ids = Array.from({ length: 99 }, (_, index) => `r${index + 2}`);
    await world.store.write(async (writer) => {
      for (const id of ids) await writer.putRelayer(relayerNamed(id));
    });
    let [waiting, most] = [0, 0];
    const writeUnder: typeof world.store.writeUnder = async (lease, body) => {
      most = Math.max(most, ++waiting);
      return await world.store.writeUnder(lease, body).finally(() => --waiting);
    };
    world.chain.balance = 0n;
    const store = { ...world.store, writeUnder, now: async () => 0 };
    const health = healthOf(world, { recheckMs: [1] }, { store, leases: world.leases(store) });
    t.teardown(() => health.close());
    await health.start();
    const pauses = async () =>
      (await world.store.read.allRelayers()).map(({ disabledReason }) => disabledReason?.nextCheckAt ?? 0);
    await world.until('all wait for the others', async () => (await pauses()).every((ms) => ms > 200 && ms <= 300));
    t.ok(most <= 8, `${most} findings waited to be stored at once`);
  },
);

/** The payloads of all events waiting for the relayer's notification, in order. */
async function told(world: EngineWorld): Promise<{ payload_type: string; retry_count?: number }[]> {
  const payloads = [];
  for (;;) {
    const [event] = await world.store.write((writer) => writer.claimEvents('hook-1', 1, 0));
    if (event === undefined) return payloads;
    await world.store.write((writer) => writer.settleEvent(event, { outcome: '', end: 'delivered' }));
    payloads.push(JSON.parse(event.body).payload);
  }
}

t.test('each way to disabled and back is told once, in order, however often it is checked', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { notificationId: 'hook-1' })));
  const health = healthOf(world);
  t.teardown(() => health.close());
  await health.start();
  t.strictSame(await told(world), [], 'fit from the start: nothing happened');
  world.chain.balance = 0n;
  health.recheck('r1');
  await world.until('several checks', async () => world.metrics.of('relayer_checks', 'result').length > 4);
  world.chain.balance = 10n;
  await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
  const payloads = await told(world);
  t.match(payloads, [
    {
      payload_type: 'relayer_disabled',
      disable_reason: /^Insufficient balance: 0xaa has 0 wei/,
      relayer: { system_disabled: true },
    },
    { payload_type: 'relayer_enabled', relayer: { system_disabled: false } },
  ]);
  t.equal(payloads.length, 2);
  t.ok((payloads[1]?.retry_count ?? 0) >= 1, 'it says how many checks had failed');
});

t.test('a check that was asked for comes at once, also into a long pause and during a check', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const health = healthOf(world, { recheckMs: [600_000] });
  t.teardown(() => health.close());
  await health.start();
  t.ok((await relayer(world))?.disabledReason);
  world.chain.balance = 10n;
  health.recheck('r1');
  await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);

  const { client } = world;
  const balance = client.balance.bind(client);
  let during = 0;
  client.balance = async (address) => {
    if (during++ === 0) health.recheck('r1');
    return balance(address);
  };
  health.recheck('r1');
  await world.until('it was checked twice', async () => during === 2);
  await health.close();
  health.recheck('r1');
  t.equal(during, 2, 'nothing after the end');
});

/** A world in which other instances hold all leases until `free` is called. */
async function standby(
  t: Test,
): Promise<{ world: EngineWorld; health: RelayerHealth; free: () => void; asked: () => number }> {
  const world = await EngineWorld.open(t);
  let isFree = false;
  let asked = 0;
  const { leases } = world.store;
  const theirs: Leases = {
    lastsMs: 60_000,
    acquire: async (name) => {
      asked += 1;
      return isFree ? leases.acquire(name) : { kind: 'elsewhere', forMs: 1 };
    },
    renew: (held) => leases.renew(held),
    release: (held) => leases.release(held),
  };
  const keeper = world.leases({ ...world.store, leases: theirs });
  const health = healthOf(world, { firstCheckMs: 5 }, { leases: keeper });
  t.teardown(async () => {
    await health.close();
    await keeper.close();
  });
  return { world, health, free: () => (isFree = true), asked: () => asked };
}

t.test('what another instance checks and finds fit is not checked here', async (t) => {
  const { world, health } = await standby(t);
  await health.start();
  await world.until('nothing is watched', async () => health.watched.length === 0);
  t.strictSame(world.metrics.of('relayer_checks', 'result'), []);
});

t.test('what another instance finds unfit is watched here as well, and checked when that one is gone', async (t) => {
  const { world, health, free, asked } = await standby(t);
  const disabledReason = { type: 'RpcValidationFailed', details: 'No endpoint answered', nextCheckAt: 1 } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await health.start();
  await world.until('it has asked several times', async () => asked() > 3);
  t.strictSame(health.watched, ['r1']);
  t.strictSame(world.metrics.of('relayer_checks', 'result'), []);
  health.recheckWatched('nobody');
  health.recheckWatched('r1');
  free();
  await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
  await world.until('nothing is watched', async () => health.watched.length === 0);
});

t.test('a check whose lease was lost says nothing of the relayer', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  let losses = 0;
  const writeUnder: typeof world.store.writeUnder = (lease, body) => {
    losses += 1;
    return losses === 1 ? Promise.reject(new LeaseLost(lease)) : world.store.writeUnder(lease, body);
  };
  const health = healthOf(world, {}, { leases: world.leases({ ...world.store, writeUnder }) });
  t.teardown(() => health.close());
  await health.start();
  await world.until('it is checked anew', async () => (await relayer(world))?.disabledReason !== null);
  t.equal(world.logLines.filter((line) => /relayer check failed/.test(line)).length, 0);
});

t.test('leases that cannot be asked for are asked for again', async (t) => {
  const world = await EngineWorld.open(t);
  let failures = 2;
  const { leases } = world.store;
  const acquire: Leases['acquire'] = (name) =>
    failures-- > 0 ? Promise.reject(new Error('the database is away')) : leases.acquire(name);
  const failing: Leases = { lastsMs: leases.lastsMs, acquire, renew: async () => [], release: async () => {} };
  const health = healthOf(world, {}, { leases: world.leases({ ...world.store, leases: failing }) });
  t.teardown(() => health.close());
  await health.start();
  t.strictSame(world.metrics.of('relayer_checks', 'result'), ['passed']);
  t.equal(world.logLines.filter((line) => /relayer check failed/.test(line)).length, 2);
});

t.test('a hiccup disables nobody who has worked', async (t) => {
  const world = await EngineWorld.open(t);
  let asked = 0;
  world.chain.fault = (call) => (call === 'identity' && ++asked === 1 ? 'request-lost' : undefined);
  await checkOnce(world);
  t.equal(asked, 2);
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.of('relayer_checks', 'result'), ['passed']);
  t.notMatch(world.logLines.join(''), /disabled/);
});

t.test('what never worked is looked at three times before it is disabled, and what is disabled once', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { network: 'fresh' })));
  let asked = 0;
  world.chain.fault = (call) => {
    asked += call === 'identity' ? 1 : 0;
    return 'request-lost';
  };
  await checkOnce(world);
  t.equal(asked, 3);
  t.match((await relayer(world))?.disabledReason, { type: 'Multiple' });
  asked = 0;
  await checkOnce(world);
  t.equal(asked, 1);
});

t.test('the second look is at the relayer as it is then, and comes early for a change', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const health = healthOf(world, { firstCheckMs: 5, confirmMs: 600_000 });
  t.teardown(() => health.close());
  await health.start();
  t.equal((await relayer(world))?.disabledReason, null, 'not certain yet');
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { policies: { min_balance: '0' } })));
  health.recheck('r1');
  await world.until('it is found fit', async () => world.metrics.of('relayer_checks', 'result').length > 0);
  t.strictSame(world.metrics.of('relayer_checks', 'result')[0], 'passed');
  t.equal((await relayer(world))?.disabledReason, null);
});

t.test('an end before the second look leaves no verdict', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const health = healthOf(world, { firstCheckMs: 5, confirmMs: 600_000 });
  await health.start();
  await health.close();
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.of('relayer_checks', 'result'), []);
});

t.test(
  'a relayer that becomes unfit while it runs is disabled, and enabled when it is fit: told once each',
  async (t) => {
    const world = await EngineWorld.open(t);
    await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { notificationId: 'hook-1' })));
    const health = healthOf(world, { healthMs: 10 });
    t.teardown(() => health.close());
    await health.start();
    await world.until('nothing is watched', async () => health.watched.length === 0);
    world.chain.balance = 0n;
    await world.until('it is disabled', async () => (await relayer(world))?.disabledReason !== null);
    t.match((await relayer(world))?.disabledReason, { type: 'BalanceCheckFailed' });
    t.strictSame(health.watched, ['r1']);
    world.chain.balance = 10n;
    await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
    await world.until('its lease is free', async () => health.watched.length === 0);
    t.strictSame(
      (await told(world)).map(({ payload_type: type }) => type),
      ['relayer_disabled', 'relayer_enabled'],
    );
  },
);

t.test('a disabled relayer that nobody watches any more is taken up', async (t) => {
  const world = await EngineWorld.open(t);
  const health = healthOf(world, { healthMs: 10 });
  t.teardown(() => health.close());
  await health.start();
  await world.until('nothing is watched', async () => health.watched.length === 0);
  const disabledReason = { type: 'RpcValidationFailed', details: 'No endpoint answered', nextCheckAt: 1 } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
  t.match(world.logLines.join(''), /relayer enabled/);
});

t.test(
  'a disabled relayer is told to other instances once, and the one that makes the rounds watches it',
  async (t) => {
    const world = await EngineWorld.open(t);
    const hints: Hint[] = [];
    const store = { ...world.store, hints: { ...world.store.hints, send: (hint: Hint) => void hints.push(hint) } };
    const health = healthOf(world, { healthMs: 600_000 }, { store });
    t.teardown(() => health.close());
    health.recheckWatched('r1');
    t.strictSame(health.watched, [], 'not before it makes rounds');
    await health.start();
    await world.until('nothing is watched', async () => health.watched.length === 0);
    t.strictSame(hints, []);
    world.chain.balance = 0n;
    await world.until('it makes rounds', async () => {
      health.recheckWatched('r1');
      return health.watched.length > 0;
    });
    await world.until('several checks', async () => world.metrics.of('relayer_checks', 'result').length > 3);
    t.strictSame(hints, [{ topic: 'relayer', id: 'r1' }], 'once, however often it is checked');
  },
);

t.test(
  'who does not reach a chain leaves the relayer and its lane to the others, until all have said so',
  async (t) => {
    const world = await EngineWorld.open(t);
    await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { notificationId: 'hook-1' })));
    const [leases, instances] = [new InstanceLeases(60_000), new FakeInstances()];
    const away: string[] = [];
    const start = async (chain: FakeChain) => {
      const store = { ...leases.storeFor(world.store), instances: instances.join() };
      const client = new FakeChainClient(chain);
      const keeper = world.leases(store);
      const parts = { leases: keeper, store, onGiveAway: (lane: string) => void away.push(lane) };
      const connections = { clientOf: () => client, close: async () => {} };
      const health = healthOf(world, { healthMs: 600_000 }, { ...parts, connections });
      t.teardown(async () => {
        await health.close();
        await keeper.close();
      });
      await health.start();
      return health;
    };
    const [near, far] = [new FakeChain(), new FakeChain()];
    const one = await start(near);
    far.fault = () => 'request-lost';
    const two = await start(far);
    await world.until('the lane is given away', async () => away.length > 0);
    t.strictSame(new Set(away), new Set([LANE]));
    t.equal(two.isAway(LANE), true);
    t.equal(one.isAway(LANE), false);
    t.match(two.unreached, [{ relayerId: 'r1', network: 'fake', isElsewhere: true }]);
    const checks = world.metrics.of('relayer_checks', 'result').length;
    await world.until(
      'it is checked again and again',
      async () => world.metrics.of('relayer_checks', 'result').length > checks + 5,
    );
    t.equal((await relayer(world))?.disabledReason, null);
    t.strictSame(await told(world), []);
    t.match(world.logLines.join(''), /chain not reached, left to other instances/);

    near.fault = () => 'request-lost';
    one.recheck('r1');
    await world.until('it is disabled', async () => (await relayer(world))?.disabledReason !== null);
    await world.until('both know that', async () => !one.isAway(LANE) && !two.isAway(LANE));
    far.fault = () => undefined;
    await world.until('it is enabled', async () => (await relayer(world))?.disabledReason === null);
    t.match(await told(world), [{ payload_type: 'relayer_disabled' }, { payload_type: 'relayer_enabled' }]);
    await world.until('the other one leaves it to that one', async () => one.isAway(LANE));
    far.balance = 0n;
    two.recheck('r1');
    await world.until('what a node says counts at once', async () => (await relayer(world))?.disabledReason !== null);
  },
);

t.test('contact watch', async (t) => {
  async function stage(t: Test, parts: Partial<EndpointContactWatchDeps> = {}) {
    const world = await EngineWorld.open(t);
    await world.store.write((writer) => writer.putRelayer(relayerNamed('r2', { network: 'other' })));
    const contact = { isLost: false, servedAt: 0 };
    const listeners = new Set<(concerns: (relayer: RelayerEndpoints) => boolean) => void>();
    const told: string[] = [];
    const watch = new EndpointContactWatch({
      store: world.store,
      contacts: {
        contactOf: () => contact,
        onContact(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      followMs: 5,
      onLost: (id) => told.push(`lost ${id}`),
      onBack: (id) => told.push(`back ${id}`),
      log: world.log,
      ...parts,
    });
    t.teardown(() => watch.close());
    const change = (isLost: boolean) => {
      contact.isLost = isLost;
      for (const listener of listeners) listener(({ network }) => network === 'fake');
    };
    return { world, watch, change, told, listeners };
  }

  t.test('a lost contact is told for the relayers of its network only, and so is its return', async (t) => {
    const { world, change, told } = await stage(t);
    change(true);
    await world.until('it is told', async () => told.length > 0);
    change(false);
    await world.until('it is told', async () => told.length > 1);
    t.strictSame(told, ['lost r1', 'back r1']);
  });

  t.test('a contact that comes and goes often is told only now and then', async (t) => {
    const { world, change, told } = await stage(t, { followMs: 30 });
    for (let count = 0; count < 9; count += 1) change(count % 2 === 0);
    await world.until('it is told', async () => told.length > 0);
    t.strictSame(told, ['lost r1']);
  });

  t.test('a store that cannot be read is told in the log; the end may come at any time, twice', async (t) => {
    const { world, watch, change, told, listeners } = await stage(t);
    const read = { ...world.store.read, allRelayers: () => Promise.reject(new Error('the database is away')) };
    const failing = await stage(t, { store: { read }, followMs: 0 });
    failing.change(true);
    await failing.world.until('it is told', async () =>
      /health could not be handled/.test(failing.world.logLines.join('')),
    );
    change(true);
    await watch.close();
    await watch.close();
    t.equal(listeners.size, 0);
    t.strictSame(told, []);
  });
});

t.test('balance watch', async (t) => {
  const LEAST = 100n;

  async function stage(t: Test) {
    const world = await EngineWorld.open(t);
    const relayer = relayerNamed('r1', { notificationId: 'hook-1' });
    await world.store.write((writer) => writer.putRelayer(relayer));
    let committed = 0;
    const outbox = new Outbox({
      chains: new Map([['evm', world.family]]),
      newId: () => crypto.randomUUID(),
      now: () => 0,
      onCommitted: () => void (committed += 1),
      log: world.log,
    });
    const watch = new BalanceWatch({ store: world.store, outbox, log: world.log });
    const see = async (balance: bigint, again = balance, by = watch) => {
      by.record({ relayer, balance, minBalance: LEAST, again: async () => again });
      await by.close();
    };
    const told = async () => {
      const events = await world.store.write((writer) => writer.claimEvents('hook-1', 100, 0));
      return events.map(({ event, body }) => ({ event, ...JSON.parse(body).payload }));
    };
    return { world, relayer, outbox, watch, see, told, committed: () => committed };
  }

  t.test('a balance that comes near the least is told once, and again only after it was well', async (t) => {
    const { see, told, committed, world } = await stage(t);
    await see(200n);
    t.strictSame(await told(), [], 'not yet');
    for (const balance of [199n, 150n, 99n, 0n, 219n]) await see(balance);
    t.match(await told(), [
      {
        event: 'relayer_balance_low',
        payload_type: 'relayer_balance_low',
        relayer: { id: 'r1' },
        balance: 199,
        threshold: 200,
        min_balance: 100,
      },
    ]);
    t.match(await world.store.read.relayerBalance('r1'), { balance: 219n, isLow: true }, 'a tenth above it is well');
    await see(220n);
    t.match(await world.store.read.relayerBalance('r1'), { balance: 220n, isLow: false });
    await see(50n);
    t.equal(committed(), 1, 'at less than the least the relayer is disabled, which is told by itself');
    t.match(await world.store.read.relayerBalance('r1'), { isLow: true });
    await see(300n);
    await see(100n);
    t.equal(committed(), 2);
    t.equal(LOW_BALANCE_FACTOR, 2n);
  });

  t.test('a low balance needs a quorum to raise the alarm, and a known one is not asked about again', async (t) => {
    const { see, told, world, watch, relayer } = await stage(t);
    await see(150n, 1_000n);
    t.strictSame(await told(), []);
    t.match(await world.store.read.relayerBalance('r1'), { balance: 1_000n, isLow: false });
    watch.record({ relayer, balance: 150n, minBalance: LEAST, again: () => Promise.reject(new Error('no quorum')) });
    await watch.close();
    t.match(await world.store.read.relayerBalance('r1'), { balance: 1_000n }, 'what is not certain is not noted');
    await see(150n);
    watch.record({ relayer, balance: 140n, minBalance: LEAST, again: () => Promise.reject(new Error('asked again')) });
    await watch.close();
    t.match(await world.store.read.relayerBalance('r1'), { balance: 140n, isLow: true });
  });

  t.test('many that see it at the same time tell it once; of a relayer that is gone nothing is told', async (t) => {
    const { relayer, outbox, see, told, world, committed } = await stage(t);
    const watches = [1, 2, 3].map(() => new BalanceWatch({ store: world.store, outbox, log: world.log }));
    await Promise.all(watches.map((watch) => see(120n, 120n, watch)));
    t.equal((await told()).length, 1);
    await world.store.write((writer) => writer.deleteRelayer(relayer.id));
    await see(1n);
    t.equal(committed(), 1);
    t.equal(await world.store.read.relayerBalance('r1'), undefined);
  });

  t.test('without a least there is no low', async (t) => {
    const { watch, relayer, committed, world } = await stage(t);
    watch.record({ relayer, balance: 0n, minBalance: 0n, again: async () => 0n });
    await watch.close();
    t.match(await world.store.read.relayerBalance('r1'), { balance: 0n, isLow: false });
    t.equal(committed(), 0);
  });
});
