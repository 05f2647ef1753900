/**
 * The figures that the service chooses itself: gas limits and prices. What a node says instead of a figure is no answer
 * about the transaction, a figure that is refused is chosen anew, and what is only advice or only shown stops nothing.
 */
import { randomBytes } from 'node:crypto';
import { Transaction } from 'ethers';
import t, { type Test } from 'tap';
import type { Anvil, AnvilOptions } from '../support/anvil.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { EvmScenario, type EvmScenarioOptions } from '../support/evm-scenario.ts';
import { type FrontRule, startNodeFront } from '../support/node-front.ts';
import type { DoubleAnswer } from '../support/rpc-double.ts';
import { createWorkspace } from '../support/workspace.ts';

const GWEI = 10n ** 9n;
const quantity = (value: bigint) => `0x${value.toString(16)}`;
const saying = (code: number, message: string): DoubleAnswer => ({ error: { code, message } });

interface Grounds extends EvmScenarioOptions {
  node?: AnvilOptions;
}

/** A scenario on its own node, because prices apply to the whole node. */
async function open(t: Test, { node = {}, ...options }: Grounds = {}): Promise<EvmScenario> {
  const anvil = await startAnvil({ ...node, args: ['--no-mining', ...(node.args ?? [])] });
  t.teardown(() => anvil.stop());
  const stage = await EvmScenario.open(t, anvil, options);
  await stage.start();
  return stage;
}

/** Puts code at an unused address. */
async function contract(anvil: Anvil, code: string): Promise<string> {
  const address = `0x${randomBytes(20).toString('hex')}`;
  await anvil.rpc('anvil_setCode', [address, `0x${code}`]);
  return address;
}

/** Writes so many new storage slots: 22,100 gas and some for each. */
const writing = (slots: number) => `61${slots.toString(16).padStart(4, '0')}5b8060019055600190038060035700`;

const call = (to: string) => ({ to, value: 0, data: '0x01', gas_limit: undefined });

const gasOf = async (stage: EvmScenario, id: string) =>
  (await stage.attempts(id)).map(({ fields }) => BigInt(String(fields['gas_limit'])));

const decisionsOf = async (stage: EvmScenario, id: string) =>
  (await stage.store.read.decisions(id, 100)).map(({ kind, text }) => `${kind}: ${text}`);

const reasonOf = async (stage: EvmScenario, id: string) => (await stage.get(id)).statusReason ?? '';

/** Errors of an estimate that say nothing about the call. */
const PASSING = [
  saying(-32_005, 'daily request count exceeded, request rate limited'),
  saying(-32_603, 'Internal error'),
  saying(-32_000, 'execution aborted (timeout = 5s)'),
  saying(-32_000, 'header not found'),
  saying(30, 'Request timeout on the free tier, please upgrade your tier to the paid one'),
  saying(19, 'Temporary internal error. Please retry, trace-id: 1'),
  saying(-32_000, 'failed to fetch state: context canceled'),
  saying(-32_000, 'missing trie node c6eb (path ) state 0xc6eb is not available, not found'),
  saying(-32_601, 'the method eth_estimateGas does not exist/is not available'),
  saying(-32_000, 'a text that nobody knows'),
  { status: 403 },
  { result: '0x0' },
];

/** Answers every estimate so while `isOn()`. */
const estimates =
  (answer: DoubleAnswer, isOn: () => boolean): FrontRule =>
  ({ method }) =>
    method === 'eth_estimateGas' && isOn() ? answer : undefined;

for (const endpoints of [1, 2]) {
  t.test(`an estimate that fails at ${endpoints} endpoint(s) is asked for again, once or for long`, async (t) => {
    const stage = await open(t, { endpoints });
    for (const answer of PASSING) {
      const name = JSON.stringify(answer);
      const big = await contract(stage.anvil, writing(16));
      for (const times of [1, 6]) {
        const asked = () => stage.fronts.reduce((sum, front) => sum + front.calls('eth_estimateGas'), 0);
        const before = asked();
        const isOn = () => asked() - before <= times * endpoints;
        for (const front of stage.fronts) front.rule(estimates(answer, isOn));
        const id = await stage.send(call(big));
        if (times > 1) {
          await stage.until('it says why', async () => /not known yet|HTTP status 403/.test(await reasonOf(stage, id)));
          t.match(await stage.get(id), { status: 'pending', sequence: null, hash: null }, name);
        }
        await stage.untilStatus(id, 'confirmed', { mining: true, passing: 500 });
        const gas = await gasOf(stage, id);
        t.equal(gas.length, 1, name);
        t.ok((gas[0] ?? 0n) > 40_000n && gas[0] !== 200_000n, `${name}: ${gas.join()}`);
      }
    }
  });
}

