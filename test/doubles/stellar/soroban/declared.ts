import type { xdr } from '@stellar/stellar-sdk';
import type { TransactionFrame } from '../transactions/frame.ts';
import type { Resources } from './resource-fee.ts';
import type { Footprint } from './storage.ts';

/** The ledger entries that a contract's transaction declares. */
export function declaredFootprint({ resources, ext }: xdr.SorobanTransactionData): Footprint {
  const { readOnly, readWrite } = resources.footprint;
  return { readOnly, readWrite, archived: ext.type === 'resourceExt' ? ext.resourceExt.archivedSorobanEntries : [] };
}

/** The resources that a contract's transaction declares. */
export function declaredResources(frame: TransactionFrame, data: xdr.SorobanTransactionData): Resources {
  const footprint = declaredFootprint(data);
  const isRestore = frame.tx.operations[0]?.body.type === 'restoreFootprint';
  return {
    instructions: data.resources.instructions,
    diskReadEntries: isRestore ? footprint.readWrite.length : diskReadsOf(footprint),
    writeEntries: footprint.readWrite.length,
    diskReadBytes: data.resources.diskReadBytes,
    writeBytes: data.resources.writeBytes,
    transactionBytes: frame.envelope.toXdr().length,
  };
}

/**
 * The number of disk reads. Live entries of contracts are in memory. Others, and archived ones, are on disk (CAP-62).
 */
export function diskReadsOf({ readOnly, readWrite, archived }: Footprint): number {
  return [...readOnly, ...readWrite].filter((key) => !isContracts(key)).length + archived.length;
}

export const isContracts = ({ type }: xdr.LedgerKey): boolean => type === 'contractData' || type === 'contractCode';
