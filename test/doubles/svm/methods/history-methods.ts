import type { Block } from '../blocks.ts';
import type { Landed } from '../ledger.ts';
import type { NodeView } from '../node-view.ts';
import { type Fields, fields, keyIn, numberIn, oneOf, type Params, signatureIn, textAt } from '../params.ts';
import { CODES, invalidParams, RpcError } from '../rpc-error.ts';
import { formIn, memoOf, transactionAnswer } from '../transaction-answer.ts';
import type { Methods } from './method.ts';

const MAX_SIGNATURES = 1000;
const MAX_BLOCKS = 500_000;

/** Methods about the contents of blocks. */
export const historyMethods: Methods = {
  getTransaction(view, params) {
    const signature = signatureIn(textAt(params, 0));
    const options = optionsAt(params, 1);
    const newest = settled(view, options);
    const landed = view.landed(signature, true);
    if (landed === undefined || landed.block.height > newest.height) return null;
    const { slot, time } = landed.block;
    return { slot, ...transactionAnswer(landed, formIn(options)), blockTime: time };
  },
  getSignaturesForAddress(view, params) {
    const key = keyIn(textAt(params, 0));
    const options = fields(params[1]);
    const newest = settled(view, options);
    const limit = numberIn(options['limit'], 'usize') ?? MAX_SIGNATURES;
    if (limit < 1 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`);
    const before = optionalSignature(options['before']);
    const until = optionalSignature(options['until']);
    const found = [...view.ledger.landed.values()]
      .filter(({ block }) => block.height <= newest.height && block.height >= view.historyFrom)
      .reverse();
    const first = before === undefined ? 0 : found.findIndex((one) => one.transaction.signature === before) + 1;
    const last = until === undefined ? -1 : found.findIndex((one) => one.transaction.signature === until);
    // An unknown signature gives no upper bound, so the node answers with nothing.
    if (before !== undefined && first === 0) return [];
    return found
      .slice(first, last < 0 ? undefined : last)
      .filter(({ keys }) => keys.all.includes(key))
      .slice(0, limit)
      .map((landed) => signatureAnswer(view, landed));
  },
  getBlock(view, params) {
    const options = optionsAt(params, 1);
    const newest = settled(view, options);
    const block = blockAt(view, numberAt(params, 0), newest);
    const details =
      oneOf(options['transactionDetails'], ['full', 'accounts', 'signatures', 'none'], 'details') ?? 'full';
    const head = {
      blockHeight: block.height,
      blockTime: block.time,
      blockhash: block.hash,
      parentSlot: block.parent.slot,
      previousBlockhash: block.parent.hash,
      ...(options['rewards'] === false ? {} : { rewards: [] }),
    };
    if (details === 'none') return head;
    if (details === 'signatures') return { ...head, signatures: block.signatures };
    if (details === 'accounts') throw invalidParams('transactionDetails accounts is not spoken by this counterpart');
    const form = formIn(options);
    const landed = block.signatures.flatMap((signature) => view.ledger.landed.get(signature) ?? []);
    return { ...head, transactions: landed.map((one) => transactionAnswer(one, form)) };
  },
  getBlocks(view, params) {
    const from = numberAt(params, 0);
    const [second, third] = [params[1], params[2]];
    const isRange = typeof second === 'number';
    const newest = settled(view, fields(isRange || second === null ? third : second));
    const to = Math.min(isRange ? second : newest.slot, newest.slot);
    if (to - from > MAX_BLOCKS) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS}`);
    return kept(view, from, to);
  },
  getBlocksWithLimit(view, params) {
    const newest = settled(view, fields(params[2]));
    return kept(view, numberAt(params, 0), newest.slot).slice(0, numberAt(params, 1));
  },
  getBlockTime: (view, params) => blockAt(view, numberAt(params, 0), view.newest('confirmed')).time,
  getFirstAvailableBlock: (view) => firstSlot(view),
  minimumLedgerSlot: (view) => firstSlot(view),
};

/**
 * The block of a call's commitment. These methods do not accept `processed`.
 * @throws RpcError
 */
function settled(view: NodeView, options: Fields): Block {
  if (options['commitment'] === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
  return view.block(options);
}

/** Options, or the encoding alone as in the method's first form. */
function optionsAt(params: Params, index: number): Fields {
  const value = params[index];
  return typeof value === 'string' ? { encoding: value } : fields(value);
}

function numberAt(params: Params, index: number): number {
  const value = numberIn(params[index], 'u64');
  if (value === undefined) throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`);
  return value;
}

function optionalSignature(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : signatureIn(textAt([value], 0));
}

function signatureAnswer(view: NodeView, { transaction, block, outcome }: Landed) {
  return {
    signature: transaction.signature,
    slot: block.slot,
    err: outcome.err,
    memo: memoOf(transaction),
    blockTime: block.time,
    confirmationStatus: view.commitmentOf(block),
  };
}

function blockAt(view: NodeView, slot: number, newest: Block): Block {
  if (slot > newest.slot) throw new RpcError(CODES.blockNotAvailable, `Block not available for slot ${slot}`);
  const first = firstSlot(view);
  if (slot < first) {
    const text = `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`;
    throw new RpcError(CODES.blockCleanedUp, text);
  }
  const block = view.ledger.blocks.ofSlot(slot);
  if (block !== undefined) return block;
  const text = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`;
  throw new RpcError(CODES.slotSkipped, text);
}

function kept(view: NodeView, from: number, to: number): number[] {
  const blocks = view.ledger.blocks.between(from, to);
  return blocks.filter(({ height }) => height >= view.historyFrom).map(({ slot }) => slot);
}

function firstSlot({ ledger, historyFrom }: NodeView): number {
  const { blocks } = ledger;
  // The tests' chain starts late, as if nothing had been before. A node with all its history has that earlier part as
  // well.
  if (historyFrom === 0) return 0;
  return blocks.between(0, blocks.newest.slot).find(({ height }) => height >= historyFrom)?.slot ?? blocks.newest.slot;
}
