import { xdr } from '@stellar/stellar-sdk';
import type { Entry } from '../ledger/entry.ts';
import { declaredFootprint, isContracts } from '../soroban/declared.ts';
import { rentFee } from '../soroban/resource-fee.ts';
import { SETTINGS } from '../soroban/settings.ts';
import { isOver, nameOf, sizeOf } from '../soroban/storage.ts';
import type { TransactionFrame } from '../transactions/frame.ts';
import { type Acting, type Operation, told } from './operation.ts';

/** Extends the lifetime of the footprint's read-only entries. */
export function extendFootprintTtl(op: xdr.ExtendFootprintTtlOp): Operation {
  const Result = xdr.ExtendFootprintTtlResult;
  const tell = (result: xdr.ExtendFootprintTtlResult) => told(xdr.OperationResultTr.extendFootprintTtl(result));
  return {
    threshold: 'low',
    check(_source, transaction) {
      const { readOnly, readWrite } = footprintOf(transaction);
      const isGood = readWrite.length === 0 && readOnly.every(isContracts) && op.extendTo < SETTINGS.life.most;
      return isGood ? undefined : tell(Result.extendFootprintTtlMalformed());
    },
    apply(acting) {
      const { readOnly } = footprintOf(acting.transaction);
      const { state, header, meter } = acting;
      const until = header.sequence + op.extendTo;
      for (const entry of entriesAt(acting, readOnly)) {
        if (isOver(entry, header.sequence) || !('liveUntil' in entry) || entry.liveUntil >= until) continue;
        state.put({ ...entry, liveUntil: until });
      }
      const isPaid = meter.consume(rentFee(state.changes(), header.sequence), 0n);
      if (!isPaid) return tell(Result.extendFootprintTtlInsufficientRefundableFee());
      return tell(Result.extendFootprintTtlSuccess());
    },
  };
}

/** Restores archived entries in the footprint's read-write part. */
export function restoreFootprint(): Operation {
  const Result = xdr.RestoreFootprintResult;
  const tell = (result: xdr.RestoreFootprintResult) => told(xdr.OperationResultTr.restoreFootprint(result));
  return {
    threshold: 'low',
    check(_source, transaction) {
      const { readOnly, readWrite } = footprintOf(transaction);
      const isGood = readOnly.length === 0 && readWrite.every(isPersistent);
      return isGood ? undefined : tell(Result.restoreFootprintMalformed());
    },
    apply(acting) {
      const { readWrite } = footprintOf(acting.transaction);
      const { state, header, meter, transaction } = acting;
      const archived = entriesAt(acting, readWrite).filter((entry) => isOver(entry, header.sequence));
      const bytes = archived.reduce((sum, entry) => sum + sizeOf(entry), 0);
      const { diskReadBytes = 0, writeBytes = 0 } = transaction.sorobanData?.resources ?? {};
      if (bytes > diskReadBytes || bytes > writeBytes) return tell(Result.restoreFootprintResourceLimitExceeded());
      const liveUntil = header.sequence + SETTINGS.life.leastPersistent - 1;
      for (const entry of archived) state.put({ ...entry, liveUntil } as Entry);
      const isPaid = meter.consume(rentFee(state.changes(), header.sequence), 0n);
      if (!isPaid) return tell(Result.restoreFootprintInsufficientRefundableFee());
      return tell(Result.restoreFootprintSuccess());
    },
  };
}

function footprintOf(transaction: TransactionFrame) {
  const data = transaction.sorobanData;
  if (data === undefined) throw new Error('A contract’s transaction came without its resources.');
  return declaredFootprint(data);
}

function entriesAt({ state }: Acting, keys: readonly xdr.LedgerKey[]): Entry[] {
  return keys.flatMap((key) => state.get(nameOf(key))?.entry ?? []);
}

function isPersistent(key: xdr.LedgerKey): boolean {
  if (key.type === 'contractCode') return true;
  return key.type === 'contractData' && key.contractData.durability.name === 'persistent';
}
