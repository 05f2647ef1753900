import t from 'tap';
import { MalformedTransaction } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { inPlainWords, Refusal, refusalOf, refusing } from '../../../../../../src/chains/solana/sponsor/errors.ts';
import { AppError, invalidRequest } from '../../../../../../src/domain/errors.ts';
import { MarketFailure } from '../../../../../../src/egress/market-client.ts';
import { RpcError } from '../../../../../../src/egress/rpc/rpc-client.ts';

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};

t.test('each failure has the code, the tag and the text that clients know', async (t) => {
  const refusals: [Error, object][] = [
    [
      invalidRequest('Policy violation: x'),
      {
        code: -32_013,
        tag: 'PREPARATION_ERROR',
        message: 'Failed to prepare the transfer transaction: Policy violation: x',
      },
    ],
    [
      new MalformedTransaction('short'),
      {
        code: -32_601,
        tag: 'INVALID_PARAMS',
        message: 'The transaction parameter is invalid or missing: Malformed transaction: short',
      },
    ],
    [invalidRequest('m', new MalformedTransaction('short')), { code: -32_601 }],
    [
      new RpcError('timeout', 'no answer'),
      { code: -32_006, tag: 'PREPARATION_ERROR', message: 'Failed to prepare the transfer transaction: no answer' },
    ],
    [new AppError('PROVIDER_FAILED', { network: 'n', reason: 'r' }), { code: -32_006 }],
    [
      new MarketFailure('gone'),
      {
        code: -32_001,
        tag: 'ESTIMATION_ERROR',
        message: 'Failed to estimate the fee due to internal or network issues: gone',
      },
    ],
    [new AppError('SIGNER_FAILED', { id: 's', reason: 'r' }), { code: -32_005, tag: 'SIGNATURE_ERROR' }],
  ];
  for (const [error, expected] of refusals) {
    await t.rejects(refusing(failing(error)), { name: 'OwnRefusal', ...expected, cause: error });
  }
  t.match(refusalOf(new RpcError('timeout', 'no answer'), 'estimation'), { code: -32_001 });
  t.match(new Refusal('funds', 'x'), { code: -32_002, tag: 'INSUFFICIENT_FUNDS' });
  t.match(new Refusal('token', 'x'), { code: -32_601, tag: 'PREPARATION_ERROR' });
  t.match(new Refusal('send', 'x'), { code: -32_006, tag: 'SEND_ERROR' });
  t.match(new Refusal('params', 'x'), { code: -32_602, tag: 'INVALID_PARAMS', message: 'x', detail: 'x' });
});

t.test('what is none of the caller’s business stays what it is', async (t) => {
  for (const error of [new Error('a fault'), new AppError('RELAYER_PAUSED', {})]) {
    await t.rejects(refusing(failing(error)), error);
    t.equal(refusalOf(error), undefined);
  }
  const refusal = new Refusal('params', 'x');
  t.equal(refusalOf(refusal), refusal);
  t.equal(refusalOf(invalidRequest('x', refusal)), refusal, 'it comes through an endpoint that is no JSON-RPC');
});

t.test('endpoints that are no JSON-RPC say the same in their own way', async (t) => {
  await t.rejects(inPlainWords(failing(new Refusal('params', 'unpaid'))), {
    code: 'INVALID_REQUEST',
    message: 'unpaid',
  });
  await t.rejects(inPlainWords(failing(new Refusal('funds', 'poor'))), { code: 'INVALID_REQUEST', message: 'poor' });
  for (const error of [
    invalidRequest('Policy violation: x'),
    new AppError('SIGNER_FAILED', { id: 's', reason: 'r' }),
    new RpcError('timeout', 'no answer'),
    new Error('a fault'),
  ]) {
    await t.rejects(inPlainWords(failing(error)), error);
  }
  await t.rejects(inPlainWords(failing(new MarketFailure('gone'))), {
    code: 'UNAVAILABLE',
    status: 503,
    message: 'The market gave no price: gone',
  });
  const untraded = new MarketFailure('not tradable', { code: 'TOKEN_NOT_TRADABLE' });
  await t.rejects(inPlainWords(failing(untraded)), { code: 'INVALID_REQUEST', message: 'not tradable' });
  t.equal(await inPlainWords(async () => 7), 7);
});
