import { newAccount } from '../ledger/account.ts';
import type { AccountEntry, AccountId, Entry, Header, Kind } from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { accountIn, type Change, type Reader, State, type Stored } from '../ledger/state.ts';
import { declaredResources } from '../soroban/declared.ts';
import { Meter } from '../soroban/meter.ts';
import { nonRefundableFee } from '../soroban/resource-fee.ts';
import { type Applied, applyTransaction } from '../transactions/apply.ts';
import { chargedFee } from '../transactions/fee.ts';
import { type Frame, networkIdOf } from '../transactions/frame.ts';
import { metaOf } from '../transactions/meta.ts';
import { Outcome } from '../transactions/outcome.ts';
import type { Phase } from './candidate-set.ts';
import { type ClosedLedger, candidateSet, hashOf, headerXdr, type Landed } from './closed-ledger.ts';

interface Version {
  readonly ledger: number;
  readonly stored: Stored | undefined;
}

/** The number of past ledgers that a node may see. */
const KEPT = 64;

/** All entries in the state of each of the last ledgers, for nodes that are behind. */
class History {
  readonly #versions = new Map<string, Version[]>();
  readonly #kinds = new Map<Kind, Set<string>>();

  record(ledger: number, changes: readonly Change[]): void {
    for (const { key, after } of changes) {
      const versions = this.#versions.get(key) ?? [];
      versions.push({ ledger, stored: after });
      this.#versions.set(key, versions);
      if (after !== undefined) this.#enlist(after.entry.kind, key);
      const keep = versions.findLastIndex((version) => version.ledger <= ledger - KEPT);
      if (keep > 0) versions.splice(0, keep);
    }
  }

  /** Changes an entry in all ledgers at once, without a transaction. */
  edit(key: string, change: (entry: Entry | undefined) => Entry, ledger: number): void {
    const versions = this.#versions.get(key) ?? [];
    const known = versions.length === 0 ? [{ ledger: 0, stored: undefined }] : versions;
    const edited = known.map((version) => {
      const entry = change(version.stored?.entry);
      this.#enlist(entry.kind, key);
      return { ledger: version.ledger, stored: { entry, modified: version.stored?.modified ?? ledger } };
    });
    this.#versions.set(key, edited);
  }

  at(ledger: number): Reader {
    const get = (key: string) => this.#versions.get(key)?.findLast((version) => version.ledger <= ledger)?.stored;
    const kinds = this.#kinds;
    return {
      get,
      *all<K extends Kind>(kind: K): Iterable<Extract<Entry, { kind: K }>> {
        for (const key of kinds.get(kind) ?? []) {
          const stored = get(key);
          if (stored !== undefined) yield stored.entry as Extract<Entry, { kind: K }>;
        }
      },
    };
  }

  #enlist(kind: Kind, key: string): void {
    const known = this.#kinds.get(kind) ?? new Set();
    this.#kinds.set(kind, known.add(key));
  }
}

/** The number of ledgers before the first transaction, for nodes that are behind, and the seconds between them. */
const EARLIER = 16;
const SECONDS = 5n;

export interface LedgerRules {
  readonly passphrase: string;
  readonly baseFee: bigint;
  readonly baseReserve: bigint;
  readonly firstLedger: number;
  readonly maxOperations: number;
}

/** The chain of closed ledgers, with the state after the last one. */
export class Ledger {
  readonly networkId: Buffer;
  readonly history = new History();
  /** Every transaction on the chain, by its hash and by the hash of a fee bump's inner transaction. */
  readonly landed = new Map<string, Landed>();
  readonly rules: LedgerRules;
  readonly #closed: ClosedLedger[] = [];
  #feePool = 0n;
  #nextId = 0n;

  constructor(rules: LedgerRules, time: bigint) {
    this.rules = rules;
    this.networkId = networkIdOf(rules.passphrase);
    for (let past = EARLIER; past >= 0; past -= 1) this.close([], time - SECONDS * BigInt(past));
  }

  get latest(): ClosedLedger {
    return this.#closed.at(-1) as ClosedLedger;
  }

  get first(): ClosedLedger {
    return this.#closed[0] as ClosedLedger;
  }

  /** The ledger with this number; undefined if it is not on the chain, or not yet. */
  at(sequence: number): ClosedLedger | undefined {
    return this.#closed[sequence - this.first.sequence];
  }

