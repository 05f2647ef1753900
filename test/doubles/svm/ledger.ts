import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { AccountVersions } from './account-versions.ts';
import { toBase58 } from './base58.ts';
import { type Block, Blocks, type Depths } from './blocks.ts';
import { durableNonce, nonceOf, nonceUseOf, withNonce } from './durable-nonce.ts';
import { feeOf } from './fee.ts';
import type { NativeAccount } from './native.ts';
import { keyBytes, type Outcome, Runtime, type Simulated, SYSTEM } from './runtime.ts';
import { type TokenBalance, tokenBalances } from './token-account.ts';
import type { TransactionError } from './transaction-error.ts';
import { isSigned, isWritable, readTransaction, type WireMessage, type WireTransaction } from './wire-transaction.ts';

/**
 * Every account of a message in the order of indexes: its own accounts, writable ones from tables, readonly ones from
 * tables.
 */
interface MessageKeys {
  all: string[];
  writable: boolean[];
  loaded: { writable: string[]; readonly: string[] };
}

const TABLE_HEAD = 56;

/** Resolves lookup tables. Leaves out entries that a table does not have; then the runtime refuses the transaction. */
function keysOf(message: WireMessage, read: (key: string) => NativeAccount | null): MessageKeys {
  const loaded = { writable: [] as string[], readonly: [] as string[] };
  for (const lookup of message.lookups) {
    const addresses = addressesIn(read(lookup.table));
    loaded.writable.push(...lookup.writable.flatMap((index) => addresses[index] ?? []));
    loaded.readonly.push(...lookup.readonly.flatMap((index) => addresses[index] ?? []));
  }
  return {
    all: [...message.keys, ...loaded.writable, ...loaded.readonly],
    writable: [
      ...message.keys.map((_, index) => isWritable(message, index)),
      ...loaded.writable.map(() => true),
      ...loaded.readonly.map(() => false),
    ],
    loaded,
  };
}

function addressesIn(table: NativeAccount | null): string[] {
  const data = table?.data() ?? new Uint8Array();
  const count = Math.max(Math.floor((data.length - TABLE_HEAD) / 32), 0);
  return Array.from({ length: count }, (_, index) => {
    const at = TABLE_HEAD + index * 32;
    return toBase58(data.subarray(at, at + 32));
  });
}

const TRANSFER = 2;

const RICHES = 10n ** 18n;

/** The parts of the chain that the faucet uses. */
interface Funded {
  readonly blocks: { readonly newest: { readonly hash: string } };
  fund(key: string, lamports: bigint): void;
}

/** The account behind `requestAirdrop`: it pays with transactions like any other. */
class Faucet {
  readonly #chain: Funded;
  readonly #pair = generateKeyPairSync('ed25519');
  readonly #key = this.#pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  /** Makes each transaction different. */
  #paid = 0n;

