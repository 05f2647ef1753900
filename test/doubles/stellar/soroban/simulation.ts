import { xdr } from '@stellar/stellar-sdk';
import type { AccountId, Entry, Header } from '../ledger/entry.ts';
import { type Change, type Reader, State } from '../ledger/state.ts';
import type { AuthMode } from './authorization.ts';
import { wordedFailure } from './contract-events.ts';
import { contractOf } from './contracts/registry.ts';
import { diskReadsOf, isContracts } from './declared.ts';
import { Host } from './host.ts';
import { HostError } from './host-error.ts';
import { eventsFee, nonRefundableFee, rentFee } from './resource-fee.ts';
import { SETTINGS } from './settings.ts';
import { type Footprint, isOver, nameOf, Storage, sizeOf } from './storage.ts';

export interface Asked {
  readonly state: Reader;
  readonly header: Header;
  readonly networkId: Buffer;
  readonly source: AccountId;
  /** Instructions that are added to the result. */
  readonly leeway: number;
}

export interface Simulated {
  readonly data: xdr.SorobanTransactionData;
  readonly auth: readonly xdr.SorobanAuthorizationEntry[];
  readonly returnValue: xdr.ScVal | undefined;
  readonly diagnostics: readonly xdr.DiagnosticEvent[];
  readonly changes: readonly Change[];
}

export interface Failed {
  readonly error: string;
  readonly diagnostics: readonly xdr.DiagnosticEvent[];
}

/** The most bytes of an envelope without its operation and footprint. */
const ENVELOPE_BYTES = 1900;

/**
 * Runs a host function on the state of a ledger. Records the entries that it uses, and discards its changes:
 * soroban-simulation.
 */
export function simulateInvocation(asked: Asked, op: xdr.InvokeHostFunctionOp, auth: AuthMode): Simulated | Failed {
  const state = new State(asked.state, asked.header.sequence);
  const storage = new Storage(state, { kind: 'recording' });
  const host = new Host({ contractOf, ...asked, storage, auth });
  try {
    const returnValue = host.perform(op.hostFunction);
    const entries = auth.kind === 'recording' ? host.authorization.recorded() : [...auth.entries];
    const { emittedEvents, diagnostics } = host.events;
    const bytes = emittedEvents.reduce((sum, event) => sum + event.toXdr().length, returnValue.toXdr().length);
    const body = xdr.OperationBody.invokeHostFunction(
      new xdr.InvokeHostFunctionOp({ hostFunction: op.hostFunction, auth: entries }),
    );
    const instructions = adjusted(host.instructions, 1.04, Math.max(50_000, asked.leeway));
    const data = dataOf(asked, state, storage.footprint(), instructions, body, eventsFee(bytes));
    return { data, auth: entries, returnValue, diagnostics, changes: state.changes() };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    host.events.failed(undefined, error);
    const { diagnostics } = host.events;
    return { error: wordedFailure(error, diagnostics), diagnostics };
  }
}

/** The resources for extending or restoring entries. Leaves out entries that do not need it. */
export function simulateFootprintLife(asked: Asked, body: xdr.OperationBody, given: Footprint): Simulated | Failed {
  const state = new State(asked.state, asked.header.sequence);
  const isRestore = body.type === 'restoreFootprint';
  const until =
    asked.header.sequence +
    (body.type === 'extendFootprintTtl' ? body.extendFootprintTtlOp.extendTo : SETTINGS.life.leastPersistent - 1);
  const touched: xdr.LedgerKey[] = [];
  for (const key of isRestore ? given.readWrite : given.readOnly) {
    const entry = asked.state.get(nameOf(key))?.entry;
    if (entry === undefined && isRestore) return failure(`Missing entry to restore for key ${nameOf(key)}`);
    if (entry === undefined || !('liveUntil' in entry)) continue;
    const isDead = isOver(entry, asked.header.sequence);
    if (isRestore ? !isDead : entry.liveUntil >= until) continue;
    if (isDead && !isRestore) {
      return failure("Can't extend for an expired entry. The entry must be restored before it can be extended.");
    }
    touched.push(key);
    state.put({ ...entry, liveUntil: until });
  }
  const footprint = { readOnly: isRestore ? [] : touched, readWrite: isRestore ? touched : [], archived: [] };
  const data = dataOf(asked, state, footprint, 0, body, 0n);
  return { data, auth: [], returnValue: undefined, diagnostics: [], changes: [] };
}

const failure = (error: string): Failed => ({ error, diagnostics: [] });

function dataOf(
  { state: before, header }: Asked,
  state: State,
  { readOnly, readWrite, archived }: Footprint,
  instructions: number,
  body: xdr.OperationBody,
  events: bigint,
): xdr.SorobanTransactionData {
  const isRestore = body.type === 'restoreFootprint';
  const onDisk = [...readOnly, ...readWrite].filter((key, _index) => !isContracts(key) || isRestore);
  const restored = readWrite.filter((_, index) => archived.includes(index));
  const diskReadBytes = bytesOf([...onDisk, ...restored], before);
  const writeBytes = bytesOf(readWrite, state);
  const footprint = new xdr.LedgerFootprint({ readOnly: [...readOnly], readWrite: [...readWrite] });
  const transactionBytes = ENVELOPE_BYTES + body.toXdr().length + footprint.toXdr().length + 4 * archived.length;
  const fee = nonRefundableFee({
    instructions,
    diskReadEntries: isRestore ? readWrite.length : diskReadsOf({ readOnly, readWrite, archived }),
    writeEntries: readWrite.length,
    diskReadBytes,
    writeBytes,
    transactionBytes: adjusted(transactionBytes, 1.1, 500),
  });
  const refundable = events + rentFee(state.changes(), header.sequence);
  return new xdr.SorobanTransactionData({
    ext:
      archived.length === 0
        ? xdr.SorobanTransactionDataExt.v0()
        : xdr.SorobanTransactionDataExt.resourceExt(
            new xdr.SorobanResourcesExtV0({ archivedSorobanEntries: [...archived] }),
          ),
    resources: new xdr.SorobanResources({ footprint, instructions, diskReadBytes, writeBytes }),
    // A reserve of 15%, which is refunded.
    resourceFee: fee + (refundable * 115n) / 100n,
  });
}

function bytesOf(keys: readonly xdr.LedgerKey[], state: Reader): number {
  return keys.reduce((sum, key) => {
    const stored = state.get(nameOf(key));
    return sum + (stored === undefined ? 0 : sizeOf(asUsed(stored.entry)));
  }, 0);
}

/** Makes an account as large as one that has sent a transaction. Accounts that are read here will have sent one. */
function asUsed(entry: Entry): Entry {
  return entry.kind === 'account' && entry.sequenceLedger === 0 ? { ...entry, sequenceLedger: 1 } : entry;
}

const adjusted = (amount: number, factor: number, least: number): number =>
  Math.max(Math.floor(amount * factor), amount + least);
