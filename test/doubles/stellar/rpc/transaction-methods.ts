import { frameOf } from '../transactions/frame.ts';
import type { Methods } from './method.ts';
import { envelopeIn, mustBeBase64, textIn } from './params.ts';
import { CODES, invalidParams, RpcError } from './rpc-error.ts';
import { detailsOf } from './transaction-answer.ts';

/** Methods about single transactions, waiting or on the chain. */
export const transactionMethods: Methods = {
  sendTransaction(view, fields) {
    mustBeBase64(fields);
    const envelope = envelopeIn(textIn(fields, 'transaction'));
    if (envelope === undefined) throw invalidParams('invalid_xdr');
    const { node, network, latest } = view;
    const frame = frameOf(envelope, node.ledger.networkId);
    view.offers.push(frame.hash);
    const admission = submit(() => network.submit(node, frame));
    return {
      ...(admission.status === 'ERROR' ? { errorResultXdr: admission.outcome.toXdr().toXdr('base64') } : {}),
      status: admission.status,
      hash: frame.hash,
      latestLedger: latest.sequence,
      latestLedgerCloseTime: String(latest.closeTime),
    };
  },
  getTransaction(view, fields) {
    mustBeBase64(fields);
    const hash = textIn(fields, 'hash');
    if (hash.length !== 64) throw invalidParams(`unexpected hash length (${Math.floor(hash.length)})`);
    if (!/^[0-9a-fA-F]+$/.test(hash)) throw invalidParams('incorrect hash: encoding/hex: invalid byte');
    const { latest, oldest } = view;
    const landed = view.landed(hash.toLowerCase());
    return {
      latestLedger: latest.sequence,
      latestLedgerCloseTime: String(latest.closeTime),
      oldestLedger: oldest.sequence,
      oldestLedgerCloseTime: String(oldest.closeTime),
      ...(landed === undefined ? NOT_FOUND : detailsOf(landed)),
      txHash: hash,
      createdAt: String(landed?.ledger.closeTime ?? 0n),
    };
  },
};

/** The JSON of an empty struct in Go. */
const NOT_FOUND = { status: 'NOT_FOUND', applicationOrder: 0, feeBump: false, events: {}, ledger: 0 };

/** Turns an exception of stellar-core into an internal error, as stellar-rpc does. */
function submit<T>(perform: () => T): T {
  try {
    return perform();
  } catch (error) {
    throw new RpcError(CODES.internal, `received exception from stellar-core: ${String(error)}`);
  }
}
