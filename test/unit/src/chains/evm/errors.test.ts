import t from 'tap';
import { broadcastFailure, providerFailed, withProvider } from '../../../../../src/chains/evm/errors.ts';
import { RpcError } from '../../../../../src/egress/rpc-client.ts';

const HASH = `0x${'a'.repeat(64)}`;

t.test('what nodes say about a broadcast', async (t) => {
  const texts: Record<string, string[]> = {
    accepted: [
      'already known',
      'AlreadyKnown',
      'known transaction: abc',
      'Known transaction',
      'Transaction with the same hash was already imported.',
      `[${HASH}] Already imported`,
      'transaction already imported',
      'existing tx with same hash',
      'tx already exists in cache',
    ],
    'sequence-used': [
      'nonce too low',
      'nonce too low: next nonce 5, tx nonce 4',
      'Transaction nonce is too low. Try incrementing the nonce.',
      'OldNonce, Current nonce: 5, nonce of rejected tx: 4',
      'err: nonce too low: address 0xab, tx: 4 state: 5 (supplied gas 21000)',
    ],
    'sequence-ahead': [
      'nonce too high',
      'nonce too far in the future',
      'Transaction nonce is too distant from current sender nonce',
      'transaction nonce exceeds next nonce',
      'nonce out of range',
      'tx-nonce-too-high',
      'NonceGap, Future nonce. Expected nonce: 5',
    ],
    underpriced: [
      'replacement transaction underpriced',
      `[${HASH}]: insufficient gas price to replace existing transaction.`,
      'INTERNAL_ERROR: could not replace existing tx',
      'could not be replaced: Priority is too low: (1 vs 2)',
      'Transaction gas price is too low. There is another transaction with same nonce in the queue.',
    ],
    refused: [
      'insufficient funds for gas * price + value: balance 1, tx cost 2',
      'InsufficientFunds, Balance is zero',
      'Upfront cost exceeds account balance',
      'intrinsic gas too low',
      'exceeds block gas limit',
      'transaction underpriced: gas tip cap 0, minimum needed 1',
      'FeeTooLow, MaxFeePerGas too low',
      'max fee per gas less than block base fee',
      'tx fee (2.10 ether) exceeds the configured cap (1.00 ether)',
      'invalid chain id for signer: have 1 want 5',
      'txpool is full',
      'oversized data: transaction size 131073, limit 131072',
      'rlp: expected input list',
    ],
    unknown: ['unknown transaction', 'some text that nobody knows', 'internal error'],
  };
  for (const [kind, messages] of Object.entries(texts)) {
    for (const message of messages) {
      for (const code of [-32_000, -32_603]) {
        t.equal(broadcastFailure(new RpcError('node', message, { code })).kind, kind, message);
      }
    }
  }
});

t.test('no answer says nothing', async (t) => {
  for (const kind of ['timeout', 'transport', 'http', 'malformed', 'blocked'] as const) {
    t.same(broadcastFailure(new RpcError(kind, 'nonce too low')), { kind: 'unknown', reason: 'nonce too low' });
  }
});

t.test('failures of the endpoints get the service’s form, others stay what they are', async (t) => {
  const fault = new RangeError('a fault of our own');
  await t.rejects(
    withProvider('sepolia', async () => {
      throw new RpcError('timeout', 'https://rpc.example.com: no answer within 10000 ms');
    }),
    {
      code: 'PROVIDER_FAILED',
      message: 'The RPC endpoints of network sepolia failed: https://rpc.example.com: no answer within 10000 ms',
    },
  );
  await t.rejects(
    withProvider('sepolia', () => Promise.reject(fault)),
    fault,
  );
  t.equal(await withProvider('sepolia', async () => 7), 7);
  t.match(providerFailed('sepolia', 'why'), { details: { network: 'sepolia', reason: 'why' } });
});
