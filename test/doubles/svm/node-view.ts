import type { Block, Commitment } from './blocks.ts';
import type { Landed, Ledger } from './ledger.ts';
import { fields, numberIn, oneOf } from './params.ts';
import { CODES, RpcError } from './rpc-error.ts';

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

/** For how many blocks a node remembers signatures without its history. */
const STATUS_CACHE = 300;

/** One node's view of the ledger. The node may be behind, ill, or without history. */
export class NodeView {
  readonly ledger: Ledger;
  /** Blocks that the node has not seen yet. */
  behind = 0;
  /** The health that `getHealth` reports: null is healthy, a number is the known number of slots behind. */
  illness: number | 'unknown' | null = null;
  /** Blocks below this height have left the node's history. */
  historyFrom = 0;
  /** The signatures of all transactions offered, whatever their outcome. */
  readonly offers: string[] = [];

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  newest(commitment: Commitment): Block {
    return this.ledger.blocks.at(commitment, this.behind);
  }

  /** The block that a call's options ask for. @throws RpcError */
  block(options: unknown, otherwise: Commitment = 'finalized', name = 'commitment'): Block {
    const asked = fields(options);
    const block = this.newest(oneOf(asked[name], COMMITMENTS, name) ?? otherwise);
    const least = numberIn(asked['minContextSlot'], 'minContextSlot');
    if (least !== undefined && least > block.slot) {
      throw new RpcError(CODES.minContextSlot, 'Minimum context slot has not been reached', {
        contextSlot: block.slot,
      });
    }
    return block;
  }

  /** Adds the slot at which the value was true. */
  context<T>(block: Block, value: T) {
    return { context: { apiVersion: API_VERSION, slot: block.slot }, value };
  }

  /** What the node knows of a signature; undefined if nothing. */
  landed(signature: string, inHistory: boolean): Landed | undefined {
    const landed = this.ledger.landed.get(signature);
    if (landed === undefined) return undefined;
    const newest = this.newest('processed').height;
    const { height } = landed.block;
    if (height > newest || height < this.historyFrom) return undefined;
    return inHistory || newest - height <= STATUS_CACHE ? landed : undefined;
  }

  /** The highest commitment that a block has reached. */
  commitmentOf({ height }: { height: number }): Commitment {
    const reached = [...COMMITMENTS].reverse().find((commitment) => height <= this.newest(commitment).height);
    return reached ?? 'processed';
  }

  /** @throws RpcError when the node is not well */
  mustBeWell(): void {
    if (this.illness === null) return;
    const numSlotsBehind = this.illness === 'unknown' ? null : this.illness;
    const text = numSlotsBehind === null ? 'Node is unhealthy' : `Node is behind by ${numSlotsBehind} slots`;
    throw new RpcError(CODES.unhealthy, text, { numSlotsBehind });
  }
}

/** The version of Agave whose runtime executes the transactions. */
export const API_VERSION = '4.3.0';
