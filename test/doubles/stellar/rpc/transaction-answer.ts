import type { Landed } from '../node/closed-ledger.ts';

/** The fields that a node reports for a transaction on the chain. */
export function detailsOf({ frame, ledger, order, isSuccessful, result, meta }: Landed) {
  const { operations, events, diagnosticEvents } =
    meta.type === 'v4' ? meta.v4 : { operations: [], events: [], diagnosticEvents: [] };
  const told = operations.map((operation) => operation.events.map((event) => event.toXdr('base64')));
  return {
    status: isSuccessful ? 'SUCCESS' : 'FAILED',
    txHash: frame.hash,
    applicationOrder: order,
    feeBump: frame.kind === 'fee-bump',
    envelopeXdr: frame.envelope.toXdr('base64'),
    resultXdr: result.toXdr('base64'),
    resultMetaXdr: meta.toXdr('base64'),
    ...(diagnosticEvents.length === 0
      ? {}
      : { diagnosticEventsXdr: diagnosticEvents.map((event) => event.toXdr('base64')) }),
    events: {
      transactionEventsXdr: events.map((event) => event.toXdr('base64')),
      ...(told.length === 0 ? {} : { contractEventsXdr: told }),
    },
    ledger: ledger.sequence,
  };
}
