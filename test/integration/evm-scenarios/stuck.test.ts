/**
 * Lost answers, unreachable nodes, and versions that overtake each other. A mined transaction is found under any hash
 * that was ever signed. A transaction that can still be mined is never given up. The reported state is the chain's.
 */
import t, { type Test } from 'tap';
import { startAnvil } from '../../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../../support/evm-scenario.ts';
import { type FrontRule, outage } from '../../support/node-front.ts';

const SEND = 'eth_sendRawTransaction';
const MINUTE = 60_000;
const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '30'] });
t.teardown(() => anvil.stop());
let accounts = 0;

/** The engine must not release the lane while the clock skips hours. */
const WATCHING: EvmScenarioOptions = { timing: { idleMs: 24 * 60 * MINUTE } };

function open(t: Test, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, ...options });
}

/**
 * Waits until this version is signed and in the pool, and the engine knows that a node has it. From then on it ages.
 */
async function untilVersion(stage: EvmScenario, id: string, ordinal: number, isKnown = true): Promise<string> {
  await stage.until(`version ${ordinal} is in the pool`, async () => {
    const latest = (await stage.attempts(id)).at(-1);
    return latest?.ordinal === ordinal && (latest.acceptedAt !== null || !isKnown) && (await isPooled(latest.hash));
  });
  return (await stage.attempts(id)).at(-1)?.hash ?? '';
}

async function isPooled(hash: string): Promise<boolean> {
  return (await anvil.rpc('eth_getTransactionByHash', [hash])) !== null;
}

/** From the n-th offer on, counted from 1: the node takes the transaction, and its answer is lost. */
function answersLost(lost: 'hang-up' | 'silence', from = 1): FrontRule {
  let offers = 0;
  return async ({ method }, pass) => {
    if (method !== SEND) return undefined;
    offers += 1;
    if (offers < from) return undefined;
    await pass();
    return lost;
  };
}

for (const lost of ['hang-up', 'silence'] as const) {
  t.test(
    `an offer whose answer is lost (${lost}): the hash was stored before, and what is mined is found`,
    async (t) => {
      const stage = await open(t);
      const unknown: string[] = [];
      const lose = answersLost(lost);
      stage.front.rule(async (call, pass) => {
        if (call.method === SEND) {
          const { hash = '' } = stage.front.offers.at(-1) ?? {};
          if ((await stage.store.read.transaction('r1', id))?.hash !== hash) unknown.push(hash);
        }
        return lose(call, pass);
      });
      const id = await stage.send();
      await stage.start();
      await stage.untilStatus(id, 'confirmed', { mining: true });
      t.strictSame(unknown, [], 'no bytes left that were not stored');
      t.equal((await stage.attempts(id)).length, 1);
      t.strictSame([await stage.paid(), await stage.nonces('pending')], [7n, 1]);
    },
  );
}

t.test('of several versions the first is mined: told at once, with its hash and its price', async (t) => {
  const stage = await open(t);
  await stage.start();
  const id = await stage.send();
  await untilVersion(stage, id, 1);
  for (const [ordinal, minutes] of [
    [2, 4],
    [3, 7],
    [4, 13],
  ] as const) {
    stage.pass(minutes * MINUTE);
    await untilVersion(stage, id, ordinal);
  }
  const [first, ...bumps] = await stage.attempts(id);
  t.strictSame(
    bumps.map(({ purpose }) => purpose),
    ['bump', 'bump', 'bump'],
  );
  stage.front.rule(outage(SEND));
  await anvil.rpc('anvil_dropTransaction', [bumps.at(-1)?.hash]);
  await anvil.rpc(SEND, [first?.raw]);
  await stage.untilStatus(id, 'confirmed', { mining: true });
  const { hash, fields } = await stage.get(id);
  t.equal(hash, first?.hash);
  t.match(fields, { max_fee_per_gas: first?.fields['max_fee_per_gas'], receipt: { succeeded: true } });
  t.equal(await stage.paid(), 7n);
});

t.test('a dearer version that a node took without anybody hearing of it is no stranger', async (t) => {
  const stage = await open(t);
  stage.front.rule(answersLost('hang-up', 2));
  await stage.start();
  const id = await stage.send();
  await untilVersion(stage, id, 1);
  stage.pass(4 * MINUTE);
  const second = await untilVersion(stage, id, 2, false);
  stage.crash();
  await stage.mine(3);
  await stage.start();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await stage.get(id)).hash, second);
  t.equal(await stage.paid(), 7n);
});

t.test('a version that is taken after others were not shows so in status, time, hash and price', async (t) => {
  const stage = await open(t);
  stage.front.rule(({ method }) =>
    method === SEND && stage.front.offers.length < 3
      ? { error: { code: -32_000, message: 'transaction underpriced' } }
      : undefined,
  );
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  const [first, second] = await stage.attempts(id);
  const { sentAt, hash, fields, statusReason } = await stage.get(id);
  t.ok(sentAt !== null);
  t.strictSame([hash, statusReason], [(await stage.attempts(id)).at(-1)?.hash, null]);
  t.ok(Number(fields['max_fee_per_gas']) > Number(first?.fields['max_fee_per_gas']));
  t.match(second, { purpose: 'bump', anchor: first?.anchor });
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await stage.paid(), 7n);
});

