// A revert reason is text from a stranger in our answers, and many nodes cannot give it. Asking for it must neither
// harm nor delay anything.
import { AbiCoder, Interface } from 'ethers';
import t, { type Test } from 'tap';
import {
  decodedError,
  type FailedTransaction,
  REVERTED,
  revertReason,
} from '../../../../../../src/chains/evm/inclusion/revert.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { RpcError } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { openRpc } from '../../../../../support/evm.ts';
import {
  answersByMethod,
  type DoubleAnswer,
  type DoubleHandler,
  startRpcDouble,
} from '../../../../../support/rpc-double.ts';

const HASH = `0x${'a'.repeat(64)}`;
const FROM = '0x00000000000000000000000000000000000000a1';
const TO = '0x00000000000000000000000000000000000000b0';
const errorData = (text: string) => `0x08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], [text]).slice(2)}`;
const panicData = (code: number) => `0x4e487b71${AbiCoder.defaultAbiCoder().encode(['uint256'], [code]).slice(2)}`;

const REQUEST: JsonObject = {
  to: TO,
  value: '0x5',
  data: '0x1234',
  gas_limit: null,
  gas_price: null,
  max_fee_per_gas: null,
  max_priority_fee_per_gas: null,
  speed: 'fast',
};

function failed(over: Partial<FailedTransaction> = {}): FailedTransaction {
  const fields = { chain_id: 1, from: FROM, gas_limit: 50_000, max_fee_per_gas: 9, max_priority_fee_per_gas: 2 };
  return { request: REQUEST, fields, hash: HASH, block: 10n, gasUsed: 40_000n, ...over };
}

async function open(t: Test, handler: DoubleHandler) {
  const double = await startRpcDouble(handler);
  const rpc = openRpc([double.url], { tries: 1, failureThreshold: 1 });
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const ask = (one = failed(), patienceMs?: number) => rpc.onOne((read) => revertReason(read, one, patienceMs));
  return { double, rpc, ask };
}

/** A node that answers one method and rejects every other. */
const only =
  (method: string, answer: DoubleAnswer): DoubleHandler =>
  (call) =>
    call.method === method ? answer : { error: { code: -32_601, message: 'the method does not exist' } };

t.test('the trace of the top call tells', async (t) => {
  const data = errorData('too "late"');
  const { double, ask } = await open(
    t,
    answersByMethod({ debug_traceTransaction: { output: data, error: 'execution reverted' } }),
  );
  t.same(await ask(), {
    reason: `Transaction reverted on-chain (revert_data: ${data}) — Error("too \\"late\\"")`,
    data,
  });
  t.same(
    double.calls.map(({ method }) => method),
    ['debug_traceTransaction'],
  );
  t.match(double.calls[0]?.params, [HASH, { tracer: 'callTracer' }]);
});

t.test('without traces the same call on the block’s state tells', async (t) => {
  const data = panicData(0x11);
  const forms: unknown[] = [data, `Reverted ${data}`, { data, message: 'x' }, { result: data }, { data: { data } }];
  for (const form of forms) {
    const answer = { error: { code: 3, message: 'execution reverted', data: form } };
    const { double, ask } = await open(t, only('eth_call', answer));
    const reason = `Transaction reverted on-chain (revert_data: ${data}) — Panic(0x11: arithmetic overflow)`;
    t.same(await ask(), { reason, data }, JSON.stringify(form));
    t.same(double.calls.at(-1)?.params, [
      {
        from: FROM,
        to: TO,
        value: '0x5',
        data: '0x1234',
        gas: '0xc350',
        maxFeePerGas: '0x9',
        maxPriorityFeePerGas: '0x2',
      },
      '0xa',
    ]);
  }
  const { double, ask } = await open(t, only('eth_call', { result: '0x' }));
  const legacy = { chain_id: 1, from: FROM, gas_limit: 50_000, gas_price: 7 };
  t.same(await ask(failed({ request: { ...REQUEST, to: null }, fields: legacy })), { reason: REVERTED, data: null });
  t.match(double.calls.at(-1)?.params, [{ gasPrice: '0x7' }]);
  const [creation] = double.calls.at(-1)?.params ?? [];
  t.notMatch(creation, { to: String }, 'a creation');
});

