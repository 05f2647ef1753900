import { xdr } from '@stellar/stellar-sdk';
import { isAssetValid } from '../ledger/asset.ts';
import { contractOf } from '../soroban/contracts/registry.ts';
import { declaredFootprint, isContracts } from '../soroban/declared.ts';
import { Host } from '../soroban/host.ts';
import { HostError } from '../soroban/host-error.ts';
import { eventsFee, rentFee } from '../soroban/resource-fee.ts';
import { SETTINGS } from '../soroban/settings.ts';
import { type Footprint, isOver, nameOf, Storage, sizeOf } from '../soroban/storage.ts';
import { sha256 } from '../transactions/frame.ts';
import { type Acting, type Operation, told } from './operation.ts';

const Result = xdr.InvokeHostFunctionResult;
const tell = (result: xdr.InvokeHostFunctionResult) => told(xdr.OperationResultTr.invokeHostFunction(result));

/** stellar-core's `InvokeHostFunctionOpFrame`. */
export function invokeHostFunction(op: xdr.InvokeHostFunctionOp): Operation {
  return {
    threshold: 'medium',
    check() {
      const { hostFunction } = op;
      if (hostFunction.type !== 'hostFunctionTypeCreateContract') return undefined;
      const preimage = hostFunction.createContract.contractIdPreimage;
      const isBad = preimage.type === 'contractIdPreimageFromAsset' && !isAssetValid(preimage.fromAsset);
      return isBad ? tell(Result.invokeHostFunctionMalformed()) : undefined;
    },
    apply(acting) {
      const { transaction, state } = acting;
      const data = transaction.sorobanData;
      if (data === undefined) throw new Error('A contract’s transaction came without its resources.');
      const footprint = declaredFootprint(data);
      if (isArchived(acting, footprint)) return tell(Result.invokeHostFunctionEntryArchived());
      if (diskBytes(acting, footprint) > data.resources.diskReadBytes) {
        return tell(Result.invokeHostFunctionResourceLimitExceeded());
      }
      const storage = new Storage(state, { kind: 'enforcing', footprint });
      const result = run(acting, op, storage, data.resources.instructions);
      if (result === 'trapped') return tell(Result.invokeHostFunctionTrapped());
      if (result === 'limit' || writtenBytes(acting, footprint) > data.resources.writeBytes) {
        return tell(Result.invokeHostFunctionResourceLimitExceeded());
      }
      return finish(acting, result);
    },
  };
}

interface Ran {
  readonly returnValue: xdr.ScVal;
  readonly events: readonly xdr.ContractEvent[];
}

function run(acting: Acting, op: xdr.InvokeHostFunctionOp, storage: Storage, most: number): Ran | 'trapped' | 'limit' {
  const { header, networkId, source, meter } = acting;
  const host = new Host({
    contractOf,
    storage,
    header,
    networkId,
    source,
    auth: { kind: 'enforcing', entries: op.auth },
  });
  try {
    const returnValue = host.perform(op.hostFunction);
    meter.diagnostics = host.events.diagnostics;
    return host.instructions > most ? 'limit' : { returnValue, events: host.events.emittedEvents };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    host.events.failed(undefined, error);
    meter.diagnostics = host.events.diagnostics;
    return host.instructions > most ? 'limit' : 'trapped';
  }
}

function finish({ state, header, meter }: Acting, { returnValue, events }: Ran): xdr.OperationResult {
  const bytes = events.reduce((sum, event) => sum + event.toXdr().length, returnValue.toXdr().length);
  if (bytes > SETTINGS.most.eventBytes) return tell(Result.invokeHostFunctionResourceLimitExceeded());
  if (!meter.consume(rentFee(state.changes(), header.sequence), eventsFee(bytes))) {
    return tell(Result.invokeHostFunctionInsufficientRefundableFee());
  }
  meter.returnValue = returnValue;
  meter.events = events;
  const preimage = new xdr.InvokeHostFunctionSuccessPreImage({ returnValue, events: [...events] });
  return tell(Result.invokeHostFunctionSuccess(sha256(preimage.toXdr())));
}

/** Whether the footprint has an expired persistent entry that is not declared for restoring. */
function isArchived({ state, header }: Acting, { readOnly, readWrite, archived }: Footprint): boolean {
  const isDead = (key: xdr.LedgerKey) => {
    const entry = state.get(nameOf(key))?.entry;
    if (entry === undefined || !isOver(entry, header.sequence)) return false;
    return entry.kind === 'contract-code' || (entry.kind === 'contract-data' && entry.durability === 'persistent');
  };
  return readOnly.some(isDead) || readWrite.some((key, index) => !archived.includes(index) && isDead(key));
}

function diskBytes({ state }: Acting, { readOnly, readWrite, archived }: Footprint): number {
  const onDisk = [...readOnly, ...readWrite].filter((key) => !isContracts(key));
  const restored = readWrite.filter((_, index) => archived.includes(index));
  return sizeOfAll([...onDisk, ...restored], state);
}

/** Counts all entries that may be written, even if they were not. */
function writtenBytes({ state }: Acting, { readWrite }: Footprint): number {
  return sizeOfAll(readWrite, state);
}

function sizeOfAll(all: readonly xdr.LedgerKey[], state: Acting['state']): number {
  return all.reduce((sum, key) => {
    const stored = state.get(nameOf(key));
    return sum + (stored === undefined ? 0 : sizeOf(stored.entry));
  }, 0);
}
