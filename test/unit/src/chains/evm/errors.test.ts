import t from 'tap';
import {
  classifyBroadcastError,
  classifyEstimateError,
  gasCapInRefusal,
  gasLimitRefusal,
  gasPriceInRefusal,
} from '../../../../../src/chains/evm/errors.ts';
import { rpcDialect } from '../../../../../src/chains/evm/rpc-error-dialect.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { isRpcDenial, judgeRpcFailure } from '../../../../../src/egress/rpc/rpc-verdict.ts';
import { allOf, ETHEREUM, GATEWAYS, VERDICTS } from '../../egress/rpc/error-corpus.ts';
import { BROADCAST_CORPUS, BROADCAST_TEXTS } from './broadcast-corpus.ts';

t.test('what real nodes say about a broadcast', async (t) => {
  t.ok(BROADCAST_TEXTS.length >= 120, `${BROADCAST_TEXTS.length} texts`);
  t.ok(BROADCAST_CORPUS.every(({ place }) => place !== ''));
  for (const { client, code, means, text, data } of BROADCAST_TEXTS) {
    const { outcome, hasJudged } = classifyBroadcastError(
      new RpcError('node', text, data === undefined ? { code } : { code, data }),
    );
    t.equal(outcome.kind, means === 'absent' ? 'busy' : means, `${client}: ${text}`);
    t.equal(hasJudged, means !== 'absent', `${client}: ${text}`);
  }
});

t.test('a nonce error wrapped in -32603 or -32002 keeps its meaning', async (t) => {
  for (const code of [-32_000, -32_603, -32_002, -32_005]) {
    for (const { means, text } of BROADCAST_TEXTS.filter(({ means }) => /sequence|underpriced|accepted/.test(means))) {
      if (BROADCAST_TEXTS.some((other) => other.text === text && other.means !== means)) continue;
      if (/^(Internal|resource|Invalid parameters)/.test(text)) continue;
      t.equal(classifyBroadcastError(new RpcError('node', text, { code })).outcome.kind, means, `${code}: ${text}`);
    }
  }
});

t.test('no answer says nothing, but for being turned away', async (t) => {
  for (const kind of ['timeout', 'transport', 'http', 'malformed', 'blocked'] as const) {
    t.same(classifyBroadcastError(new RpcError(kind, 'nonce too low')), {
      outcome: { kind: 'unknown', reason: 'nonce too low' },
      hasJudged: false,
    });
  }
  t.match(classifyBroadcastError(new RpcError('http', 'HTTP 429', { status: 429 })), { outcome: { kind: 'busy' } });
  t.match(classifyBroadcastError(new RpcError('http', 'HTTP 503', { status: 503 })), { outcome: { kind: 'unknown' } });
});

t.test('a code says it where the text does not', async (t) => {
  for (const code of [429, -32_601]) {
    const said = classifyBroadcastError(new RpcError('node', 'slow down', { code }));
    t.match(said, { outcome: { kind: 'busy' }, hasJudged: false }, String(code));
  }
});

t.test('a text of any length or kind is read and shown within bounds', async (t) => {
  const long = classifyBroadcastError(
    new RpcError('node', `nonce too low ${'x'.repeat(1_000_000)}`, { code: -32_000 }),
  );
  t.ok(long.outcome.kind === 'anchor-used' && long.outcome.reason.length < 600);
  t.equal(classifyBroadcastError(new RpcError('node', `${'x'.repeat(5_000)} nonce too low`)).outcome.kind, 'unknown');
  const deep = Array.from({ length: 50 }).reduce<object>((data) => ({ data }), { message: 'nonce too low' });
  t.equal(classifyBroadcastError(new RpcError('node', 'no', { data: deep as never })).outcome.kind, 'unknown');
});

t.test('an estimate fails only by a word about the call', async (t) => {
  const says = (message: string, detail: object = {}) => classifyEstimateError(new RpcError('node', message, detail));
  for (const text of [
    'execution reverted: paused',
    'VM Exception while processing transaction: revert',
    'VM execution error.',
    'Transaction reverted without a reason string',
    'always failing transaction',
    'gas required exceeds allowance (30000000)',
    'Out of gas: gas required exceeds allowance: 30000000',
    'The execution failed due to an exception.',
    'Cannot estimate gas, gas spent exceeded transaction and block gas limit',
    'invalid opcode: INVALID',
    'EVM error: InvalidJump',
    '[Request ID: 1] CONTRACT_REVERT_EXECUTED',
  ]) {
    t.equal(says(text, { code: -32_000 }), 'fails', text);
  }
  t.equal(says('Internal JSON-RPC error.', { code: -32_603, data: { message: 'execution reverted' } }), 'fails');
  t.equal(says('no text of its own', { code: 3 }), 'fails');
  t.equal(says('insufficient funds for transfer', { code: -32_000 }), 'unfunded');
  t.equal(says('execution reverted: insufficient balance', { code: 3 }), 'fails', 'the contract’s own words');
  for (const text of [
    'daily request count exceeded, request rate limited',
    'Internal error',
    'execution aborted (timeout = 5s)',
    'header not found',
    'Request timeout on the free tier, please upgrade your tier to the paid one',
    'Temporary internal error. Please retry, trace-id: 1',
    'failed to fetch state: context canceled',
    'missing trie node c6eb (path ) state 0xc6eb is not available, not found',
    'the method eth_estimateGas does not exist/is not available',
    'request failed or timed out',
    'a text that nobody knows',
  ]) {
    t.equal(says(text, { code: -32_000 }), undefined, text);
  }
  for (const kind of ['http', 'timeout', 'transport', 'malformed', 'limited'] as const) {
    t.equal(classifyEstimateError(new RpcError(kind, 'execution reverted')), undefined, kind);
  }
});

