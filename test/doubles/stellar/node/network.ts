import type { Frame } from '../transactions/frame.ts';
import { bestBids, type Phase } from './candidate-set.ts';
import type { ClosedLedger } from './closed-ledger.ts';
import { Ledger, type LedgerRules } from './ledger.ts';
import type { Crowd } from './limiter.ts';
import { Node, type Surroundings } from './node.ts';
import type { Admission } from './queue.ts';

/** The time of the network, which tests may move on. */
class Clock {
  #ahead = 0n;

  /** Unix seconds. */
  now(): bigint {
    return BigInt(Math.floor(Date.now() / 1000)) + this.#ahead;
  }

  travel(seconds: bigint): void {
    this.#ahead += seconds;
  }
}

export interface NetworkRules extends LedgerRules {
  /** Contracts' transactions that a ledger takes. */
  readonly maxSoroban: number;
}

/** How many accepted transactions are remembered. */
const MAX_TAKEN_IN = 50;

const NOBODY: Crowd = { operations: 0, bid: 0n };

/** Nodes that exchange the transactions that they accept. One of them closes the ledgers. */
export class Network implements Surroundings {
  readonly clock = new Clock();
  readonly capacity: Surroundings['capacity'];
  ledger: Ledger;
  crowd: Crowd = NOBODY;
  readonly #rules: NetworkRules;
  readonly #nodes: Node[] = [];
  #validator: Node;
  /** Transactions that only the accepting node knows, and until which ledger. */
  readonly #held = new Map<string, number>();
  /** The latest accepted transactions, in base64, the newest last. */
  readonly takenIn: string[] = [];
  #drops = 0;
  #delay = 0;
  #droppedSets = 0;
  #closing = Promise.withResolvers<void>();

  constructor(rules: NetworkRules) {
    this.#rules = rules;
    this.capacity = { classic: rules.maxOperations, soroban: rules.maxSoroban };
    this.ledger = this.#genesis();
    this.#validator = new Node(this);
  }

  #genesis(): Ledger {
    return new Ledger(this.#rules, this.clock.now());
  }

  now(): bigint {
    return this.clock.now();
  }

  /**
   * Moves the time on, starting from the time of the ledgers. Ledgers that close faster than real time are ahead of it.
   */
  travel(seconds: bigint): void {
    const lead = this.ledger.latest.closeTime - this.clock.now();
    this.clock.travel(seconds + (lead > 0n ? lead : 0n));
  }

  /** Adds a node that is so many ledgers behind. */
  join(behind: number): Node {
    const node = new Node(this, behind);
    this.#nodes.push(node);
    return node;
  }

  /** Offers a transaction to a node. If the node accepts it, the node passes it on to the others. */
  submit(node: Node, frame: Frame): Admission {
    const admission = node.add(frame);
    if (admission.status !== 'PENDING') return admission;
    this.takenIn.push(frame.envelope.toXdr('base64'));
    if (this.takenIn.length > MAX_TAKEN_IN) this.takenIn.shift();
    if (this.#drops > 0) {
      this.#drops -= 1;
      this.#held.set(frame.fullHash, Number.POSITIVE_INFINITY);
    } else if (this.#delay > 0) {
      this.#held.set(frame.fullHash, this.ledger.latest.sequence + this.#delay);
    }
    this.#flood(node, frame);
    return admission;
  }

  /** Makes the next accepted transactions never leave their node. */
  dropNext(count: number): void {
    this.#drops = count;
  }

  /** Delays transactions: from now on an accepted one leaves its node after that many ledgers. */
  landLater(ledgers: number): void {
    this.#delay = ledgers;
  }

  /** Makes validators vote to leave the transactions out of the next ledgers (CAP-83). They wait for later ledgers. */
  dropSets(ledgers: number): void {
    this.#droppedSets = ledgers;
  }

  /** Closes the next ledger. */
  tick(): ClosedLedger {
    for (const node of this.#nodes) for (const frame of node.waiting) this.#flood(node, frame);
    const { latest } = this.ledger;
    const now = this.clock.now();
    const closeTime = now > latest.closeTime ? now : latest.closeTime + 1n;
    const waiting = this.#validator.candidates(closeTime);
    const isDropped = this.#droppedSets > 0;
    if (isDropped) this.#droppedSets -= 1;
    const phases = this.#phases(waiting);
    const closed = isDropped
      ? this.ledger.close(this.#phases([]), closeTime, phases)
      : this.ledger.close(phases, closeTime);
    for (const node of [this.#validator, ...this.#nodes]) node.observe();
    this.#closing.resolve();
    this.#closing = Promise.withResolvers<void>();
    return closed;
  }

  /** Resolves when the next ledger has closed. */
  nextLedger(): Promise<void> {
    return this.#closing.promise;
  }

  #phases(waiting: readonly Frame[]): Phase[] {
    const { maxOperations, maxSoroban, baseFee } = this.#rules;
    const classic = waiting.filter(({ isSoroban }) => !isSoroban);
    const soroban = waiting.filter(({ isSoroban }) => isSoroban);
    return [bestBids(classic, maxOperations, this.crowd, baseFee), bestBids(soroban, maxSoroban, NOBODY, baseFee)];
  }

  #flood(from: Node, frame: Frame): void {
    if ((this.#held.get(frame.fullHash) ?? 0) > this.ledger.latest.sequence) return;
    for (const node of [this.#validator, ...this.#nodes]) if (node !== from) node.add(frame);
  }

  /** Removes everything from the chain, as in a reset of a test network. The passphrase stays. */
  reset(): void {
    this.ledger = this.#genesis();
    this.#held.clear();
    this.#validator = new Node(this);
    for (const node of this.#nodes) node.restart();
  }
}
