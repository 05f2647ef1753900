import { createRequire } from 'node:module';

/** The parts of the native `litesvm` package (Agave's own runtime) that the server uses. Keys are 32 raw bytes. */
export interface NativeVm {
  setSigverify(on: boolean): void;
  setBlockhashCheck(on: boolean): void;
  setTransactionHistory(capacity: bigint): void;
  withNativeMints(): void;
  minimumBalanceForRentExemption(dataLength: bigint): bigint;
  getAccount(key: Uint8Array): NativeAccount | null;
  getProgramAccounts(program: Uint8Array): { address: Uint8Array; account(): NativeAccount }[];
  setAccount(key: Uint8Array, account: NativeAccount): void;
  addProgram(key: Uint8Array, bytes: Uint8Array): void;
  sendVersionedTransaction(bytes: Uint8Array): NativeMeta | NativeFailure;
  simulateVersionedTransaction(bytes: Uint8Array): NativeSimulation | NativeFailure;
  getClock(): NativeClock;
  setClock(clock: NativeClock): void;
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void;
}

export interface NativeAccount {
  lamports(): bigint;
  data(): Uint8Array;
  owner(): Uint8Array;
  executable(): boolean;
}

export interface NativeClock {
  slot: bigint;
  unixTimestamp: bigint;
}

export interface NativeMeta {
  logs(): string[];
  innerInstructions(): NativeInner[][];
  computeUnitsConsumed(): bigint;
  returnData(): { programId(): Uint8Array; data(): Uint8Array };
}

export interface NativeInner {
  instruction(): { programIdIndex(): number; accounts(): Uint8Array; data(): Uint8Array };
  stackHeight(): number;
}

export interface NativeSimulation {
  meta(): NativeMeta;
  postAccounts(): { address: Uint8Array; account(): NativeAccount }[];
}

export interface NativeFailure {
  err(): NativeError;
  meta(): NativeMeta;
}

/** An error. A number is an index in the runtime's list of errors without fields. */
export type NativeError = number | { index?: number; accountIndex?: number; err?(): NativeInstructionError };
export type NativeInstructionError = number | { code?: number; msg?: string };

interface NativePackage {
  LiteSvm: new () => NativeVm;
  Account: new (
    lamports: bigint,
    data: Uint8Array,
    owner: Uint8Array,
    executable: boolean,
    rentEpoch: bigint,
  ) => NativeAccount;
}

/**
 * Loads the native code. Only the server's own process may do so, because a panic in the native code ends the process.
 */
export function loadNative(): NativePackage {
  return createRequire(import.meta.url)(`litesvm-linux-${process.arch}-gnu`) as NativePackage;
}
