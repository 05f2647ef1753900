import { isNodeError, type ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { authorityOf } from '../form/authorization.ts';
import {
  type BlockAuthorization,
  type FullBlock,
  getFullBlock,
  getInclusionBlock,
  getReceipt,
  hasCode,
  transactionCount,
} from '../rpc-calls.ts';
import { undefinedIfRefused } from './receipts.ts';

/** A transaction whose nonce is used, though no receipt is shown of any of its hashes. */
export interface LostNonce {
  /** In lower case, as are the hashes. */
  account: string;
  sequence: bigint;
  hashes: readonly string[];
}

/** In which block a nonce was used, and by what. */
export interface NonceUse {
  block: bigint;
  blockHash: string;
  /** The transaction that used it, or that carried the authorization (EIP-7702); null for the account's own code. */
  hash: string | null;
  isOurs: boolean;
  /** For instance `It was used by 0x… in block 12.` */
  text: string;
}

/** The account's transaction count by the state after a block. */
export type TransactionCountAt = (account: string, block: bigint) => Promise<bigint>;

/** One node's counts, each asked for once. Searches for several nonces of one account ask for the same counts. */
export function transactionCountsOn(read: ReadFromEndpoint): TransactionCountAt {
  const known = new Map<string, Promise<bigint>>();
  return (account, block) => {
    const key = `${account} ${block}`;
    const count = known.get(key) ?? transactionCount(read, account, block);
    known.set(key, count);
    return count;
  };
}

/**
 * How a nonce was used on one node's chain, up to the block `last`. `unused`: it was not. Undefined: the node cannot
 * tell. A node without the receipt may still find the transaction, or have the states that lead to the block. Only the
 * block's own content proves a use, so missing data on a pruned node proves nothing.
 */
export async function findNonceUse(
  read: ReadFromEndpoint,
  lost: LostNonce,
  last: bigint,
  countAt: TransactionCountAt = transactionCountsOn(read),
): Promise<NonceUse | 'unused' | undefined> {
  const count = await countAt(lost.account, last).catch(undefinedIfRefused);
  if (count !== undefined && count <= lost.sequence) return 'unused';
  return (await useByHash(read, lost, last)) ?? (await useByState(read, lost, last, countAt));
}

async function useByHash(read: ReadFromEndpoint, lost: LostNonce, last: bigint): Promise<NonceUse | undefined> {
  for (const hash of lost.hashes) {
    const number =
      (await getInclusionBlock(read, hash).catch(undefinedIfRefused)) ?? (await blockOfReceipt(read, hash));
    if (number === undefined || number > last) continue;
    const use = await useIn(read, number, lost);
    if (use !== undefined) return use;
  }
  return undefined;
}

/** Several nodes may stand behind one address, so a receipt may turn up that was not there a moment ago. */
async function blockOfReceipt(read: ReadFromEndpoint, hash: string): Promise<bigint | undefined> {
  return (await getReceipt(read, hash).catch(undefinedIfRefused))?.blockNumber;
}

/** Finds the block in which the account's count passed the nonce. The nonce was used there. */
async function useByState(
  read: ReadFromEndpoint,
  lost: LostNonce,
  last: bigint,
  countAt: TransactionCountAt,
): Promise<NonceUse | undefined> {
  const passed = await firstBlockWhere(async (block) => (await countAt(lost.account, block)) > lost.sequence, last);
  if (passed === undefined) return undefined;
  const block = await getFullBlock(read, passed.block).catch(undefinedIfRefused);
  if (block == null) return undefined;
  const use = nonceUseInBlock(block, passed.block, lost);
  // Only an account with code can raise its own nonce without a transaction, for instance when it makes a contract.
  if (use !== undefined || !passed.hasBefore) return use;
  const isByCode = await hasCode(read, lost.account, passed.block).catch(undefinedIfRefused);
  if (isByCode !== true) return undefined;
  const text = `It was used by the account's own code (EIP-7702) in block ${passed.block}.`;
  return { block: passed.block, blockHash: block.hash, hash: null, isOurs: false, text };
}

/** The use of a nonce in one block of a node; undefined where the block shows none, or the node does not show it. */
async function useIn(read: ReadFromEndpoint, number: bigint, lost: LostNonce): Promise<NonceUse | undefined> {
  const block = await getFullBlock(read, number).catch(undefinedIfRefused);
  return block == null ? undefined : nonceUseInBlock(block, number, lost);
}

/** The use of a nonce in a block. */
export function nonceUseInBlock(
  { hash: blockHash, transactions }: FullBlock,
  block: bigint,
  { account, sequence, hashes }: LostNonce,
): NonceUse | undefined {
  const ours = transactions.find(({ hash }) => hashes.includes(hash));
  if (ours !== undefined) {
    const text = `It was used by attempt ${ours.hash} in block ${block}.`;
    return { block, blockHash, hash: ours.hash, isOurs: true, text };
  }
  const sent = transactions.find(({ from, nonce }) => from === account && nonce === sequence);
  if (sent !== undefined) {
    return { block, blockHash, hash: sent.hash, isOurs: false, text: `It was used by ${sent.hash} in block ${block}.` };
  }
  const isIts = (one: BlockAuthorization) => one.nonce === sequence && signerOf(one) === account;
  const carrier = transactions.find(({ authorizations }) => authorizations.some(isIts));
  if (carrier === undefined) return undefined;
  const text = `It was used by an authorization (EIP-7702) in ${carrier.hash} in block ${block}.`;
  return { block, blockHash, hash: carrier.hash, isOurs: false, text };
}

function signerOf({ chainId, address, nonce, yParity, r, s }: BlockAuthorization): string | undefined {
  if (yParity > 1n) return undefined;
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;
  const content = { chain_id: chainId.toString(), address, nonce: nonce.toString() };
  return authorityOf({ ...content, y_parity: Number(yParity), r: word(r), s: word(s) })?.toLowerCase();
}

/**
 * The first block for which `holds` is true. Steps back in doubling strides, then halves the range: every node has the
 * recent states. Undefined if a state on the way is pruned. `hasBefore`: an earlier block was seen for which `holds` is
 * false.
 */
async function firstBlockWhere(
  holds: (block: bigint) => Promise<boolean>,
  last: bigint,
): Promise<{ block: bigint; hasBefore: boolean } | undefined> {
  let high = last;
  let low = -1n;
  try {
    for (let stride = 1n; high - stride >= 0n; stride *= 2n) {
      if (!(await holds(high - stride))) {
        low = high - stride;
        break;
      }
      high -= stride;
    }
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (await holds(middle)) high = middle;
      else low = middle;
    }
    return { block: high, hasBefore: low >= 0n };
  } catch (error) {
    if (isNodeError(error)) return undefined;
    throw error;
  }
}