t.test('an endpoint that never estimates, or takes a call to fail, does not decide beside another', async (t) => {
  const stage = await open(t, { endpoints: 2 });
  for (const answer of [
    ...PASSING,
    saying(3, 'execution reverted'),
    saying(-32_000, 'gas required exceeds allowance'),
  ]) {
    stage.front.rule(estimates(answer, () => true));
    const contracts = await Promise.all([contract(stage.anvil, writing(16)), contract(stage.anvil, writing(16))]);
    const ids = await Promise.all(contracts.map((big) => stage.send(call(big))));
    await stage.untilStatus(ids, 'confirmed', { mining: true });
    for (const id of ids) t.ok(((await gasOf(stage, id))[0] ?? 0n) > 350_000n, JSON.stringify(answer));
  }
});

t.test('a call that reverts is sent with the usual gas, and the timeline says so', async (t) => {
  const stage = await open(t);
  const id = await stage.send(call(await contract(stage.anvil, '60006000fd')));
  await stage.untilStatus(id, 'failed', { mining: true });
  t.strictSame(await gasOf(stage, id), [200_000n]);
  const told = await decisionsOf(stage, id);
  t.match(told.join('\n'), /^fallback: Its gas limit is 200000, as nodes could not estimate it: execution reverted/m);
});

t.test('the reserve on an estimate stays below the gas of one transaction (EIP-7825)', async (t) => {
  const node = { args: ['--hardfork', 'osaka', '--enable-tx-gas-limit', '--gas-limit', '60000000'] };
  const settings = { max_transaction_gas: 16_777_216 };
  for (const known of [settings, {}]) {
    const stage = await open(t, { node, settings: known });
    const id = await stage.send(call(await contract(stage.anvil, writing(726))));
    await stage.untilStatus(id, 'confirmed', { mining: true });
    t.strictSame(await gasOf(stage, id), [16_777_216n]);
    const more = { ...call(await contract(stage.anvil, writing(800))) };
    if (known === settings) {
      const reason = /Transaction gas limit \(16777217\) exceeds the network's limit for one transaction \(16777216\)/;
      await t.rejects(stage.send({ gas_limit: 16_777_217 }), { message: reason });
      const large = await stage.send(more);
      await stage.untilStatus(large, 'failed');
      t.match(await stage.get(large), { sequence: null, statusReason: /limit for one transaction/ });
    }
  }
});

t.test('a cap that only the refusal names is kept by the next attempt, before any noop', async (t) => {
  for (const text of [
    'transaction gas limit too high (cap: 100000, tx: 110000)',
    'exceeds max transaction gas limit',
  ]) {
    const stage = await open(t);
    const cap = /cap/.test(text) ? 100_000n : 90_000n;
    stage.front.rule(({ method, params }) => {
      if (method === 'eth_estimateGas') return { result: quantity(cap) };
      if (method !== 'eth_sendRawTransaction') return undefined;
      return Transaction.from(String(params[0])).gasLimit > cap ? saying(-32_000, text) : undefined;
    });
    const id = await stage.send({ gas_limit: undefined });
    await stage.untilStatus(id, 'confirmed', { mining: true });
    const attempts = await stage.attempts(id);
    t.strictSame(
      attempts.map(({ purpose }) => purpose),
      ['send', 'bump'],
    );
    t.equal((await gasOf(stage, id)).at(-1), cap);
    t.equal(await stage.paid(), 7n);
  }
});

for (const endpoints of [1, 2]) {
  t.test(`gas that has become too little is estimated anew, at ${endpoints} endpoint(s)`, async (t) => {
    for (const tags of [['arbitrum-based'], []]) {
      const stage = await open(t, { endpoints, settings: { tags } });
      let used = 80_000n;
      for (const front of stage.fronts) {
        front.rule(({ method, params }) => {
          if (method === 'eth_estimateGas') return { result: quantity(used) };
          if (method !== 'eth_sendRawTransaction') return undefined;
          used = 160_000n;
          const { gasLimit } = Transaction.from(String(params[0]));
          return gasLimit < 140_000n ? saying(-32_000, 'intrinsic gas too low') : undefined;
        });
      }
      const id = await stage.send({ gas_limit: undefined });
      const behind = await stage.send({ gas_limit: 150_000 });
      await stage.untilStatus([id, behind], 'confirmed', { mining: true });
      const attempts = await stage.attempts(id);
      t.strictSame(
        attempts.map(({ purpose }) => purpose),
        ['send', 'bump'],
        'no noop',
      );
      t.strictSame(await gasOf(stage, id), tags.length > 0 ? [120_000n, 240_000n] : [88_000n, 176_000n]);
      t.strictSame([await stage.nonces(), await stage.paid()], [2, 14n]);
    }
  });
}

