import type { CurrentAccounts } from './account-versions.ts';
import { fromBase58, toBase58 } from './base58.ts';
import { loadNative, type NativeAccount, type NativeFailure, type NativeMeta, type NativeVm } from './native.ts';
import { errorOf, type TransactionError } from './transaction-error.ts';

export const SYSTEM = '1'.repeat(32);

export interface Inner {
  index: number;
  instructions: { programIdIndex: number; accounts: number[]; data: string; stackHeight: number }[];
}

/** The result of executing or simulating a transaction. */
export interface Outcome {
  err: TransactionError | null;
  logs: string[];
  unitsConsumed: number;
  inner: Inner[];
  returnData: { programId: string; data: [string, 'base64'] } | null;
}

export interface Simulated extends Outcome {
  /** The accounts after the transaction; empty if it failed. */
  accounts: Map<string, NativeAccount>;
}

/** Agave's runtime. The ledger, not the runtime, checks blockhashes, signatures and repeated transactions. */
export class Runtime implements CurrentAccounts {
  readonly #native = loadNative();
  readonly #vm: NativeVm = new this.#native.LiteSvm();

  constructor() {
    this.#vm.setSigverify(false);
    this.#vm.setBlockhashCheck(false);
    this.#vm.setTransactionHistory(0n);
    this.#vm.withNativeMints();
  }

  /** The first slot. At it all features of the runtime are active. */
  get slot(): number {
    return Number(this.#vm.getClock().slot);
  }

  setTime(slot: number, seconds: number): void {
    const clock = this.#vm.getClock();
    clock.slot = BigInt(slot);
    clock.unixTimestamp = BigInt(seconds);
    this.#vm.setClock(clock);
  }

  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void {
    this.#vm.setSlotHashes(hashes);
  }

  rentFor(size: number): bigint {
    return this.#vm.minimumBalanceForRentExemption(BigInt(size));
  }

  read(key: string): NativeAccount | null {
    return this.#vm.getAccount(keyBytes(key));
  }

  write(key: string, account: NativeAccount | null): void {
    this.#vm.setAccount(keyBytes(key), account ?? this.account(0n, new Uint8Array(), SYSTEM));
  }

  account(lamports: bigint, data: Uint8Array, owner: string, executable = false): NativeAccount {
    return new this.#native.Account(lamports, data, keyBytes(owner), executable, 2n ** 64n - 1n);
  }

  addProgram(key: string, bytes: Uint8Array): void {
    this.#vm.addProgram(keyBytes(key), bytes);
  }

  ownedBy(program: string): string[] {
    return this.#vm.getProgramAccounts(keyBytes(program)).map(({ address }) => toBase58(address));
  }

  execute(bytes: Uint8Array): Outcome {
    const result = this.#vm.sendVersionedTransaction(bytes);
    return 'err' in result ? failure(result) : { err: null, ...metaOf(result) };
  }

  simulate(bytes: Uint8Array): Simulated {
    const result = this.#vm.simulateVersionedTransaction(bytes);
    if ('err' in result) return { ...failure(result), accounts: new Map() };
    const after = result.postAccounts().map((one) => [toBase58(one.address), one.account()] as const);
    return { err: null, ...metaOf(result.meta()), accounts: new Map(after) };
  }
}

/** @throws Error for what is no key */
export function keyBytes(key: string): Uint8Array {
  const bytes = fromBase58(key);
  if (bytes?.length !== 32) throw new Error(`${key} is not a key of 32 bytes in base58.`);
  return bytes;
}

function failure(result: NativeFailure): Outcome {
  return { err: errorOf(result.err()), ...metaOf(result.meta()) };
}

function metaOf(meta: NativeMeta): Omit<Outcome, 'err'> {
  const data = meta.returnData();
  const inner = meta.innerInstructions().map((instructions, index) => ({
    index,
    instructions: instructions.map((one) => ({
      programIdIndex: one.instruction().programIdIndex(),
      accounts: [...one.instruction().accounts()],
      data: toBase58(one.instruction().data()),
      stackHeight: one.stackHeight(),
    })),
  }));
  return {
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    inner: inner.filter(({ instructions }) => instructions.length > 0),
    returnData:
      data.data().length === 0
        ? null
        : { programId: toBase58(data.programId()), data: [Buffer.from(data.data()).toString('base64'), 'base64'] },
  };
}
