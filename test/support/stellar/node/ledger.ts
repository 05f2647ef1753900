import { newAccount } from '../ledger/account.ts';
import type { AccountEntry, AccountId, Header } from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { History } from '../ledger/history.ts';
import { accountIn, State } from '../ledger/state.ts';
import { applyTransaction } from '../transactions/apply.ts';
import { chargedFee } from '../transactions/fee.ts';
import { type Frame, networkIdOf } from '../transactions/frame.ts';
import { metaOf } from '../transactions/meta.ts';
import { Outcome } from '../transactions/outcome.ts';
import type { Phase } from './candidate-set.ts';
import { type ClosedLedger, candidateSet, hashOf, headerXdr, type Landed } from './closed-ledger.ts';

export interface LedgerRules {
  readonly passphrase: string;
  readonly baseFee: bigint;
  readonly baseReserve: bigint;
  readonly firstLedger: number;
  readonly maxOperations: number;
}

/** The chain of closed ledgers, with all that is in the last of them. */
export class Ledger {
  readonly networkId: Buffer;
  readonly history = new History();
  /** Every transaction on the chain, by its hash and by that of what a fee bump carries. */
  readonly landed = new Map<string, Landed>();
  readonly rules: LedgerRules;
  readonly #closed: ClosedLedger[] = [];
  #feePool = 0n;
  #nextId = 0n;

  constructor(rules: LedgerRules, time: bigint) {
    this.rules = rules;
    this.networkId = networkIdOf(rules.passphrase);
    this.close([], time);
  }

  get latest(): ClosedLedger {
    return this.#closed.at(-1) as ClosedLedger;
  }

  get first(): ClosedLedger {
    return this.#closed[0] as ClosedLedger;
  }

  /** Undefined for one that is not, or not yet, on the chain. */
  at(sequence: number): ClosedLedger | undefined {
    return this.#closed[sequence - this.first.sequence];
  }

  /** The next ledger, of classic transactions and then those of contracts. */
  close(phases: readonly Phase[], time: bigint): ClosedLedger {
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
    const told = headerXdr(header, previousHash, hashOf(set), sums);
    Object.assign(ledger, { header: told, hash: hashOf(told).toString('hex') });
    this.history.record(sequence, state.changes());
    this.#closed.push(ledger);
    return ledger;
  }

  /** All fees are taken before the first transaction is applied. */
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
    const surroundings = {
      nextId: () => (this.#nextId += 1n),
      sequenceInLedger: (account: AccountId) => highest.get(account) ?? 0n,
    };
    for (const [index, { frame, outcome, feeChanges }] of paid.entries()) {
      const applied = applyTransaction(frame, state, ledger, outcome, surroundings);
      const landed: Landed = {
        frame,
        ledger,
        order: index + 1,
        isSuccessful: outcome.isSuccess,
        feeCharged: outcome.feeCharged,
        result: outcome.toXdr(),
        meta: metaOf(applied),
        feeChanges,
      };
      ledger.landed.push(landed);
      this.landed.set(frame.hash, landed);
      this.landed.set(frame.inner.hash, landed);
    }
  }

  /** Takes what a transaction costs, and what there is if that is less. */
  #takeFee(frame: Frame, state: State, baseFee: bigint): bigint {
    const payer = accountIn(state, frame.feeSource);
    if (payer === undefined) throw new Error(`The payer ${frame.feeSource} is gone.`);
    const due = chargedFee(frame, baseFee);
    const fee = due < payer.balance ? due : payer.balance;
    state.put({ ...payer, balance: payer.balance - fee });
    this.#feePool += fee;
    return fee;
  }

  /** Gives an account so much, or makes it, in all ledgers at once and past all transactions. */
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

/** No transaction has its place in a ledger by when it came, or by what it bids. */
function shuffled(frames: readonly Frame[], setHash: Buffer): Frame[] {
  const place = ({ fullHash }: Frame) =>
    Buffer.from(fullHash, 'hex').map((byte, index) => byte ^ (setHash[index] ?? 0));
  return [...frames].sort((one, other) => Buffer.compare(place(one), place(other)));
}