t.test('a node that says that it knows the bytes has them: submitted, with the time', async (t) => {
  const stage = await open(t);
  stage.front.rule(async ({ method }, pass) => {
    if (method !== SEND) return undefined;
    await pass();
    return { error: { code: -32_000, message: 'already known' } };
  });
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  t.ok((await stage.get(id)).sentAt !== null);
  await stage.untilStatus(id, 'confirmed', { mining: true });
});

t.test('ten minutes without any node, at each status: nothing is given up, each is paid once', async (t) => {
  const stage = await open(t, { settings: { required_confirmations: 4 } });
  await stage.start();
  const mined = await stage.send();
  await stage.untilStatus(mined, 'submitted');
  await stage.mine();
  await stage.untilStatus(mined, 'mined');
  const submitted = await stage.send();
  await stage.untilStatus(submitted, 'submitted');
  stage.front.rule(outage(SEND));
  const sent = await stage.send();
  await stage.untilStatus(sent, 'sent');
  stage.front.rule(outage());
  const pending = await stage.send();
  for (let minute = 0; minute < 10; minute += 1) {
    const calls = stage.front.calls('eth_blockNumber') + stage.front.calls('eth_getBlockByNumber');
    stage.pass(MINUTE);
    await stage.until(
      'nodes were asked in vain',
      () => stage.front.calls('eth_blockNumber') + stage.front.calls('eth_getBlockByNumber') > calls + 1,
    );
  }
  const ids = [mined, submitted, sent, pending];
  t.strictSame(await Promise.all(ids.map(async (id) => (await stage.get(id)).status)), [
    'mined',
    'submitted',
    'sent',
    'pending',
  ]);
  stage.front.rule();
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  t.strictSame([await stage.paid(), await stage.nonces()], [28n, 4]);
});

t.test('a hundred looks that fail keep nothing from becoming confirmed', async (t) => {
  const stage = await open(t, { settings: { required_confirmations: 3 }, timing: { lookMs: 2, lookCapMs: 5 } });
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  await stage.mine();
  await stage.untilStatus(id, 'mined');
  const before = stage.front.calls('eth_getTransactionReceipt');
  stage.front.rule(outage('eth_getTransactionReceipt', 'eth_getBlockReceipts'));
  await stage.mine(4);
  await stage.until('it was asked for', () => stage.front.calls('eth_getTransactionReceipt') > before + 100);
  t.equal((await stage.get(id)).status, 'mined');
  stage.front.rule();
  await stage.untilStatus(id, 'confirmed');
});

t.test(
  'a cancellation that comes while a dearer version is signed: both survive, and the last one counts',
  async (t) => {
    const stage = await open(t);
    await stage.start();
    const id = await stage.send();
    await untilVersion(stage, id, 1);
    const signer = Promise.withResolvers<void>();
    stage.signing = signer.promise;
    const signatures = stage.signatures;
    stage.pass(4 * MINUTE);
    await stage.until('the dearer version is being signed', () => stage.signatures > signatures);
    const canceling = stage.cancel(id);
    await stage.until(
      'the intent is stored',
      async () => (await stage.store.read.intents(stage.lane, 10)).length === 1,
    );
    signer.resolve();
    await canceling;
    await untilVersion(stage, id, 3);
    t.strictSame(
      (await stage.attempts(id)).map(({ purpose }) => purpose),
      ['send', 'bump', 'noop'],
    );
    await stage.untilStatus(id, 'canceled', { mining: true });
    t.equal(await stage.paid(), 0n);
  },
);

t.test('what expires in a silent pool is taken back at the next look, and ends as expired', async (t) => {
  const stage = await open(t, WATCHING);
  await stage.start();
  const id = await stage.send({ valid_until: new Date(Date.now() + 30 * MINUTE).toISOString(), speed: 'safeLow' });
  await untilVersion(stage, id, 1);
  stage.pass(11 * MINUTE);
  await untilVersion(stage, id, 2);
  stage.pass(20 * MINUTE);
  const hash = await untilVersion(stage, id, 3);
  t.match((await stage.attempts(id)).at(-1), { purpose: 'noop' });
  await stage.untilStatus(id, 'expired', { mining: true });
  t.match(await stage.get(id), { hash, confirmedAt: null });
  t.match((await stage.get(id)).statusReason, /valid_until passed/);
  t.equal(await stage.paid(), 0n);
});

t.test('what expires while no node takes it is never offered again', async (t) => {
  const stage = await open(t, WATCHING);
  await stage.start();
  stage.front.rule(outage(SEND));
  const id = await stage.send({ valid_until: new Date(Date.now() + 5 * MINUTE).toISOString() });
  await stage.until('it was offered in vain', () => stage.front.offers.length > 2);
  stage.pass(6 * MINUTE);
  await stage.until('its nonce is taken back', async () => (await stage.attempts(id)).length === 2);
  const before = stage.front.offers.length;
  stage.front.rule();
  await stage.untilStatus(id, 'expired', { mining: true });
  const [, empty] = await stage.attempts(id);
  const later = new Set(stage.front.offers.slice(before).map(({ hash }) => hash));
  t.strictSame([...later], [empty?.hash], 'only the version that does nothing');
  t.strictSame([await stage.paid(), await stage.nonces()], [0n, 1]);
});