t.test('a gas limit of the request is not changed: it ends, and a noop takes its nonce', async (t) => {
  const stage = await open(t);
  stage.front.rule(({ method, params }) => {
    if (method !== 'eth_sendRawTransaction' || Transaction.from(String(params[0])).value === 0n) return undefined;
    return saying(-32_000, 'intrinsic gas too low');
  });
  const id = await stage.send();
  await stage.untilStatus(id, 'failed', { mining: true });
  t.match(await stage.get(id), { statusReason: 'No node takes it: intrinsic gas too low' });
  t.strictSame(
    (await stage.attempts(id)).map(({ purpose }) => purpose),
    ['send', 'noop'],
  );
});

t.test('a noop that nodes refuse again and again becomes no dearer', async (t) => {
  for (const text of [
    'intrinsic gas too low: have 21000, want 999999999999',
    'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
  ]) {
    const stage = await open(t);
    stage.front.rule(({ method }) => (method === 'eth_sendRawTransaction' ? saying(-32_000, text) : undefined));
    const id = await stage.send({ gas_limit: 100_000 });
    const noops = async () => (await stage.attempts(id)).filter(({ purpose }) => purpose === 'noop');
    await stage.until('several noops are refused', async () => (await noops()).length >= 6, { passing: 50 });
    const fees = (await noops()).map(({ fields }) => BigInt(String(fields['max_fee_per_gas'])));
    t.ok(
      fees.every((fee) => fee === fees[0]),
      `${text}: ${fees}`,
    );
    stage.front.rule();
    await stage.untilStatus(id, 'failed', { mining: true });
  }
});

t.test('a tip that nodes name when they refuse less is paid at once, within the cap', async (t) => {
  const least = 25n * GWEI;
  const text = (tip: bigint) => `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${least}`;
  for (const suggested of [least, undefined]) {
    const stage = await open(t, { policies: { gas_price_cap: Number(100n * GWEI) } });
    stage.front.rule(({ method, params }) => {
      const paid = quantity((3n * GWEI) / 2n);
      if (method === 'eth_feeHistory') return { result: { reward: [[paid, paid, paid, paid]] } };
      if (method === 'eth_maxPriorityFeePerGas')
        return suggested === undefined ? saying(-32_601, 'no such method') : { result: quantity(suggested) };
      if (method !== 'eth_sendRawTransaction') return undefined;
      const tip = Transaction.from(String(params[0])).maxPriorityFeePerGas ?? 0n;
      return tip < least ? saying(-32_000, text(tip)) : undefined;
    });
    const own = { speed: undefined, max_fee_per_gas: Number(60n * GWEI), max_priority_fee_per_gas: Number(30n * GWEI) };
    const ids = await Promise.all([stage.send(), stage.send(own), stage.send({ speed: 'safeLow' })]);
    await stage.untilStatus(ids, 'confirmed', { mining: true });
    const [quick = [], given = [], slow = []] = await Promise.all(ids.map((id) => stage.attempts(id)));
    t.equal(quick.length, suggested === undefined ? 2 : 1);
    t.equal(given.length, 1);
    t.equal(slow.length, 2, 'the slow learn it from the refusal');
    for (const { fields } of [quick.at(-1), slow.at(-1)].flatMap((one) => one ?? []))
      t.equal(fields['max_priority_fee_per_gas'], Number(least));
  }
});

