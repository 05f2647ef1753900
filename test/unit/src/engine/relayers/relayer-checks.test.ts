import t, { type Test } from 'tap';
import { NO_ENDPOINT_CONTACTS } from '../../../../../src/chains/rpc-connections.ts';
import { AppError } from '../../../../../src/domain/errors.ts';
import { disabledReasonOf, RelayerChecks } from '../../../../../src/engine/relayers/relayer-checks.ts';
import { EngineWorld, fastTiming, relayerNamed } from '../../../../support/engine-world.ts';

const alone = { contacts: NO_ENDPOINT_CONTACTS, timing: fastTiming, elapsed: () => performance.now() };

async function stage(t: Test) {
  const world = await EngineWorld.open(t);
  const checks = new RelayerChecks({
    store: world.store,
    chains: new Map([['evm', world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
    log: world.log,
    ...alone,
  });
  return { world, checks, relayer: relayerNamed('r1') };
}

t.test('endpoints that hang are not waited for to the end, unless they answer somebody', async (t) => {
  const { world, relayer } = await stage(t);
  const { promise: answered, resolve: answer } = Promise.withResolvers<bigint>();
  world.client.balance = () => answered;
  const contact = { isLost: false, servedAt: 0 };
  let looks = 0;
  const deps = {
    store: world.store,
    chains: new Map([['evm' as const, world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
    log: world.log,
    timing: { checkMs: 5 },
    elapsed: () => performance.now(),
  };
  t.match(await new RelayerChecks({ ...deps, contacts: NO_ENDPOINT_CONTACTS }).all(relayer), { isSilence: true });
  const checks = new RelayerChecks({
    ...deps,
    contacts: {
      contactOf() {
        looks += 1;
        if (looks > 1) contact.servedAt = performance.now();
        return contact;
      },
      onContact: () => () => {},
    },
  });
  t.match(await checks.all(relayer), {
    failures: [{ type: 'RpcValidationFailed', cause: 'no endpoint has answered anything for 0.005 s' }],
    pinned: '31337',
    isSilence: true,
  });
  const before = looks;
  const findings = checks.all(relayer);
  await world.until('it waits on', async () => looks > before + 2);
  answer(10n);
  t.match(await findings, { failures: [], isSilence: undefined });
});

t.test(
  'so many relayers on the same endpoints are checked at once, and those that wait give up with them',
  async (t) => {
    const { world, checks } = await stage(t);
    const waiting: (() => void)[] = [];
    let asked = 0;
    world.client.balance = () => {
      asked += 1;
      return new Promise((resolve) => waiting.push(() => resolve(10n)));
    };
    const many = Array.from({ length: 100 }, (_, index) => relayerNamed(`many-${index}`));
    const served = { isLost: false, servedAt: performance.now() + 60_000 };
    const patient = new RelayerChecks({
      store: world.store,
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
      log: world.log,
      ...alone,
      contacts: { contactOf: () => served, onContact: () => () => {} },
    });
    const all = Promise.all(many.map((relayer) => patient.all(relayer)));
    await world.until('as many as may be', async () => waiting.length === 64);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(waiting.length, 64);
    for (let answered = 0; answered < 100; answered += 1) {
      await world.until('the next', async () => waiting.length > 0);
      waiting.shift()?.();
    }
    t.ok((await all).every(({ failures }) => failures.length === 0));

    asked = 0;
    const silent = await Promise.all(many.map((relayer) => checks.all(relayer)));
    t.ok(silent.every(({ isSilence }) => isSilence === true));
    for (const answer of waiting) answer();
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(asked, 64, 'nobody asks any more for those that gave up');
  },
);

t.test('all is well', async (t) => {
  const { checks, relayer } = await stage(t);
  t.strictSame(await checks.all(relayer), { failures: [], identity: '31337', pinned: '31337' });
  t.equal(await checks.seemWell(relayer, new Map()), true);
  const { pinned, identity } = await checks.all({ ...relayer, network: 'fresh' });
  t.strictSame({ pinned, identity }, { pinned: undefined, identity: '31337' });
});

t.test('every check that fails is told', async (t) => {
  const { world, checks, relayer } = await stage(t);
  world.chain.fault = () => 'request-lost';
  const { failures, identity } = await checks.all(relayer);
  t.strictSame(
    failures.map(({ type }) => type),
    ['RpcValidationFailed', 'NonceSyncFailed', 'BalanceCheckFailed'],
  );
  t.notOk(
    failures.some(({ isFact }) => isFact),
    'what nobody could read is no fact',
  );
  t.equal(identity, null);
  t.equal(await checks.seemWell(relayer, new Map()), false);
});

t.test('a development chain that was started anew is no other chain, and has all checked', async (t) => {
  const { world, checks, relayer } = await stage(t);
  world.client.identityText = '31337@ab';
  t.match((await checks.all(relayer)).failures, [{ type: 'RpcValidationFailed' }], 'on a chain that never starts anew');
  Object.assign(world.family, { restartable: (identity: string) => identity.split('@', 1)[0] });
  t.strictSame(await checks.all(relayer), { failures: [], identity: '31337@ab', pinned: '31337' });
  t.equal(await checks.seemWell(relayer, new Map()), false);
});

t.test('of another chain neither the counter nor the balance counts', async (t) => {
  const { world, checks, relayer } = await stage(t);
  world.client.identityText = '1';
  world.chain.balance = 0n;
  const { failures } = await checks.all(relayer);
  t.match(failures, [{ type: 'RpcValidationFailed', cause: /serve chain 1, but network fake was chain 31337 before/ }]);
  t.equal(failures.length, 1);
  t.equal(await checks.seemWell(relayer, new Map()), false);
});

t.test('endpoints that disagree while nobody knows the chain are one failure, with its cause', async (t) => {
  const { world, checks, relayer } = await stage(t);
  world.client.identity = async (_, onServed) => {
    for (const [host, chain] of [
      ['a', '1'],
      ['b', '2'],
    ] as const)
      onServed?.(host, chain);
    throw new AppError('PROVIDER_FAILED', { network: 'fake', reason: 'b serves chain 2, not 1' });
  };
  world.chain.balance = 0n;
  const { failures } = await checks.all({ ...relayer, network: 'fresh' });
  t.match(failures, [{ type: 'RpcValidationFailed', cause: /b serves chain 2, not 1/ }]);
  t.equal(failures.length, 1);
});

t.test('an endpoint of another chain beside right ones disables nothing and is warned of once', async (t) => {
  const { world, checks, relayer } = await stage(t);
  world.client.identity = async (_, onServed) => {
    onServed?.('good.example', '31337');
    onServed?.('stray.example', '5');
    return '31337';
  };
  for (let round = 0; round < 3; round += 1) {
    t.strictSame((await checks.all(relayer)).failures, []);
    t.equal(await checks.seemWell(relayer, new Map()), true);
  }
  const warnings = world.logLines.filter((line) => /endpoint of another chain/.test(line));
  t.equal(warnings.length, 1);
  t.match(warnings[0], /"endpoint":"stray\.example","serves":"5","expected":"31337"/);
});

t.test('what is remembered of stray endpoints is bounded', async (t) => {
  const { world, checks, relayer } = await stage(t);
  let hosts = 0;
  world.client.identity = async (_, onServed) => {
    for (let index = 0; index < 1_001; index += 1) onServed?.(`stray-${hosts++ % 1_001}.example`, '5');
    return '31337';
  };
  await checks.all(relayer);
  await checks.all(relayer);
  t.ok(world.logLines.filter((line) => /endpoint of another chain/.test(line)).length > 1_001);
});

t.test('policies that name what the chain does not have are a failure of their own', async (t) => {
  const { world, checks } = await stage(t);
  let faults = ['allowed_programs: X is not on this network', 'allowed_tokens: Y is no token'];
  Object.assign(world.client, { policyFaults: async () => faults });
  t.match((await checks.all(relayerNamed('r1'))).failures, [
    { type: 'PolicyCheckFailed', title: 'Policies do not fit the network', cause: faults.join('; '), isFact: true },
  ]);
  faults = [];
  t.strictSame((await checks.all(relayerNamed('r1'))).failures, []);
  Object.assign(world.client, { policyFaults: () => Promise.reject(new Error('no node answers')) });
  t.strictSame((await checks.all(relayerNamed('r1'))).failures, [], 'who does not answer says nothing of policies');
});

t.test('what the policies allow and the operator should know of is logged once', async (t) => {
  const { world, checks } = await stage(t);
  const policyFaults = async (_account: unknown, onRisk?: (risk: string) => void) => {
    onRisk?.('Z may burn everybody’s tokens');
    return [];
  };
  Object.assign(world.client, { policyFaults });
  for (const id of ['r1', 'r1', 'r2']) t.strictSame((await checks.all(relayerNamed(id))).failures, []);
  t.equal(world.logLines.filter((line) => /Z may burn everybody/.test(line)).length, 2);
});

t.test('a balance below the policy is a failure of its own', async (t) => {
  const { world, checks } = await stage(t);
  const relayer = relayerNamed('r1', { policies: { min_balance: '6' } });
  world.chain.balance = 5n;
  t.match((await checks.all(relayer)).failures, [
    { type: 'BalanceCheckFailed', cause: '0xaa has 5 wei, min_balance asks for 6', isFact: true },
  ]);
  t.equal(await checks.seemWell(relayer, new Map()), false);
  world.chain.balance = 6n;
  t.equal(await checks.seemWell(relayer, new Map()), true);
  world.chain.balance = 0n;
  world.family.minimumBalance = () => null as unknown as bigint;
  t.equal(await checks.seemWell(relayer, new Map()), true, 'nobody asks for any');
});

t.test('relayers on the same endpoints share one question about the chain, not its failure', async (t) => {
  const { world, checks, relayer } = await stage(t);
  let asked = 0;
  const identity = world.client.identity.bind(world.client);
  world.client.identity = (...question) => {
    asked += 1;
    return identity(...question);
  };
  const share = new Map();
  for (let index = 0; index < 4; index += 1) await checks.seemWell(relayer, share);
  t.equal(asked, 1);
  const failing = new Map();
  world.chain.fault = (call) => (call === 'identity' ? 'request-lost' : undefined);
  t.equal(await checks.seemWell(relayer, failing), false);
  world.chain.fault = () => undefined;
  t.equal(await checks.seemWell(relayer, failing), true);
});

t.test('a relayer whose network was never reached, is not known or has no family is not well', async (t) => {
  const { world, checks, relayer } = await stage(t);
  t.equal(await checks.seemWell({ ...relayer, network: 'fresh' }, new Map()), false);
  t.equal(await checks.seemWell({ ...relayer, networkType: 'solana' }, new Map()), false);
  const failing = new RelayerChecks({
    store: world.store,
    chains: new Map([['evm', world.family]]),
    connections: {
      clientOf: () => {
        throw new Error('network fake is not known');
      },
      close: async () => {},
    },
    log: world.log,
    ...alone,
  });
  t.equal(await failing.seemWell(relayer, new Map()), false);
  t.match((await failing.all(relayer)).failures, [{ type: 'RpcValidationFailed', cause: 'network fake is not known' }]);
});

t.test('what a family cannot do yet is no failure', async (t) => {
  const { world, checks, relayer } = await stage(t);
  const notYet = async () => {
    throw new AppError('NOT_AVAILABLE_YET', { what: 'The balance', networkType: 'solana' });
  };
  Object.assign(world.client, { identity: notYet, nextSequence: notYet, balance: notYet });
  t.strictSame((await checks.all(relayer)).failures, []);
  t.equal(await checks.seemWell({ ...relayer, network: 'fresh' }, new Map()), true);
});

t.test('a signer with another key is a fact, one that does not tell its key is none', async (t) => {
  const { world, relayer } = await stage(t);
  const checksWith = (keyFault: () => Promise<string | undefined>) =>
    new RelayerChecks({
      store: world.store,
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
      log: world.log,
      ...alone,
      timing: { checkMs: 50 },
      keyFault,
    });
  const { failures } = await checksWith(async () => 'signer k1 has the key of 0xbb').all(relayer);
  t.strictSame(failures, [
    {
      type: 'SignerCheckFailed',
      title: 'The signer has another key',
      cause: 'signer k1 has the key of 0xbb',
      isFact: true,
    },
  ]);
  for (const silent of [
    () => Promise.reject<undefined>(new Error('sealed')),
    () => new Promise<undefined>(() => {}),
    async () => undefined,
  ])
    t.strictSame((await checksWith(silent).all(relayer)).failures, []);
});

t.test('a store that cannot be read is no verdict', async (t) => {
  const { world, relayer } = await stage(t);
  const checks = new RelayerChecks({
    store: { read: { ...world.store.read, chainIdentity: () => Promise.reject(new Error('the database is away')) } },
    chains: new Map([['evm', world.family]]),
    connections: { clientOf: () => world.client, close: async () => {} },
    log: world.log,
    ...alone,
  });
  await t.rejects(checks.all(relayer), { message: 'the database is away' });
  await t.rejects(checks.seemWell(relayer, new Map()), { message: 'the database is away' });
});

t.test("clients are told the reference's words, what was seen, and when it is looked at next", (t) => {
  const rpc = { type: 'RpcValidationFailed', title: 'RPC endpoint validation failed', cause: 'connection refused' };
  const poor = {
    type: 'BalanceCheckFailed',
    title: 'Insufficient balance',
    cause: '0xaa has 5 wei, min_balance asks for 6',
  };
  const unread = { type: 'BalanceCheckFailed', title: 'Balance not known', cause: 'connection refused' };
  t.match(disabledReasonOf([rpc, { ...unread, cause: 'timed out' }], 7)?.details, [
    {},
    { details: 'Balance not known: timed out' },
  ]);
  t.equal(disabledReasonOf([], 7), null);
  t.strictSame(disabledReasonOf([poor], 7), {
    type: 'BalanceCheckFailed',
    details: 'Insufficient balance: 0xaa has 5 wei, min_balance asks for 6',
    nextCheckAt: 7,
  });
  t.strictSame(disabledReasonOf([rpc, unread], 7), {
    type: 'Multiple',
    details: [
      { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed: connection refused' },
      { type: 'BalanceCheckFailed', details: 'Balance not known' },
    ],
    nextCheckAt: 7,
  });
  t.end();
});