  /**
   * Closes the next ledger: classic transactions first, then those of contracts.
   * @param dropped the transactions that validators have voted to leave out (CAP-83); then there are no others
   */
  close(phases: readonly Phase[], time: bigint, dropped?: readonly Phase[]): ClosedLedger {
    const { baseFee, baseReserve, firstLedger, maxOperations } = this.rules;
    const previous = this.#closed.at(-1);
    const sequence = previous === undefined ? firstLedger : previous.sequence + 1;
    const header: Header = { sequence, closeTime: time, baseFee, baseReserve };
    const previousHash = previous?.hash ?? '00'.repeat(32);
    const set = candidateSet(previousHash, phases);
    const state = new State(this.history.at(sequence - 1), sequence);
    const landed: Landed[] = [];
    const [classic, soroban] = phases.map((phase) => phase.baseFee);
    const open: Omit<ClosedLedger, 'hash' | 'header'> = {
      ...header,
      set,
      landed,
      charged: { classic: classic ?? baseFee, soroban: soroban ?? baseFee },
      maxOperations,
    };
    const ledger = open as ClosedLedger;
    this.#apply(ledger, phases, state);
    const sums = { feePool: this.#feePool, nextId: this.#nextId, maxOperations };
    const droppedSet = dropped === undefined ? undefined : hashOf(candidateSet(previousHash, dropped));
    const told = headerXdr(header, previousHash, hashOf(set), sums, droppedSet);
    Object.assign(ledger, { header: told, hash: hashOf(told).toString('hex') });
    this.history.record(sequence, state.changes());
    this.#closed.push(ledger);
    return ledger;
  }

  /** Takes all fees before it applies the first transaction. */
  #apply(ledger: ClosedLedger, phases: readonly Phase[], state: State): void {
    const setHash = hashOf(ledger.set);
    const inOrder = phases.flatMap(({ frames, baseFee }) =>
      shuffled(frames, setHash).map((frame) => ({ frame, baseFee })),
    );
    const paid = inOrder.map(({ frame, baseFee }) => {
      const own = state.above();
      const fee = this.#takeFee(frame, own, baseFee);
      const feeChanges = own.changes();
      state.take(own);
      return { frame, outcome: new Outcome(frame, fee), feeChanges };
    });
    const highest = new Map<AccountId, bigint>(inOrder.map(({ frame }) => [frame.source, frame.sequence]));
    const applied = paid.map((one) => {
      const meter = meterOf(one.frame);
      const surroundings = {
        meter,
        networkId: this.networkId,
        nextId: () => (this.#nextId += 1n),
        sequenceInLedger: (account: AccountId) => highest.get(account) ?? 0n,
      };
      return { ...one, meter, applied: applyTransaction(one.frame, state, ledger, one.outcome, surroundings) };
    });
    for (const [index, one] of applied.entries()) this.#land({ ...one, ledger, order: index + 1 }, state);
  }

  /** Records a transaction. Unused fees of contracts are refunded after all transactions have been applied. */
  #land({ frame, ledger, order, outcome, feeChanges, meter, applied }: Landing, state: State): void {
    const taken = outcome.feeCharged;
    if (!outcome.isSuccess) meter.reset();
    const payer = accountIn(state, frame.feeSource);
    const own = state.above();
    if (meter.refund > 0n && payer !== undefined) {
      own.put({ ...payer, balance: payer.balance + meter.refund });
      this.#feePool -= meter.refund;
      outcome.feeCharged -= meter.refund;
    }
    const refundChanges = own.changes();
    state.take(own);
    const landed: Landed = {
      frame,
      ledger,
      order,
      isSuccessful: outcome.isSuccess,
      feeCharged: outcome.feeCharged,
      result: outcome.toXdr(),
      meta: metaOf(frame, applied, meter, { passphrase: this.rules.passphrase, taken, charged: outcome.feeCharged }),
      feeChanges,
      refundChanges,
      meter,
    };
    ledger.landed.push(landed);
    this.landed.set(frame.hash, landed);
    this.landed.set(frame.inner.hash, landed);
  }

  /** Takes a transaction's fee, or the whole balance if it is lower. */
  #takeFee(frame: Frame, state: State, baseFee: bigint): bigint {
    const payer = accountIn(state, frame.feeSource);
    if (payer === undefined) throw new Error(`The payer ${frame.feeSource} is gone.`);
    const due = chargedFee(frame, baseFee);
    const fee = due < payer.balance ? due : payer.balance;
    state.put({ ...payer, balance: payer.balance - fee });
    this.#feePool += fee;
    return fee;
  }

  /** Changes entries in all ledgers at once, without a transaction. */
  arrange<T>(change: (state: State) => T): T {
    const { sequence } = this.latest;
    const state = new State(this.history.at(sequence), sequence);
    const result = change(state);
    for (const { key, after } of state.changes()) {
      if (after !== undefined) this.history.edit(key, () => after.entry, sequence);
    }
    return result;
  }

  /**
   * Adds an amount to an account, or creates it with that amount. Applies to all ledgers at once, without a
   * transaction.
   */
  fund(id: AccountId, amount: bigint): void {
    const { sequence } = this.latest;
    this.history.edit(
      keys.account(id),
      (known) => {
        const account = known as AccountEntry | undefined;
        if (account === undefined) return newAccount(id, amount, sequence);
        return { ...account, balance: account.balance + amount };
      },
      sequence,
    );
  }
}

interface Landing {
  readonly frame: Frame;
  readonly ledger: ClosedLedger;
  readonly order: number;
  readonly outcome: Outcome;
  readonly feeChanges: readonly Change[];
  readonly meter: Meter;
  readonly applied: Applied;
}

function meterOf({ inner }: Frame): Meter {
  const data = inner.isSoroban ? inner.sorobanData : undefined;
  if (data === undefined) return new Meter(0n, 0n);
  return new Meter(data.resourceFee, nonRefundableFee(declaredResources(inner, data)));
}

/** Shuffles transactions, because their order in a ledger depends neither on their arrival nor on their bids. */
function shuffled(frames: readonly Frame[], setHash: Buffer): Frame[] {
  const place = ({ fullHash }: Frame) =>
    Buffer.from(fullHash, 'hex').map((byte, index) => byte ^ (setHash[index] ?? 0));
  return [...frames].sort((one, other) => Buffer.compare(place(one), place(other)));
}