t.test('figures that are only advice or only shown, in odd forms or missing, stop nothing', async (t) => {
  const stage = await open(t);
  const pending = ({ method, params }: { method: string; params: readonly unknown[] }) =>
    method === 'eth_getTransactionCount' && params[1] === 'pending';
  const history =
    (answer: DoubleAnswer): FrontRule =>
    ({ method }) =>
      method === 'eth_feeHistory' ? answer : undefined;
  const receipts =
    (odd: object): FrontRule =>
    async ({ method }, pass) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      const answer = await pass();
      const isReceipt = typeof answer === 'object' && 'result' in answer && answer.result !== null;
      return isReceipt ? { result: { ...(answer.result as object), ...odd } } : answer;
    };
  const rules: Record<string, FrontRule> = {
    'no tag pending': (asked) =>
      pending(asked) ? saying(-32_000, '`eth_getTransactionCount` raised an exception') : undefined,
    'an internal error for pending': (asked) => (pending(asked) ? saying(-32_603, 'Internal error') : undefined),
    'pending is refused': (asked) => (pending(asked) ? saying(-32_602, 'pending block is not supported') : undefined),
    'negative rewards': history({ result: { reward: [['-0xfd', '-0xfd', '-0xfd', '-0xfd']] } }),
    'no fee history': history(saying(-32_600, 'Unsupported method: eth_feeHistory on XYZ_MAINNET')),
    'a forbidden fee history': history({ status: 403 }),
    'a null fee history': history({ result: null }),
    'blocks without a gas limit': async ({ method }, pass) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      const answer = await pass();
      if (typeof answer !== 'object' || !('result' in answer)) return answer;
      const { gasLimit: _, ...block } = answer.result as Record<string, unknown>;
      return { result: block };
    },
    'an empty contract address': receipts({ contractAddress: '0x' }),
    'no contract address': receipts({ contractAddress: '' }),
    'a status in figures': receipts({ status: 1 }),
    'no gas used': receipts({ gasUsed: null }),
    'an empty price': receipts({ effectiveGasPrice: '0x' }),
  };
  const own = { speed: undefined, max_fee_per_gas: Number(60n * GWEI), max_priority_fee_per_gas: Number(30n * GWEI) };
  for (const [what, rule] of Object.entries(rules)) {
    stage.front.rule(rule);
    const ids = await Promise.all([stage.send(), stage.send(own)]);
    await stage
      .untilStatus(ids, 'confirmed', { mining: true })
      .catch((error: Error) => t.fail(`${what}: ${error.message}`));
    t.equal((await stage.get(ids[0] ?? '')).status, 'confirmed', what);
  }
});

t.test('a network that charges nothing is paid nothing', async (t) => {
  const stage = await open(t, {
    node: { args: ['--gas-price', '0', '--block-base-fee-per-gas', '0'] },
    policies: { min_balance: 0 },
  });
  stage.front.rule(({ method }) => (method === 'eth_gasPrice' ? { result: '0x0' } : undefined));
  await stage.anvil.rpc('anvil_setBalance', [stage.address, '0x0']);
  const id = await stage.send({ value: 0 });
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.match(
    (await stage.attempts(id)).map(({ fields }) => fields),
    [{ max_fee_per_gas: 0, max_priority_fee_per_gas: 0 }],
  );
});

t.test('words that nobody knows, again and again from every endpoint: it fails, and the account goes on', async (t) => {
  for (const endpoints of [1, 2]) {
    const stage = await open(t, { endpoints });
    let trace = 0;
    for (const front of stage.fronts) {
      front.rule(({ method, params }) => {
        if (method !== 'eth_sendRawTransaction' || Transaction.from(String(params[0])).value !== 7n) return undefined;
        trace += 1;
        return saying(-32_000, `transaction was declined by the filter of this network (${trace})`);
      });
    }
    const id = await stage.send();
    const behind = await stage.send({ value: 8 });
    const isHeard = async () => /declined by the filter/.test(await reasonOf(stage, id));
    await stage.until('it is turned away', isHeard);
    t.match(await stage.get(id), { status: 'sent' }, 'not at once');
    stage.pass(5_000);
    await stage.untilStatus(id, 'failed', { mining: true, withinMs: 60_000 });
    await stage.untilStatus(behind, 'confirmed', { mining: true });
    t.match(await stage.get(id), { statusReason: /^No node takes it: transaction was declined by the filter/ });
    t.strictSame([await stage.nonces(), await stage.paid()], [2, 8n]);
  }
});