  constructor(chain: Funded) {
    this.#chain = chain;
    chain.fund(toBase58(this.#key), RICHES);
  }

  /** Makes a signed transfer, without sending it. */
  transfer(to: string, lamports: bigint): WireTransaction {
    this.#paid += 1n;
    const { hash } = this.#chain.blocks.newest;
    const keys = [this.#key, keyBytes(to), keyBytes(SYSTEM), keyBytes('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo')];
    const data = Buffer.alloc(12);
    data.writeUInt32LE(TRANSFER);
    data.writeBigUInt64LE(lamports, 4);
    const memo = Buffer.from(String(this.#paid));
    const message = Buffer.concat([
      Buffer.from([1, 0, 2, keys.length]),
      ...keys,
      keyBytes(hash),
      Buffer.from([2, 2, 2, 0, 1, data.length]),
      data,
      Buffer.from([3, 0, memo.length]),
      memo,
    ]);
    const signature = sign(null, message, this.#pair.privateKey);
    return readTransaction(Buffer.concat([Buffer.from([1]), signature, message]));
  }
}

/** A transaction that is in a block. */
export interface Landed {
  transaction: WireTransaction;
  block: { slot: number; height: number; time: number };
  outcome: Outcome;
  keys: MessageKeys;
  fee: bigint;
  before: Balances;
  after: Balances;
}

/** Balances by the index of the account. */
interface Balances {
  lamports: bigint[];
  tokens: TokenBalance[];
}

interface Waiting {
  transaction: WireTransaction;
  /** The first block that may take it. */
  height: number;
}

type Read = (key: string) => NativeAccount | null;

/** The number of hashes in the sysvar. */
const SLOT_HASHES = 512;

/**
 * Errors of transactions that cannot be loaded and are charged all the same (SIMD-0191). The runtime leaves the
 * charging to its callers.
 */
const FEES_ONLY = new Set([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
]);

/** A chain of one node: accepted transactions wait for the next block, which executes them in the order of arrival. */
export class Ledger {
  readonly runtime = new Runtime();
  readonly blocks: Blocks;
  readonly accounts = new AccountVersions(this.runtime);
  /** Every transaction on the chain, by signature. */
  readonly landed = new Map<string, Landed>();
  readonly genesis = toBase58(randomBytes(32));
  /**
   * The fees that `getRecentPrioritizationFees` reports for every slot, in micro-lamports a unit: for an account, or in
   * general.
   */
  readonly prioritizationFees = new Map<string | undefined, number>();
  readonly #faucet: Faucet;
  readonly #signed = new WeakSet<WireTransaction>();
  #waiting: Waiting[] = [];
  #drops = 0;
  #delay = 0;
  #hashedAt: Block | undefined;

  constructor(depths: Depths) {
    this.blocks = new Blocks(this.runtime.slot, depths);
    this.runtime.setTime(this.blocks.nextSlot, seconds());
    this.#faucet = new Faucet(this);
  }

  /** Sends a transfer from the faucet; resolves with its signature. */
  requestAirdrop(key: string, lamports: bigint): string {
    const transaction = this.#faucet.transfer(key, lamports);
    this.accept(transaction);
    return transaction.signature;
  }

  /** Makes the next accepted transactions never reach a block. */
  dropNext(count: number): void {
    this.#drops = count;
  }

  /** Delays later transactions by that many blocks. */
  delay(blocks: number): void {
    this.#delay = blocks;
  }

  accept(transaction: WireTransaction): void {
    if (this.#drops > 0) {
      this.#drops -= 1;
      return;
    }
    if (this.#waiting.some((one) => one.transaction.signature === transaction.signature)) return;
    this.#waiting.push({ transaction, height: this.blocks.newest.height + 1 + this.#delay });
  }

  /** Makes the next block from all waiting transactions. */
  tick(): Block {
    const height = this.blocks.newest.height + 1;
    this.runtime.setTime(this.blocks.nextSlot, seconds());
    const due = this.#waiting.filter((one) => one.height <= height);
    this.#waiting = this.#waiting.filter((one) => one.height > height);
    const signatures = due.filter(({ transaction }) => this.#land(transaction, height));
    const block = this.blocks.add(signatures.map(({ transaction }) => transaction.signature));
    this.accounts.prune(this.blocks.at('finalized', SLOT_HASHES).height);
    return block;
  }

  #land(transaction: WireTransaction, height: number): boolean {
    const parent = this.blocks.newest;
    const read: Read = (key) => this.runtime.read(key);
    if (this.admission(transaction, parent, read) !== null || !this.isSigned(transaction)) return false;
    const keys = keysOf(transaction.message, read);
    for (const [index, key] of keys.all.entries()) if (keys.writable[index] === true) this.accounts.keep(key, height);
    this.#provideSlotHashes();
    const before = this.#balances(keys);
    const earlier = keys.all.map(read);
    const outcome = this.runtime.execute(transaction.bytes);
    if (outcome.err !== null && !this.#isCharged(transaction, before, outcome.err)) return false;
    for (const [index, key] of keys.all.entries()) {
      const account = this.runtime.read(key);
      const corrected = account && this.#withNetworkNonce(account, earlier[index] ?? null, durableNonce(parent.hash));
      if (corrected !== account) this.runtime.write(key, corrected);
    }
    if (outcome.err !== null) this.#advanceNonce(transaction.message, durableNonce(parent.hash));
    const block = { slot: this.blocks.nextSlot, height, time: seconds() };
    const fee = feeOf(transaction.message);
    const after = this.#balances(keys);
    this.landed.set(transaction.signature, { transaction, block, outcome, keys, fee, before, after });
    return true;
  }

  /** Whether a failed transaction has paid its fee. If it cannot pay, it gets into no block. */
  #isCharged({ message }: WireTransaction, before: Balances, err: TransactionError): boolean {
    const payer = String(message.keys[0]);
    const account = this.runtime.read(payer);
    const [lamports = 0n] = before.lamports;
    if ((account?.lamports() ?? 0n) < lamports) return true;
    if (account === null || !FEES_ONLY.has(String(err)) || lamports < feeOf(message)) return false;
    const owner = toBase58(account.owner());
    this.runtime.write(payer, this.runtime.account(lamports - feeOf(message), account.data(), owner));
    return true;
  }

  /**
   * Corrects the new nonce: the runtime derives it from the transaction's own blockhash, the network from the parent
   * block's.
   */
  #withNetworkNonce(account: NativeAccount, earlier: NativeAccount | null, value: string): NativeAccount {
    const nonce = nonceOf(account);
    const isKept = nonce === undefined || nonce.value === nonceOf(earlier)?.value;
    return isKept ? account : this.#withNonce(account, value);
  }

  /** Advances the nonce of a failed transaction, which is used up all the same. */
  #advanceNonce(message: WireMessage, value: string): void {
    const key = nonceUseOf(message)?.account;
    const account = key === undefined ? null : this.runtime.read(key);
    if (key === undefined || account === null || nonceOf(account)?.value !== message.blockhash) return;
    this.runtime.write(key, this.#withNonce(account, value));
  }

  #withNonce(account: NativeAccount, value: string): NativeAccount {
    return this.runtime.account(account.lamports(), withNonce(account, value), SYSTEM);
  }

  /** Why the child of a block would not take a transaction: it is known already, or its blockhash is not valid. */
  admission(transaction: WireTransaction, above: Block, read?: Read): TransactionError | null {
    const known = this.landed.get(transaction.signature);
    if (known !== undefined && known.block.height <= above.height) return 'AlreadyProcessed';
    return this.isAlive(transaction.message, above, read) ? null : 'BlockhashNotFound';
  }

  /** Whether the child of a block accepts a message's blockhash: a recent one or a stored nonce. */
  isAlive(message: WireMessage, above: Block, read: Read = (key) => this.accounts.at(key, above.height)): boolean {
    if (this.blocks.isAlive(message.blockhash, above)) return true;
    const use = nonceUseOf(message);
    const nonce = use === undefined ? undefined : nonceOf(read(use.account));
    const isStored = nonce?.value === message.blockhash && durableNonce(above.hash) !== message.blockhash;
    return isStored && use?.signers.includes(nonce.authority) === true;
  }

  /** Executes without effect, on the accounts as they were after a block. */
  simulate(transaction: WireTransaction, after: Block): Simulated {
    const { all } = keysOf(transaction.message, (key) => this.accounts.at(key, after.height));
    this.#provideSlotHashes();
    const touched = [...all, ...transaction.message.lookups.map(({ table }) => table)];
    return this.accounts.during(touched, after.height, () => {
      const result = this.runtime.simulate(transaction.bytes);
      for (const [key, account] of result.accounts) {
        result.accounts.set(key, this.#withNetworkNonce(account, this.runtime.read(key), durableNonce(after.hash)));
      }
      return result;
    });
  }

  isSigned(transaction: WireTransaction): boolean {
    if (this.#signed.has(transaction)) return true;
    const { keys, signers } = transaction.message;
    const isOne = isSigned(transaction, keys.slice(0, signers).map(keyBytes));
    if (isOne) this.#signed.add(transaction);
    return isOne;
  }

  /**
   * Removes the newest blocks as a losing fork. Slots go on, heights fall, and the blocks' effects are undone.
   * @param again whether their transactions wait for the next block, as when a node offers them again
   */
  fork(count: number, again: boolean): void {
    const { removable } = this.blocks;
    if (count > removable) throw new Error(`Final blocks stay: ${removable} can be taken away, not ${count}.`);
    const lost = this.blocks.removeNewest(count).flatMap(({ signatures }) => signatures);
    this.accounts.rollBack(this.blocks.newest.height);
    const transactions = lost.flatMap((signature) => this.landed.get(signature)?.transaction ?? []);
    for (const signature of lost) this.landed.delete(signature);
    if (again) for (const transaction of transactions) this.accept(transaction);
    this.tick();
  }

  /** Writes an account at every commitment at once, past all transactions. */
  write(key: string, account: NativeAccount): void {
    this.accounts.edit(key, () => account);
  }

  /** Adds lamports at every commitment at once, past all transactions. */
  fund(key: string, lamports: bigint): void {
    this.accounts.edit(key, (known) => {
      const owner = known === null ? SYSTEM : toBase58(known.owner());
      return this.runtime.account((known?.lamports() ?? 0n) + lamports, known?.data() ?? new Uint8Array(), owner);
    });
  }

  /** Writes the sysvar of slot hashes, which programs read and the runtime does not update. */
  #provideSlotHashes(): void {
    if (this.#hashedAt === this.blocks.newest) return;
    this.#hashedAt = this.blocks.newest;
    const latest = this.blocks.latest(SLOT_HASHES);
    this.runtime.setSlotHashes(latest.map(({ slot, hash }) => ({ slot: BigInt(slot), hash })));
  }

  #balances({ all }: MessageKeys): Balances {
    const read = (key: string) => this.runtime.read(key);
    return { lamports: all.map((key) => read(key)?.lamports() ?? 0n), tokens: tokenBalances(all, read) };
  }
}

const seconds = () => Math.floor(Date.now() / 1000);
