import { API_VERSION } from '../node-view.ts';
import { keyIn, textAt } from '../params.ts';
import type { Methods } from './method.ts';

const SLOTS_PER_EPOCH = 432_000;

/** Methods about the node and its blocks. */
export const chainMethods: Methods = {
  getHealth(view) {
    view.mustBeWell();
    return 'ok';
  },
  getVersion: () => ({ 'feature-set': 0, 'solana-core': API_VERSION }),
  getGenesisHash: ({ ledger }) => ledger.genesis,
  getSlot: (view, [options]) => view.block(options).slot,
  getBlockHeight: (view, [options]) => view.block(options).height,
  getTransactionCount: ({ ledger }) => ledger.landed.size,
  getEpochInfo(view, [options]) {
    const { slot, height } = view.block(options);
    return {
      absoluteSlot: slot,
      blockHeight: height,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: view.ledger.landed.size,
    };
  },
  getLatestBlockhash(view, [options]) {
    const block = view.block(options);
    const lastValidBlockHeight = view.ledger.blocks.lastValidHeight(block);
    return view.context(block, { blockhash: block.hash, lastValidBlockHeight });
  },
  isBlockhashValid(view, params) {
    const hash = keyIn(textAt(params, 0));
    const block = view.block(params[1]);
    return view.context(block, view.ledger.blocks.isAlive(hash, block));
  },
};