t.test('a refused gas limit is told from other refusals, with the figure that a node names', async (t) => {
  const refused = 17_684_731n;
  for (const [text, is, cap] of [
    ['intrinsic gas too low', 'too low', undefined],
    ['intrinsic gas too low: gas 20000, minimum needed 21000', 'too low', undefined],
    ['transaction gas limit too high (cap: 16777216, tx: 17684731)', 'too high', 16_777_216n],
    ['intrinsic gas too high -- tx.gas_limit > env.cfg.tx_gas_limit_cap', 'too high', undefined],
    ['exceeds max transaction gas limit', 'too high', undefined],
    ["transaction's gas limit 17684731 exceeds block's gas limit 15000000", 'too high', 15_000_000n],
    ['exceeds block gas limit', 'too high', undefined],
    ['transaction type not supported', undefined, undefined],
    ['out of gas', undefined, undefined],
    // About a price, though it ends in the same words.
    ['FeeTooLow, EffectivePriorityFeePerGas too low 218 < 1000000000, BaseFee: 7', undefined, undefined],
    ['maxFeePerGas too high', undefined, undefined],
  ] as const) {
    t.equal(gasLimitRefusal(text), is, text);
    if (is === 'too high') t.equal(gasCapInRefusal(text, refused), cap, text);
    const { outcome } = classifyBroadcastError(new RpcError('node', text, { code: -32_000 }));
    t.equal(outcome.kind === 'refused' && outcome.isFigure === true, is !== undefined, text);
  }
});

t.test('the least price that a refusal names', async (t) => {
  const named = (text: string) => gasPriceInRefusal(text);
  t.equal(named('transaction underpriced: gas tip cap 1500000000, minimum needed 25000000000'), 25_000_000_000n);
  t.equal(named('transaction gas price below minimum: gas tip cap 1, minimum needed 30000000000'), 30_000_000_000n);
  t.equal(named('FeeTooLow, EffectivePriorityFeePerGas too low 218 < 1000000000, BaseFee: 7'), 1_000_000_000n);
  t.equal(named("Gas price '218' is below configured minimum gas price '1140000000000'"), 1_140_000_000_000n);
  t.equal(named('To replace it, you need to specify a gas price > 20000000000'), 20_000_000_000n);
  t.equal(named('already in mpool, increase GasPremium to 923651 from 200000 to trigger replace by fee'), 923_651n);
  for (const none of ['transaction underpriced', 'intrinsic gas too low: gas 20000, minimum needed 21000']) {
    t.equal(named(none), undefined, none);
  }
});

t.test('unknown words are clear only where they are no trouble of the node', async (t) => {
  const isClear = (code: number, text: string) => classifyBroadcastError(new RpcError('node', text, { code })).outcome;
  t.match(isClear(-32_000, 'declined by the filter of this network'), { kind: 'unknown', isClear: true });
  for (const [code, text] of [
    [-32_603, 'Internal error'],
    [-32_000, 'header not found'],
    [-32_000, 'execution aborted (timeout = 5s)'],
    [-32_000, 'upstream failed'],
  ] as const) {
    t.match(isClear(code, text), { kind: 'unknown', isClear: false }, text);
  }
  const data = { message: 'Tx nonce is incorrect. Another transaction with the nonce 0 is already accepted.' };
  const wrapped = classifyBroadcastError(new RpcError('node', 'Execution error', { code: 3, data }));
  t.match(wrapped.outcome, { kind: 'unknown', isClear: false }, 'words of the state in the data');
});

t.test('dialect', async (t) => {
  const ALL = [...allOf(ETHEREUM), ...allOf(GATEWAYS)];
  const node = (code: number, message: string, status = 200) => new RpcError('node', message, { code, status });

  t.test('what is said by nodes and by the gateways before them', async (t) => {
    for (const [meaning, [code, text, source, status]] of ALL) {
      t.same(judgeRpcFailure(node(code, text, status), rpcDialect), VERDICTS[meaning], `${code} ${text} (${source})`);
    }
  });

  t.test('a node that denies an answer is told from one in trouble, and from one that refuses us', async (t) => {
    for (const [meaning, [code, text, , status]] of ALL) {
      const denies = ['lacks', 'permanent', 'state'].includes(meaning);
      t.equal(isRpcDenial(node(code, text, status), rpcDialect), denies, text);
    }
    t.notOk(isRpcDenial(new RpcError('http', 'HTTP status 404', { status: 404 }), rpcDialect));
    t.notOk(isRpcDenial(new Error('pruned'), rpcDialect));
  });

  t.test('unknown vs known transaction text: only one of them says that the pool has it', async (t) => {
    t.equal(judgeRpcFailure(node(-32_603, 'known transaction: 0x2a'), rpcDialect).meaning, 'state');
    t.equal(judgeRpcFailure(node(-32_000, 'unknown transaction'), rpcDialect).meaning, 'permanent');
    t.not(judgeRpcFailure(node(-32_603, 'unknown transaction'), rpcDialect).meaning, 'state');
  });
});
