import t from 'tap';
import { swapEvent } from '../../../../../../src/chains/solana/swap/result.ts';
import { fieldsOf, storedSolana } from '../../../../../support/solana-relayer.ts';

const request = { swap: { mint: 'M' } };
const fields = fieldsOf({ swap: { mint: 'M', given: '18446744073709551615', promised: 7, least: 6 } });
const told = (over: Parameters<typeof storedSolana>[0]) =>
  swapEvent(storedSolana({ request, fields, hash: 'h', ...over }));
const eventOf = (result: object) => ({
  event: 'solana_dex',
  payload: { payload_type: 'solana_dex', swap_results: [{ mint: 'M', ...result }] },
});

t.test('what came of a swap has the reference’s form', async (t) => {
  const given = { source_amount: 2n ** 64n - 1n, transaction_signature: 'h' };
  t.strictSame(told({ status: 'confirmed' }), eventOf({ ...given, destination_amount: 7n, error: null }));
  t.match(told({ status: 'failed', statusReason: 'why' }), eventOf({ ...given, destination_amount: 0n, error: 'why' }));
  const never = { source_amount: 0n, destination_amount: 0n, transaction_signature: '', error: 'expired' };
  t.match(told({ status: 'expired', fields: {}, hash: null }), eventOf(never));
});

t.test('a transaction that is no swap tells nothing of one', async (t) => {
  t.equal(swapEvent(storedSolana({ status: 'confirmed' })), undefined);
});