t.test('another cause than a revert is named behind the fixed text', async (t) => {
  for (const [error, reason] of [
    ['out of gas', `${REVERTED} — out of gas`],
    ['invalid opcode:\n\u001b[31m INVALID', `${REVERTED} — invalid opcode: [31m INVALID`],
    ['execution reverted', REVERTED],
  ] as const) {
    const { double, ask } = await open(t, answersByMethod({ debug_traceTransaction: { error } }));
    t.same(await ask(), { reason, data: null });
    t.equal(double.calls.length, 1, 'the trace is the last word');
  }
});

t.test('a node that cannot tell leaves the fixed text byte for byte, and is not blamed', async (t) => {
  const handlers: DoubleHandler[] = [
    () => ({ status: 403 }),
    () => ({ error: { code: -32_601, message: 'method not found' } }),
    () => ({ error: { code: -32_603, message: 'internal error' } }),
    () => 'hang-up',
    () => ({ body: '{"jsonrpc":"2.0","id":1,"resu' }),
    () => ({ result: null }),
    () => ({ result: [] }),
    () => ({ result: { output: '0xzz', error: 7 } }),
    () => ({ result: { output: '0x', error: 'execution reverted' } }),
    () => ({ error: { code: 3, message: 'execution reverted', data: '0x' } }),
  ];
  for (const handler of handlers) {
    const { double, rpc, ask } = await open(t, handler);
    t.same(
      await ask(),
      { reason: 'Transaction reverted on-chain (receipt status: failed)', data: null },
      String(handler),
    );
    double.answer(() => ({ result: '0x7' }));
    t.equal(await rpc.read('eth_blockNumber', []), '0x7', 'it still serves');
  }
});

t.test('what took all its gas ran out of it, unless a node knows better', async (t) => {
  const reason = `${REVERTED} — out of gas`;
  const all = failed({ gasUsed: 50_000n });
  for (const handler of [() => ({ status: 403 }), () => ({ result: null }), () => 'silence'] as DoubleHandler[]) {
    const { ask } = await open(t, handler);
    t.same(await ask(all, 100), { reason, data: null }, String(handler));
  }
  for (const error of ['execution reverted', 'invalid opcode: INVALID']) {
    const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { error } }));
    t.notMatch((await ask(all)).reason, 'out of gas', error);
  }
  const data = errorData('late');
  const { ask } = await open(t, only('eth_call', { error: { code: 3, message: 'execution reverted', data } }));
  t.match(await ask(all), { data });
});

t.test('it never throws, and gives up in time', async (t) => {
  const { ask } = await open(t, () => 'silence');
  const startedAt = performance.now();
  t.same(await ask(failed(), 50), { reason: REVERTED, data: null });
  t.ok(performance.now() - startedAt < 8_000, 'long before the endpoint is given up');
  const thrower = () => Promise.reject(new RpcError('node', 'no', { data: { data: { data: { data: {} } } } }));
  t.same(await revertReason(thrower, failed()), { reason: REVERTED, data: null });
  t.same(await revertReason(thrower, failed({ fields: undefined })), { reason: REVERTED, data: null });
  t.same(await revertReason(thrower, failed({ request: { to: 7 } })), { reason: REVERTED, data: null });
});

t.test('what is shown and kept has an end', async (t) => {
  const output = `0x${'ab'.repeat(100_000)}`;
  const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { output } }));
  const { reason, data } = await ask();
  const shown = output.slice(0, 4_096);
  t.equal(reason, `Transaction reverted on-chain (revert_data: ${shown}...(truncated))`);
  t.equal(data, shown);
});

