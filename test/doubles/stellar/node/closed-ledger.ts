import { randomBytes } from 'node:crypto';
import { xdr } from '@stellar/stellar-sdk';
import type { Header } from '../ledger/entry.ts';
import type { Change } from '../ledger/state.ts';
import type { Meter } from '../soroban/meter.ts';
import { type Frame, sha256 } from '../transactions/frame.ts';
import { changeXdr } from '../transactions/meta.ts';
import type { Phase } from './candidate-set.ts';

/** The protocol that `getLatestLedger` reports: the newest that the SDK's schema can write. */
export const PROTOCOL = 28;

/** A transaction that a ledger has taken. */
export interface Landed {
  readonly frame: Frame;
  readonly ledger: ClosedLedger;
  /** The place in the ledger, from 1. */
  readonly order: number;
  readonly isSuccessful: boolean;
  readonly feeCharged: bigint;
  readonly result: xdr.TransactionResult;
  readonly meta: xdr.TransactionMeta;
  readonly feeChanges: readonly Change[];
  readonly refundChanges: readonly Change[];
  readonly meter: Meter;
}

/** A closed ledger. On Stellar, all closed ledgers are final. */
export interface ClosedLedger extends Header {
  /** In hexadecimal. */
  readonly hash: string;
  readonly header: xdr.LedgerHeader;
  readonly set: xdr.GeneralizedTransactionSet;
  /** In the order in which they were applied. */
  readonly landed: Landed[];
  /** The price of an operation, by the kind of its transaction. */
  readonly charged: { readonly classic: bigint; readonly soroban: bigint };
  readonly maxOperations: number;
}

export function candidateSet(previousHash: string, phases: readonly Phase[]): xdr.GeneralizedTransactionSet {
  return xdr.GeneralizedTransactionSet.v1TxSet(
    new xdr.TransactionSetV1({
      previousLedgerHash: previousHash,
      phases: phases.map(({ frames, baseFee }) => {
        const txs = frames.map(({ envelope }) => envelope);
        const component = new xdr.TxSetComponentTxsMaybeDiscountedFee({ baseFee, txs });
        const components = [xdr.TxSetComponent.txsetCompTxsMaybeDiscountedFee(component)];
        return xdr.TransactionPhase.v0Components(frames.length === 0 ? [] : components);
      }),
    }),
  );
}

export function headerXdr(
  header: Header,
  previousHash: string,
  setHash: Buffer,
  sums: { feePool: bigint; nextId: bigint; maxOperations: number },
  droppedSet?: Buffer,
): xdr.LedgerHeader {
  const lcValueSignature = new xdr.LedgerCloseValueSignature({
    nodeId: xdr.PublicKey.publicKeyTypeEd25519(new Uint8Array(32)),
    signature: new Uint8Array(64),
  });
  return new xdr.LedgerHeader({
    ledgerVersion: PROTOCOL,
    previousLedgerHash: previousHash,
    scpValue: new xdr.StellarValue({
      // CAP-83: where validators have dropped a set, zeros stand here, and the hash of the set is in the extension.
      txSetHash: droppedSet === undefined ? setHash : Buffer.alloc(32),
      closeTime: header.closeTime,
      upgrades: [],
      ext:
        droppedSet === undefined
          ? xdr.StellarValueExt.stellarValueSigned(lcValueSignature)
          : xdr.StellarValueExt.stellarValueEmptyTxSet(
              new xdr.StellarValueProposedValue({
                txSetHash: droppedSet,
                previousLedgerHash: previousHash,
                previousLedgerVersion: PROTOCOL,
                lcValueSignature,
              }),
            ),
    }),
    txSetResultHash: randomBytes(32),
    bucketListHash: randomBytes(32),
    ledgerSeq: header.sequence,
    totalCoins: 500_018_068_120_000_000n,
    feePool: sums.feePool,
    inflationSeq: 0,
    idPool: sums.nextId,
    baseFee: Number(header.baseFee),
    baseReserve: Number(header.baseReserve),
    maxTxSetSize: sums.maxOperations,
    skipList: Array.from({ length: 4 }, () => new Uint8Array(32)),
    ext: xdr.LedgerHeaderExt.v0(),
  });
}

export const hashOf = (value: { toXdr(): Uint8Array }): Buffer => sha256(value.toXdr());

/** All data that a node reports on one ledger. */
export function closeMeta(closed: ClosedLedger): xdr.LedgerCloseMeta {
  return xdr.LedgerCloseMeta.v2(
    new xdr.LedgerCloseMetaV2({
      ext: xdr.LedgerCloseMetaExt.v0(),
      ledgerHeader: historyEntry(closed),
      txSet: closed.set,
      txProcessing: closed.landed.map(
        ({ frame, result, meta, feeChanges, refundChanges }) =>
          new xdr.TransactionResultMetaV1({
            ext: xdr.ExtensionPoint.v0(),
            result: new xdr.TransactionResultPair({ transactionHash: frame.hash, result }),
            feeProcessing: feeChanges.flatMap(changeXdr),
            txApplyProcessing: meta,
            postTxApplyFeeProcessing: refundChanges.flatMap(changeXdr),
          }),
      ),
      upgradesProcessing: [],
      scpInfo: [],
      totalByteSizeOfLiveSorobanState: 0n,
      evictedKeys: [],
    }),
  );
}

export function historyEntry({ hash, header }: ClosedLedger): xdr.LedgerHeaderHistoryEntry {
  return new xdr.LedgerHeaderHistoryEntry({ hash, header, ext: xdr.LedgerHeaderHistoryEntryExt.v0() });
}
