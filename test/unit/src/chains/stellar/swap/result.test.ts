import t from 'tap';
import { swapEvent } from '../../../../../../src/chains/stellar/swap/result.ts';
import { fieldsOf, storedStellar } from '../../../../../support/stellar-relayer.ts';

const request = { swap: { asset: 'A' } };
const swap = { operation: 'AA', given: '9223372036854775807', promised: 7, least: 6 };
const told = (over: Parameters<typeof storedStellar>[0]) =>
  swapEvent(storedStellar({ request, fields: fieldsOf({ swap }), hash: 'h', ...over }));
const eventOf = (event: string, result: object) => ({
  event,
  payload: { payload_type: 'stellar_dex', swap_results: [{ mint: 'A', ...result }] },
});

t.test('a swap is told when it is signed, and when it has ended', async (t) => {
  const given = { source_amount: 2n ** 63n - 1n, transaction_signature: 'h' };
  const well = { ...given, destination_amount: 7n, error: null };
  t.match(told({ status: 'sent' }), eventOf('stellar_dex_queued', well));
  t.match(told({ status: 'confirmed' }), eventOf('stellar_dex', well));
  for (const status of ['pending', 'submitted', 'mined'] as const) t.equal(told({ status }), undefined);
  const vain = { ...given, destination_amount: 0n, error: 'why' };
  t.match(told({ status: 'failed', statusReason: 'why' }), eventOf('stellar_dex', vain));
  const never = { source_amount: 0n, destination_amount: 0n, transaction_signature: '', error: 'expired' };
  t.match(told({ status: 'expired', fields: {}, hash: null }), eventOf('stellar_dex', never));
});

t.test('a transaction that is no swap tells nothing of one', async (t) => {
  t.equal(swapEvent(storedStellar({ status: 'confirmed' })), undefined);
});