t.test(
  'words that nobody knows end nothing while a node has it, is silent, or speaks of its own trouble',
  async (t) => {
    const stage = await open(t, { endpoints: 2, timing: { turnedAwayMs: 300 } });
    const [first, second] = stage.fronts;
    const sent = ({ method }: { method: string }) => method === 'eth_sendRawTransaction';
    const turned = (asked: { method: string }) => (sent(asked) ? saying(-32_000, 'declined') : undefined);
    first?.rule(turned);
    for (const [what, rule] of [
      ['silent', (asked: { method: string }) => (sent(asked) ? ('hang-up' as const) : undefined)],
      ['in trouble', (asked: { method: string }) => (sent(asked) ? saying(-32_603, 'Internal error') : undefined)],
      [
        'has it',
        (asked: { method: string }) =>
          asked.method === 'eth_getTransactionByHash' ? { result: { blockNumber: null } } : turned(asked),
      ],
    ] as const) {
      second?.rule(rule);
      const id = await stage.send();
      const heard = stage.front.calls('eth_sendRawTransaction');
      await stage.until(`many offers (${what})`, () => stage.front.calls('eth_sendRawTransaction') > heard + 20, {
        mining: true,
        passing: 50,
      });
      t.match(await stage.get(id), { status: 'sent', noopEnd: null }, what);
      for (const front of stage.fronts) front.rule();
      await stage.untilStatus(id, 'confirmed', { mining: true });
      first?.rule(turned);
    }
    t.equal(await stage.paid(), 21n);
  },
);

t.test('a whole service behind a node without advice sends, and `/ready` says what the lack costs', async (t) => {
  const anvil = await startAnvil({ blockTime: 1 });
  t.teardown(() => anvil.stop());
  const front = await startNodeFront(anvil);
  t.teardown(() => front.stop());
  front.rule(({ method, params }) => {
    if (method === 'eth_feeHistory') return saying(-32_600, 'Unsupported method: eth_feeHistory on XYZ_MAINNET');
    return method === 'eth_getTransactionCount' && params[1] === 'pending'
      ? saying(-32_000, '`eth_getTransactionCount` raised an exception')
      : undefined;
  });
  const workspace = await createWorkspace({ rpcUrl: front.url, network: { max_transaction_gas: 16_777_216 } });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const path = '/api/v1/relayers/local-1/transactions';
  const send = (more: object = {}) =>
    service.request('POST', path, { to: `0x${'de'.repeat(20)}`, value: 1, data: '0x', speed: 'fast', ...more });
  const sent = await eventually(
    () => send(),
    ({ status }) => status === 200,
    20_000,
  );
  t.equal(sent.status, 200);
  const end = await eventually(
    () => service.request('GET', `${path}/${sent.body.data.id}`),
    ({ body }) => body.data.status === 'confirmed',
    30_000,
  );
  t.equal(end.body.data.status, 'confirmed');
  const tooMuch = await send({ gas_limit: 16_777_217 });
  t.match(tooMuch, { status: 400, body: { error: /exceeds the network's limit for one transaction \(16777216\)/ } });
  const { body: ready } = await service.request('GET', '/api/v1/ready');
  const lacks = ready.components.networks.unanswered_methods as { method: string; cost: string; endpoint: string }[];
  t.strictSame(lacks.map(({ method }) => method).toSorted(), ['eth_feeHistory', 'eth_getTransactionCount']);
  t.ok(lacks.every(({ cost, endpoint }) => cost !== '' && endpoint === front.url));
});

t.test('a receipt whose status cannot be read keeps no other from its end, and the reason says so', async (t) => {
  const stage = await open(t);
  const broken = new Set<string>();
  stage.front.rule(async ({ method, params }, pass) => {
    if (method === 'eth_getBlockReceipts') return saying(-32_601, 'no such method');
    if (method !== 'eth_getTransactionReceipt' || !broken.has(String(params[0]))) return undefined;
    const answer = await pass();
    const isReceipt = typeof answer === 'object' && 'result' in answer && answer.result !== null;
    return isReceipt ? { result: { ...(answer.result as object), status: 'fine' } } : answer;
  });
  const odd = await stage.send();
  await stage.untilStatus(odd, 'submitted');
  broken.add(String((await stage.get(odd)).hash));
  const behind = await stage.sendMany(2);
  await stage.untilStatus(behind, 'confirmed', { mining: true });
  const isTold = async () => /No endpoint has a receipt that can be read/.test(await reasonOf(stage, odd));
  await stage.until('it says why', isTold, { mining: true });
  t.match(await stage.get(odd), { status: 'submitted', noopEnd: null });
  broken.clear();
  stage.pass(60_000);
  await stage.untilStatus(odd, 'confirmed', { mining: true });
});
