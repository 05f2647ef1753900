/**
 * The promise: a relayer is disabled only while it cannot work, and enabled again without help. What could break it: an
 * endpoint that lies, lags or hangs beside good ones, a short outage, or an account that runs out of money.
 */
import t, { type Test } from 'tap';
import { notReachedYet } from '../../src/features/relayers/records/disabled-reason.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { identityAt } from '../support/evm.ts';
import { answersOf, healthStage } from '../support/health-stage.ts';
import { type DoubleAnswer, type DoubleHandler, type RpcDouble, startRpcDouble } from '../support/rpc-double.ts';

const SILENT: DoubleHandler = () => 'hang-up';
const DISABLED = 'relayer_disabled';
const ENABLED = 'relayer_enabled';

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const other = await startAnvil({ args: ['--chain-id', '4242'] });
t.teardown(() => other.stop());
const address = anvil.accounts[0]?.address ?? '';

async function double(t: Test, handler: DoubleHandler): Promise<RpcDouble> {
  const started = await startRpcDouble(handler);
  t.teardown(() => started.stop());
  return started;
}

const setBalance = (node: Anvil, wei: bigint) => node.rpc('anvil_setBalance', [address, `0x${wei.toString(16)}`]);
const typesOf = (payloads: readonly { payload_type: string }[]) => payloads.map(({ payload_type: type }) => type);

