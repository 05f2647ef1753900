import type { ClosedLedger, Landed } from '../node/closed-ledger.ts';
import type { Network } from '../node/network.ts';
import type { Node } from '../node/node.ts';

/** One node's part in its endpoint's answers: the length of its history, and what it reports of itself. */
export class View {
  readonly network: Network;
  readonly node: Node;
  /** The passphrase that the node reports, which may be false. */
  passphrase: string;
  /** The reason why the node says that it is not well. */
  illness: string | null = null;
  /** Ledgers that the node's history holds. */
  retention: number;
  /** The hash of every transaction that was offered here, whatever became of it. */
  readonly offers: string[] = [];
  #prunedBefore = 0;

  constructor(network: Network, node: Node, options: { passphrase: string; retention: number }) {
    this.network = network;
    this.node = node;
    this.passphrase = options.passphrase;
    this.retention = options.retention;
  }

  get latest(): ClosedLedger {
    return this.node.latest;
  }

  get oldest(): ClosedLedger {
    const { ledger } = this.node;
    const least = Math.max(ledger.first.sequence, this.latest.sequence - this.retention + 1, this.#prunedBefore);
    return ledger.at(Math.min(least, this.latest.sequence)) ?? ledger.first;
  }

  /** Forgets all but the newest ledger. */
  prune(): void {
    this.#prunedBefore = this.latest.sequence;
  }

  /** The ledger with this number; undefined if it is not in the node's history. */
  ledgerAt(sequence: number): ClosedLedger | undefined {
    if (sequence < this.oldest.sequence || sequence > this.latest.sequence) return undefined;
    return this.node.ledger.at(sequence);
  }

  /** Finds a transaction by its hash, or by the hash of a fee bump's inner transaction. */
  landed(hash: string): Landed | undefined {
    const landed = this.node.ledger.landed.get(hash);
    return landed !== undefined && this.ledgerAt(landed.ledger.sequence) !== undefined ? landed : undefined;
  }
}