t.test('errors of the given ABI are named, with their arguments', async (t) => {
  const fragments = [
    'error Empty()',
    'error TooMuch(address who, uint256 most, (bytes32 id, bool[] flags) about, string)',
    'function empty()',
  ];
  const contract = new Interface(fragments);
  const about = { id: HASH, flags: [true, false] };
  const data = contract.encodeErrorResult('TooMuch', [TO, 2n ** 255n, about, 'a\u0000b']);
  const text = `TooMuch(who: 0x00000000000000000000000000000000000000B0, most: ${2n ** 255n}, about: [${HASH}, [true, false]], "a\\u0000b")`;
  t.equal(decodedError(data, fragments), text, 'as texts');
  const json = JSON.parse(contract.formatJson()) as JsonObject[];
  t.equal(decodedError(data, json), text, 'as JSON');
  t.equal(decodedError(contract.encodeErrorResult('Empty'), fragments), 'Empty()');

  const { ask } = await open(t, answersByMethod({ debug_traceTransaction: { output: data } }));
  const { reason } = await ask(failed({ request: { ...REQUEST, abi: fragments } }));
  t.ok(reason.endsWith(`${data}) — ${text}`));
});

t.test('what only looks like an error is left alone', async (t) => {
  const empty = new Interface(['error Empty(uint256 x)']).encodeErrorResult('Empty', [1]);
  const cases: [string, unknown][] = [
    ['0x08c379a0', []],
    [`0x08c379a0${'f'.repeat(128)}`, []],
    ['0x4e487b71', []],
    ['0x12', []],
    ['0x12345678', undefined],
    [empty, undefined],
    [empty, 'error Empty(uint256 x)'],
    [empty, [null, 7, {}, [], 'error', 'error Empty(uint257 x)', { type: 'function', name: 'Empty' }]],
    [empty.slice(0, 20), ['error Empty(uint256 x)']],
    [empty, ['error Empty(uint256[1000000000][1000000000] x)']],
    [empty, [`error Empty(uint256 ${'x'.repeat(5_000)})`]],
    [`0x08c379a0${'00'.repeat(40_000)}`, []],
  ];
  for (const [data, abi] of cases)
    t.equal(decodedError(data, abi as never), undefined, JSON.stringify([data.slice(0, 80), abi]).slice(0, 200));
  t.equal(decodedError(panicData(0x99)), 'Panic(0x99)');
  t.equal(decodedError(panicData(1)), 'Panic(0x01: assertion failed)');
  const shouting = decodedError(errorData(`a\r\n\u202e${'!'.repeat(5_000)}`));
  t.match(shouting, /^Error\("a\\r\\n !{900}/);
  t.ok(String(shouting).length < 1_100);
});

t.test('data that point to the same again and again are not decoded', async (t) => {
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const decoded = (text: string, words: readonly number[]) => {
    const selector = new Interface([text]).getError('Many')?.selector;
    return decodedError(`${selector}${words.map(word).join('')}`, [text]);
  };
  const layer = (next: readonly number[]) => [40, ...Array.from({ length: 40 }, () => 40 * 32), ...next];
  const last = [40, ...Array.from({ length: 40 }, () => 0)];
  t.match(decoded('error Many(uint256[] x)', [32, ...last]), /^Many\(x: \[0, 0/);
  t.match(decoded('error Many(uint256[][] x)', [32, 2, 64, 64, 1, 7]), 'Many(x: [[7], [7]])');
  t.equal(decoded('error Many(uint256[][] x)', [32, ...layer(last)]), undefined);
  t.equal(decoded('error Many(()[][][][] x)', [32, ...layer(layer(layer(last)))]), undefined);
  t.equal(decoded('error Many(bytes[] x)', [32, ...layer(last)]), undefined);
  t.equal(decoded('error Many(bytes x)', [32, 2, 0]), 'Many(x: 0x0000)');
  t.equal(decoded('error Many(()[2000][2000] x)', []), undefined);
  const nested = `error Many(${'('.repeat(1_800)}uint256${')'.repeat(1_800)} x)`;
  t.equal(decodedError(`0x12345678${word(1)}`, [nested]), undefined, 'stored before there were bounds');
});
