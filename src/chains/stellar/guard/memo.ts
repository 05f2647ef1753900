import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import { accountOfMuxed } from '../message/transaction-envelope.ts';

/** What a transaction says of its payments. */
export type PaymentParts = Pick<xdr.Transaction, 'memo'> & { readonly operations: readonly xdr.Operation[] };

/** SEP-29: an account with this data entry of "1" takes no payments without a memo, as exchanges do. */
const MEMO_REQUIRED = 'config.memo_required';

/**
 * The ledger keys by which the receivers of a transaction ask for a memo, each with its receiver; none where the
 * transaction has a memo. An address with an id of its own (M…) needs none (CAP-27).
 */
export function memoRequiredKeys({ memo, operations }: PaymentParts, payer: string): ReadonlyMap<string, string> {
  if (memo.type !== 'memoNone') return new Map();
  const receivers = new Set(operations.flatMap(({ body }) => receiverOf(body) ?? []));
  receivers.delete(payer);
  return new Map([...receivers].map((address) => [keyOf(address), address]));
}

function keyOf(address: string): string {
  const accountId = Keypair.fromPublicKey(address).xdrAccountId();
  return xdr.LedgerKey.data(new xdr.LedgerKeyData({ accountId, dataName: MEMO_REQUIRED })).toXdr('base64');
}

function receiverOf(body: xdr.OperationBody): string | undefined {
  const to = destinationOf(body);
  return to?.type === 'keyTypeEd25519' ? accountOfMuxed(to) : undefined;
}

function destinationOf(body: xdr.OperationBody): xdr.MuxedAccount | undefined {
  switch (body.type) {
    case 'payment':
      return body.paymentOp.destination;
    case 'pathPaymentStrictSend':
      return body.pathPaymentStrictSendOp.destination;
    case 'pathPaymentStrictReceive':
      return body.pathPaymentStrictReceiveOp.destination;
    case 'accountMerge':
      return body.destination;
    default:
      return undefined;
  }
}

/** Whether a ledger entry asks for a memo. */
export function asksForMemo(data: xdr.LedgerEntryData): boolean {
  return data.type === 'data' && Buffer.from(data.data.dataValue.toBytes()).toString('latin1') === '1';
}

/** Why a transaction is not sent whose receiver asks for a memo. */
export function missingMemoFault(receiver: string): string {
  return `${receiver} takes payments only with a memo (SEP-29, ${MEMO_REQUIRED}), and this one has none`;
}
