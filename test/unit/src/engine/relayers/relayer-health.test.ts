import t, { type Test } from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import type { Relayer } from '../../../../../src/domain/relayer/relayer.ts';
import { RelayerHealth, type RelayerHealthDeps } from '../../../../../src/engine/relayers/relayer-health.ts';
import type { Hint } from '../../../../../src/store/hints.ts';
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
  t.strictSame(world.metrics.checks, [true]);
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
  await world.until('several checks', async () => world.metrics.checks.length > 3);
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

t.test('what a family cannot do yet disables none of its relayers', async (t) => {
  const world = await EngineWorld.open(t);
  const notYet = async () => {
    throw new AppError('NOT_AVAILABLE_YET', { what: 'The balance', networkType: 'solana' });
  };
  Object.assign(world.client, { identity: notYet, nextSequence: notYet, balance: notYet });
  await checkOnce(world);
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.checks, [true]);
});

t.test('the start does not wait for ever for an endpoint, and an end may come at any time', async (t) => {
  const world = await EngineWorld.open(t);
  let answer: (balance: bigint) => void = () => {};
  world.client.balance = () => new Promise((resolve) => (answer = resolve));
  const health = healthOf(world, { firstCheckMs: 5 });
  await health.start();
  t.strictSame(world.metrics.checks, []);
  const closing = health.close();
  answer(10n);
  await closing;
  await health.close();
  t.strictSame(world.metrics.checks, [true]);
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
  await world.until('several checks', async () => world.metrics.checks.length > 4);
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
  t.strictSame(world.metrics.checks, []);
});

t.test('what another instance finds unfit is watched here as well, and checked when that one is gone', async (t) => {
  const { world, health, free, asked } = await standby(t);
  const disabledReason = { type: 'RpcValidationFailed', details: 'No endpoint answered', nextCheckAt: 1 } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await health.start();
  await world.until('it has asked several times', async () => asked() > 3);
  t.strictSame(health.watched, ['r1']);
  t.strictSame(world.metrics.checks, []);
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
  t.strictSame(world.metrics.checks, [true]);
  t.equal(world.logLines.filter((line) => /relayer check failed/.test(line)).length, 2);
});

t.test('a hiccup disables nobody who has worked', async (t) => {
  const world = await EngineWorld.open(t);
  let asked = 0;
  world.chain.fault = (call) => (call === 'identity' && ++asked === 1 ? 'request-lost' : undefined);
  await checkOnce(world);
  t.equal(asked, 2);
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.checks, [true]);
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
  await world.until('it is found fit', async () => world.metrics.checks.length > 0);
  t.strictSame(world.metrics.checks[0], true);
  t.equal((await relayer(world))?.disabledReason, null);
});

t.test('an end before the second look leaves no verdict', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 0n;
  const health = healthOf(world, { firstCheckMs: 5, confirmMs: 600_000 });
  await health.start();
  await health.close();
  t.equal((await relayer(world))?.disabledReason, null);
  t.strictSame(world.metrics.checks, []);
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
    await world.until('several checks', async () => world.metrics.checks.length > 3);
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
    const checks = world.metrics.checks.length;
    await world.until('it is checked again and again', async () => world.metrics.checks.length > checks + 5);
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
