import type { BroadcastOutcome } from '../../../src/chains/chain-client.ts';
import { hashOf } from '../fake-chain.ts';
import type { FaultSource } from '../fake-wire.ts';

/** An envelope. It uses the next sequence of its source, even if it fails. */
export type Envelope = {
  readonly source: string;
  readonly sequence: string;
  readonly does: string;
  readonly reverts: boolean;
  readonly fee: number;
  /** The last ledger that may hold it; null: no limit. */
  readonly until: number | null;
  /** The entry that it restores. */
  readonly restores?: string;
};

/** A submission: an envelope, or another account's fee bump around one. Its raw form is this object as JSON. */
export interface Submission {
  readonly inner: Envelope;
  readonly bump?: { readonly by: string; readonly fee: number };
}

interface Closed extends Submission {
  /** The hash of the submission. `innerHash` is that of the envelope in it. */
  readonly hash: string;
  readonly innerHash: string;
}

/** For how many ledgers the service's envelopes are valid: while the network is in trouble, and while it is quiet. */
const SHORT = 5;
const LONG = 400;

/**
 * A chain of ledgers in memory. An account's envelopes have sequences without a gap. The pool holds one envelope of
 * each account. Closed ledgers are final.
 */
export class LedgerChain {
  /** Called before each call of a client, with the bytes that are offered. */
  fault: FaultSource = () => undefined;
  /** Effects that no node takes. */
  readonly unacceptable = new Set<string>();
  /** All bytes that ever reached a node. */
  readonly received = new Set<string>();
  /** The effects for which envelopes were sent by the service, by their hash. */
  readonly purposes = new Map<string, Set<string>>();
  /** The least fee. */
  floor = 1;
  /** For how many ledgers new envelopes are valid. */
  lasting = SHORT;
  readonly #pool = new Map<string, Closed>();
  readonly #ledgers: Closed[][] = [];
  /** When each ledger closed, in milliseconds since the epoch. */
  readonly #closedAt: number[] = [];
  #foreign = 0;

  get height(): number {
    return this.#ledgers.length;
  }

  /** The contents of the ledgers, in order. */
  get closed(): Closed[] {
    return this.#ledgers.flat();
  }

  get isBusy(): boolean {
    return this.#pool.size > 0;
  }

  /** Makes later envelopes valid for longer, for the end of a history. */
  calmDown(): void {
    this.lasting = LONG;
  }

  /**
   * Submits bytes.
   * @param effect what the service sends them for; absent if another party does
   */
  submit(raw: string, effect?: string): BroadcastOutcome {
    this.received.add(raw);
    const submission = JSON.parse(raw) as Submission;
    const { inner, bump } = submission;
    const hash = hashOf(raw);
    const innerHash = innerHashOf(inner);
    if (effect !== undefined) {
      this.purposes.set(innerHash, (this.purposes.get(innerHash) ?? new Set()).add(effect));
      if (this.unacceptable.has(effect)) return { kind: 'refused', reason: 'txMALFORMED' };
    }
    const pooled = this.#pool.get(inner.source);
    if (pooled?.hash === hash) return { kind: 'accepted' };
    const next = this.sequenceOf(inner.source) + 1n;
    if (BigInt(inner.sequence) < next) return { kind: 'anchor-used', reason: 'txBAD_SEQ' };
    if (BigInt(inner.sequence) > next) return { kind: 'anchor-ahead', reason: 'txBAD_SEQ' };
    if (inner.until !== null && this.height >= inner.until) return { kind: 'lapsed', reason: 'txTOO_LATE' };
    if ((bump ?? inner).fee < this.floor) return { kind: 'fee-too-low', reason: 'txINSUFFICIENT_FEE' };
    if (pooled !== undefined) return { kind: 'busy', reason: 'TRY_AGAIN_LATER' };
    this.#pool.set(inner.source, { ...submission, hash, innerHash });
    return { kind: 'accepted' };
  }

  /** Closes a ledger with some of the waiting envelopes. Drops envelopes that no later ledger may hold. */
  close(limit = Number.POSITIVE_INFINITY): void {
    const ledger: Closed[] = [];
    for (const [source, entry] of this.#pool) {
      const { until, sequence } = entry.inner;
      const isLate = until !== null && this.height + 1 > until;
      if (isLate || BigInt(sequence) !== this.sequenceOf(source) + 1n) this.#pool.delete(source);
      else if (ledger.length < limit) {
        this.#pool.delete(source);
        ledger.push(entry);
      }
    }
    this.#ledgers.push(ledger);
    this.#closedAt.push(Date.now());
  }

  forgetPool(): void {
    this.#pool.clear();
  }

  /** The last used sequence of an account. */
  sequenceOf(account: string): bigint {
    return BigInt(this.closed.filter(({ inner }) => inner.source === account).length);
  }

  /** Uses an account's next sequence by a foreign transaction. Displaces the envelope that waits for this sequence. */
  useKey(source: string): void {
    this.#foreign += 1;
    const sequence = String(this.sequenceOf(source) + 1n);
    const does = `${FOREIGN} ${this.#foreign}`;
    const inner: Envelope = { source, sequence, does, reverts: false, fee: 99, until: null };
    const hash = innerHashOf(inner);
    this.#pool.set(source, { inner, hash, innerHash: hash });
  }

  /** Finds a submission on a ledger by its own hash or by that of its envelope. */
  find(hash: string): Closed | undefined {
    return this.closed.find((one) => one.hash === hash || one.innerHash === hash);
  }

  /** Whether an entry was restored. */
  has(what: string): boolean {
    return this.closed.some(({ inner }) => inner.restores === what && !inner.reverts);
  }

  isLate({ until }: Envelope): boolean {
    return until !== null && this.height >= until;
  }

  /**
   * When the last ledger closed that may hold an envelope valid up to `until`, in milliseconds since the epoch; null:
   * not yet.
   */
  closedAt(until: number): number | null {
    return this.#closedAt[until - 1] ?? null;
  }
}

/** The hash of an envelope, whoever pays for it. */
export function innerHashOf(inner: Envelope): string {
  return hashOf(JSON.stringify({ inner } satisfies Submission));
}

/** The effect of foreign transactions. */
const FOREIGN = 'foreign';
