import { encodeMuxedAccountToAddress, SignerKey, type xdr } from '@stellar/stellar-sdk';
import type { Landed } from '../node/closed-ledger.ts';
import type { Frame, TransactionFrame } from '../transactions/frame.ts';
import { changeXdr } from '../transactions/meta.ts';
import { timeOf } from './amount.ts';
import { placeOf } from './page.ts';

/** A transaction on the chain, for a client that knows it by this hash. */
export function transactionResource(base: string, { frame, ledger, order, ...landed }: Landed, hash: string) {
  const { inner } = frame;
  const isBump = frame.kind === 'fee-bump';
  const place = String(placeOf(ledger.sequence, order));
  return {
    _links: links(base, inner.source, ledger.sequence, hash, place),
    id: hash,
    paging_token: place,
    successful: landed.isSuccessful,
    hash,
    ledger: ledger.sequence,
    created_at: timeOf(ledger.closeTime),
    source_account: inner.source,
    ...muxed('account', inner.tx.sourceAccount),
    source_account_sequence: String(inner.sequence),
    fee_account: frame.feeSource,
    ...muxed('fee_account', feeAccountOf(frame)),
    fee_charged: String(landed.feeCharged),
    max_fee: String(frame.fullFee),
    operation_count: inner.size,
    envelope_xdr: frame.envelope.toXdr('base64'),
    result_xdr: landed.result.toXdr('base64'),
    result_meta_xdr: landed.meta.toXdr('base64'),
    fee_meta_xdr: changesXdr(landed.feeChanges.flatMap(changeXdr)),
    ...memoFields(inner.tx.memo),
    signatures: signaturesOf(hash === frame.hash ? frame : inner),
    ...preconditionFields(inner),
    ...(isBump
      ? {
          fee_bump_transaction: { hash: frame.hash, signatures: signaturesOf(frame) },
          inner_transaction: { hash: inner.hash, signatures: signaturesOf(inner), max_fee: String(inner.fullFee) },
        }
      : {}),
  };
}

function links(base: string, account: string, ledger: number, hash: string, place: string) {
  const to = (path: string, isTemplate = false) => ({
    href: `${base}${path}`,
    ...(isTemplate ? { templated: true } : {}),
  });
  const self = `/transactions/${hash}`;
  return {
    self: to(self),
    account: to(`/accounts/${account}`),
    ledger: to(`/ledgers/${ledger}`),
    operations: to(`${self}/operations{?cursor,limit,order}`, true),
    effects: to(`${self}/effects{?cursor,limit,order}`, true),
    precedes: to(`/transactions?order=asc&cursor=${place}`),
    succeeds: to(`/transactions?order=desc&cursor=${place}`),
    transaction: to(self),
  };
}

function feeAccountOf({ envelope }: Frame): xdr.MuxedAccount {
  if (envelope.type === 'envelopeTypeTxFeeBump') return envelope.feeBump.tx.feeSource;
  if (envelope.type === 'envelopeTypeTx') return envelope.v1.tx.sourceAccount;
  throw new Error('A frame has no envelope of the first form.');
}

function muxed(name: string, account: xdr.MuxedAccount): Record<string, string> {
  if (account.type === 'keyTypeEd25519') return {};
  return { [`${name}_muxed`]: encodeMuxedAccountToAddress(account), [`${name}_muxed_id`]: String(account.med25519.id) };
}

const signaturesOf = ({ signatures }: Frame): string[] =>
  signatures.map(({ signature }) => Buffer.from(signature.toBytes()).toString('base64'));

function memoFields(memo: xdr.Memo): Record<string, string> {
  switch (memo.type) {
    case 'memoNone':
      return { memo_type: 'none' };
    case 'memoText': {
      const bytes = Buffer.from(memo.text.bytes);
      return { memo_type: 'text', memo: bytes.toString('utf8'), memo_bytes: bytes.toString('base64') };
    }
    case 'memoId':
      return { memo_type: 'id', memo: String(memo.id) };
    case 'memoHash':
      return { memo_type: 'hash', memo: Buffer.from(memo.hash.toBytes()).toString('base64') };
    case 'memoReturn':
      return { memo_type: 'return', memo: Buffer.from(memo.retHash.toBytes()).toString('base64') };
    default:
      return memo satisfies never;
  }
}

function preconditionFields({ timeBounds, preconditions }: TransactionFrame): object {
  const { ledgerBounds, minSeqNum, minSeqAge, minSeqLedgerGap, extraSigners } = preconditions ?? {};
  const told = {
    ...(timeBounds === null
      ? {}
      : {
          timebounds: {
            min_time: String(timeBounds.minTime),
            ...(timeBounds.maxTime === 0n ? {} : { max_time: String(timeBounds.maxTime) }),
          },
        }),
    ...(ledgerBounds
      ? { ledgerbounds: { min_ledger: ledgerBounds.minLedger, max_ledger: ledgerBounds.maxLedger } }
      : {}),
    ...(minSeqNum == null ? {} : { min_account_sequence: String(minSeqNum) }),
    ...(minSeqAge ? { min_account_sequence_age: String(minSeqAge) } : {}),
    ...(minSeqLedgerGap ? { min_account_sequence_ledger_gap: minSeqLedgerGap } : {}),
    ...(extraSigners?.length ? { extra_signers: extraSigners.map((key) => SignerKey.encodeSignerKey(key)) } : {}),
  };
  return Object.keys(told).length === 0 ? {} : { preconditions: told };
}

/** Writes `LedgerEntryChanges`. The SDK has no type for it. */
function changesXdr(changes: readonly xdr.LedgerEntryChange[]): string {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(changes.length);
  return Buffer.concat([count, ...changes.map((change) => change.toXdr())]).toString('base64');
}
