import type { Landed } from '../node/closed-ledger.ts';

/** What nodes tell of a transaction that is on the chain. */
export function detailsOf({ frame, ledger, order, isSuccessful, result, meta }: Landed) {
  return {
    status: isSuccessful ? 'SUCCESS' : 'FAILED',
    txHash: frame.hash,
    applicationOrder: order,
    feeBump: frame.kind === 'fee-bump',
    envelopeXdr: frame.envelope.toXdr('base64'),
    resultXdr: result.toXdr('base64'),
    resultMetaXdr: meta.toXdr('base64'),
    events: {},
    ledger: ledger.sequence,
  };
}