t.test(
  'an account that runs dry while all runs disables, and one that is filled enables: told once each',
  async (t) => {
    const stage = await healthStage(t, { urls: [anvil.url], address });
    t.teardown(() => setBalance(anvil, 10n ** 20n));
    await stage.health.start();
    t.equal(await stage.reason(), null);
    await setBalance(anvil, 0n);
    await stage.until('it is disabled', async () => (await stage.reason()) !== null);
    t.match(await stage.reason(), {
      type: 'BalanceCheckFailed',
      details: /^Insufficient balance: 0x\w+ has 0 wei, min_balance asks for 1$/,
    });
    await setBalance(anvil, 10n ** 20n);
    await stage.until('it is enabled', async () => (await stage.reason()) === null);
    const told = await stage.told();
    t.strictSame(typesOf(told), [DISABLED, ENABLED]);
    t.match(told[0], { disable_reason: /^Insufficient balance: .* has 0 wei.* \(checked again at 20/ });
  },
);

t.test('one endpoint that answers among dead and hanging ones keeps it enabled', async (t) => {
  const dead = await Promise.all([1, 2, 3, 4, 5].map(() => double(t, SILENT)));
  const good = await double(t, answersOf(anvil));
  const failing = await double(t, () => ({ status: 503, body: 'away' }));
  const urls = [...dead, failing, good].map(({ url }) => url);
  const stage = await healthStage(t, { urls, address, timing: { confirmMs: 300 } });
  await stage.health.start();
  const asked = () => good.calls.filter(({ method }) => method === 'eth_getBalance').length;
  await stage.until('several rounds', () => asked() > 5);
  t.equal(await stage.reason(), null);
  t.strictSame(await stage.told(), []);
});

t.test('all endpoints that were paused are tried all the same, and serve again (item 67)', async (t) => {
  const doubles = [await double(t, answersOf(anvil)), await double(t, answersOf(anvil))];
  const stage = await healthStage(t, { urls: doubles.map(({ url }) => url), address });
  await stage.health.start();
  t.equal(await stage.reason(), null);
  for (const endpoint of doubles) endpoint.answer(SILENT);
  await stage.until('it is disabled', async () => (await stage.reason()) !== null);
  t.match(JSON.stringify(await stage.reason()), /RpcValidationFailed/);
  // By now, each endpoint has failed often enough for a pause of ten minutes.
  for (const endpoint of doubles) endpoint.answer(answersOf(anvil));
  await stage.until('it is enabled', async () => (await stage.reason()) === null);
  t.strictSame(typesOf(await stage.told()), [DISABLED, ENABLED]);
});

/** Answers that a gateway may give once, and a good node never. */
const ODD: Readonly<Record<string, DoubleAnswer>> = {
  'a cut body': { body: '[{"jsonrpc":"2.0","id":1,"resu' },
  'an empty body': { body: '' },
  'a page': { body: '<html>502</html>' },
  'a hang-up': 'hang-up',
};

for (const [what, odd] of Object.entries(ODD)) {
  t.test(`${what} of the only endpoint at the first contact disables nobody, and is asked again at once`, async (t) => {
    const well = answersOf(anvil);
    let isFirst = true;
    const endpoint = await double(t, (call) => {
      const isOdd = isFirst && call.method === 'eth_chainId';
      isFirst &&= !isOdd;
      return isOdd ? odd : well(call);
    });
    const stage = await healthStage(t, { urls: [endpoint.url], address, timing: { confirmMs: 600_000 } });
    await stage.health.start();
    t.notOk(isFirst, 'it was odd once');
    t.equal(await stage.reason(), null);
    t.equal(await stage.store.read.chainIdentity('evm', 'local'), await identityAt(anvil.url), 'without a pause');
  });
}

t.test('what fails in two checks in a row is not disabled, and what fails in three is', async (t) => {
  const well = answersOf(anvil);
  let bad = 0;
  const endpoint = await double(t, (call) => {
    if (call.method !== 'eth_getBalance' || bad === 0) return well(call);
    bad -= 1;
    return { result: '0x0' };
  });
  // An endpoint that tells too little is asked twice in each check.
  bad = 4;
  const stage = await healthStage(t, { urls: [endpoint.url], address });
  await stage.health.start();
  t.strictSame([bad, await stage.reason(), await stage.told()], [0, null, []]);
  bad = 1_000;
  await stage.until('it is disabled', async () => (await stage.reason()) !== null);
  t.ok(1_000 - bad >= 6, `${1_000 - bad} bad answers`);
  t.strictSame(typesOf(await stage.told()), [DISABLED]);
});

t.test('a hiccup of all endpoints disables nobody', async (t) => {
  let hiccups = 0;
  const endpoint = await double(t, answersOf(anvil));
  const stage = await healthStage(t, { urls: [endpoint.url], address, timing: { confirmMs: 50 } });
  await stage.health.start();
  const well = answersOf(anvil);
  let until = Number.POSITIVE_INFINITY;
  endpoint.answer((call) => {
    // The outage starts with the first call. Otherwise a busy machine could miss it.
    if (hiccups === 0) until = performance.now() + 40;
    if (performance.now() > until) return well(call);
    hiccups += 1;
    return 'hang-up';
  });
  await stage.until('it was felt', () => performance.now() > until + 10);
  const before = endpoint.calls.length;
  await stage.until('it goes on', () => endpoint.calls.length > before + 10);
  t.ok(hiccups > 0, `${hiccups} calls failed`);
  t.equal(await stage.reason(), null);
  t.strictSame(await stage.told(), []);
});

t.test('a wrong chain behind the URL is never enabled (item 73)', async (t) => {
  const declared = await healthStage(t, { urls: [other.url], address, settings: { chain_id: 31_337 } });
  await declared.health.start();
  t.match(await declared.reason(), {
    type: 'RpcValidationFailed',
    details: /^RPC endpoint validation failed: .*serves chain 4242, not 31337/,
  });
  t.match(declared.logLines.join(''), /serves chain 4242, not 31337/);
  t.equal(await declared.store.read.chainIdentity('evm', 'local'), undefined, 'and nothing is pinned');

  const moving = await double(t, answersOf(anvil));
  const found = await healthStage(t, { urls: [moving.url], address });
  await found.health.start();
  t.equal(await found.reason(), null);
  moving.answer(answersOf(other));
  await found.until('it is disabled', async () => (await found.reason()) !== null);
  t.match(await found.reason(), { type: 'RpcValidationFailed' });
  moving.answer(answersOf(anvil));
  await found.until('it is enabled', async () => (await found.reason()) === null);
  t.strictSame(typesOf(await found.told()), [DISABLED, ENABLED]);
});

for (const [how, settings] of [
  ['declared', { chain_id: 31_337 }],
  ['found before', {}],
] as const) {
  t.test(`beside the chain that is ${how} an endpoint of another is left aside`, async (t) => {
    const good = await double(t, answersOf(anvil));
    // On the other chain, the account has no money.
    const stray = await double(t, answersOf(other, { eth_getBalance: '0x0' }));
    const stage = await healthStage(t, { urls: [stray.url, good.url], address, settings });
    const identity = await identityAt(anvil.url);
    if (how === 'found before') await stage.store.write((writer) => writer.pinChainIdentity('evm', 'local', identity));
    await stage.health.start();
    const asked = () => good.calls.filter(({ method }) => method === 'eth_getBalance').length;
    await stage.until('several rounds', () => asked() > 5);
    t.equal(await stage.reason(), null);
    const warnings = stage.logLines.filter((line) => /endpoint of another chain/.test(line));
    t.equal(warnings.length, 1);
    t.match(
      warnings[0],
      new RegExp(`"endpoint":"127\\.0\\.0\\.1:${stray.port}","serves":"4242","expected":"${identity}"`),
    );

    good.answer(SILENT);
    await stage.until('it is disabled', async () => (await stage.reason()) !== null);
    t.match(await stage.reason(), { type: 'RpcValidationFailed' }, 'the other chain alone is not enough');
  });
}

t.test('endpoints that disagree while nobody knows the chain disable, with the cause in the log', async (t) => {
  const stage = await healthStage(t, { urls: [anvil.url, other.url], address });
  await stage.health.start();
  t.match(await stage.reason(), { type: 'RpcValidationFailed', details: /serves chain 4242, not 31337/ });
  t.match(stage.logLines.join(''), /serves chain 4242, not 31337/);
  t.equal(await stage.store.read.chainIdentity('evm', 'local'), undefined);
});

t.test('one endpoint that lies about the balance is not believed, while another tells more', async (t) => {
  const liar = await double(t, answersOf(anvil, { eth_getBalance: '0x0' }));
  const good = await double(t, answersOf(anvil));
  const stage = await healthStage(t, { urls: [liar.url, good.url], address });
  await stage.health.start();
  const lies = () => liar.calls.filter(({ method }) => method === 'eth_getBalance').length;
  await stage.until('it has lied several times', () => lies() > 5);
  t.equal(await stage.reason(), null);
  good.answer(SILENT);
  await stage.until('it is disabled', async () => (await stage.reason()) !== null);
  t.match(await stage.reason(), { type: 'BalanceCheckFailed' }, 'the only one that is left is believed');
});

t.test('a disabled relayer is checked at the growing pace, and its way back is told once (item 76)', async (t) => {
  const endpoint = await double(t, answersOf(anvil, { eth_getBalance: '0x0' }));
  const pauses = [50, 100, 150, 225, 300];
  const at: number[] = [];
  const poor = answersOf(anvil, { eth_getBalance: '0x0' });
  endpoint.answer((call) => {
    if (call.method === 'eth_getTransactionCount' && call.params[1] === 'pending') at.push(performance.now());
    return poor(call);
  });
  /** The checks that come before the relayer is disabled. */
  const first = 3;
  const stage = await healthStage(t, { urls: [endpoint.url], address, timing: { recheckMs: pauses } });
  await stage.health.start();
  await stage.until('eight more checks', () => at.length >= first + 7);
  const gaps = at.slice(first).map((time, index) => time - (at[first + index - 1] ?? 0));
  for (const [index, gap] of gaps.entries()) {
    const pause = pauses[Math.min(index, pauses.length - 1)] ?? 0;
    // A timer may fire a millisecond early by another clock.
    t.ok(gap >= pause - 5, `check ${index + 1} came ${Math.round(gap)} ms later, after at least ${pause}`);
  }
  endpoint.answer(answersOf(anvil));
  await stage.until('it is enabled', async () => (await stage.reason()) === null);
  const told = await stage.told();
  t.strictSame(typesOf(told), [DISABLED, ENABLED]);
  t.ok((told[1]?.retry_count ?? 0) >= 6, `${told[1]?.retry_count} repetitions had failed`);
});

t.test('a relayer that was disabled when all ended is enabled by the next start (item 74)', async (t) => {
  const endpoint = await double(t, SILENT);
  const before = await healthStage(t, { urls: [endpoint.url], address });
  await before.health.start();
  await before.health.close();
  t.match(await before.reason(), { type: 'Multiple' });
  endpoint.answer(answersOf(anvil));
  const after = await healthStage(t, { urls: [endpoint.url], address, store: before.store });
  await after.health.start();
  t.equal(await after.reason(), null);
  t.strictSame(typesOf(await after.told()), [DISABLED, ENABLED]);
});

t.test(
  'the first contact enables a relayer without a word; a first check that fails is told as disabled',
  async (t) => {
    const unknown = { disabledReason: notReachedYet('local') };
    const reached = await healthStage(t, { urls: [anvil.url], address });
    await reached.change(unknown);
    await reached.health.start();
    t.equal(await reached.reason(), null);
    t.strictSame(await reached.told(), []);
    const failing = await healthStage(t, { urls: [(await double(t, SILENT)).url], address });
    await failing.change(unknown);
    await failing.health.start();
    t.match(await failing.reason(), { type: 'Multiple', nextCheckAt: Number });
    t.strictSame(typesOf(await failing.told()), [DISABLED]);
  },
);
