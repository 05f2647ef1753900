import { type Json, type JsonObject, listIn, objectIn } from '../../domain/json/json.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { parseOrNull } from '../optional-figure.ts';
import { onlyEndpointsServing } from '../served-chain.ts';

/** Requests and policies accept only prices below this. */
const MAX_PRICE = 1n << 128n;

/** A block, as far as it matters here. */
export interface Block {
  number: bigint;
  hash: string;
  /** Zero where the chain shows none: it says nothing then. */
  gasLimit: bigint;
  /** Null before EIP-1559. */
  baseFeePerGas: bigint | null;
}

/** A node's receipt for one transaction hash. */
export interface Receipt {
  /** Lower case, as are the other hashes and addresses. */
  transactionHash: string;
  from: string;
  blockNumber: bigint;
  blockHash: string;
  /** Null before EIP-658, when receipts had no status. */
  succeeded: boolean | null;
  /** Null if the node shows none that can be read, like the next two. */
  gasUsed: bigint | null;
  effectiveGasPrice: bigint | null;
  /** The address of the contract that the transaction created; null if it created none. */
  contractAddress: string | null;
}

/** A block with its transactions. */
export interface FullBlock {
  hash: string;
  transactions: readonly BlockTransaction[];
}

/** A transaction in a block. It used up a nonce of its sender. */
export interface BlockTransaction {
  hash: string;
  from: string;
  nonce: bigint;
  /** The authorizations of EIP-7702. Those that cannot be read are left out. */
  authorizations: BlockAuthorization[];
}

/** An authorization of a transaction in a block. It uses up a nonce of its signer's account as well (EIP-7702). */
export interface BlockAuthorization {
  chainId: bigint;
  address: string;
  nonce: bigint;
  yParity: bigint;
  r: bigint;
  s: bigint;
}

/** What a node shows of one of its blocks. */
export interface BlockHashes {
  hash: string;
  /** The hashes of the block's transactions; undefined if the node lists none. */
  transactions: ReadonlySet<string> | undefined;
}

/** Returns a client with the same endpoints, of which only those that serve the chain count. */
export function onlyOnChain(chain: bigint, rpc: RpcClient): RpcClient {
  return onlyEndpointsServing(rpc, { method: 'eth_chainId', chain, served: parseQuantity });
}

export function blockNumber(read: ReadFromEndpoint): Promise<bigint> {
  return read('eth_blockNumber', [], parseQuantity, { shares: 'unsent' });
}

export function getBalance(read: ReadFromEndpoint, address: string): Promise<bigint> {
  return read('eth_getBalance', [address, 'latest'], parseQuantity, { shares: 'unsent' });
}

/** The number of the account's transactions in blocks up to `at`. */
export function transactionCount(read: ReadFromEndpoint, address: string, at: bigint | 'latest'): Promise<bigint> {
  const params = [address, typeof at === 'bigint' ? toQuantity(at) : at];
  return read('eth_getTransactionCount', params, parseQuantity, { shares: 'unsent' });
}

export function gasPrice(read: ReadFromEndpoint): Promise<bigint> {
  return read('eth_gasPrice', [], parseGasPrice);
}

export function latestBlock(read: ReadFromEndpoint): Promise<Block> {
  return read('eth_getBlockByNumber', ['latest', false], (answer) => {
    const block = objectIn(answer);
    const base = block['baseFeePerGas'];
    return {
      number: parseQuantity(block['number']),
      hash: hash(block['hash']),
      gasLimit: parseOrNull(block['gasLimit'], parseQuantity) ?? 0n,
      baseFeePerGas: base === undefined || base === null ? null : parseGasPrice(base),
    };
  });
}

/** The node's latest block and when it was made, in milliseconds since the epoch. */
export function getHead(read: ReadFromEndpoint): Promise<{ number: bigint; madeAt: number }> {
  return read('eth_getBlockByNumber', ['latest', false], (answer) => {
    const block = objectIn(answer);
    return { number: parseQuantity(block['number']), madeAt: Number(parseQuantity(block['timestamp'])) * 1_000 };
  });
}

/**
 * The node's block with this number. Null if it has none, or shows a block with another number: one bad answer about
 * the height must not count as depth.
 */
export function getBlock(read: ReadFromEndpoint, number: bigint): Promise<BlockHashes | null> {
  const blockIn = (answer: Json): BlockHashes | null => {
    if (answer === null) return null;
    const block = objectIn(answer);
    if (parseQuantity(block['number']) !== number) return null;
    const listed = block['transactions'];
    const isListed = Array.isArray(listed) && !isStripped(block);
    return { hash: hash(block['hash']), transactions: isListed ? new Set(listed.flatMap(listedHash)) : undefined };
  };
  return read('eth_getBlockByNumber', [toQuantity(number), false], blockIn, { shares: 'under way' });
}

/** The root of no transactions: keccak-256 of the RLP of nothing. */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/**
 * Whether a block lists no transactions although its header says that it has some. A node that pruned the content
 * answers so.
 */
function isStripped({ transactions, transactionsRoot: root }: JsonObject): boolean {
  const isEmpty = Array.isArray(transactions) && transactions.length === 0;
  return isEmpty && typeof root === 'string' && root.toLowerCase() !== EMPTY_ROOT;
}

/** The hash of a listed entry. Some nodes list whole transactions although only hashes were asked for. */
function listedHash(entry: Json): string[] {
  const named = typeof entry === 'string' ? entry : valueOf(entry, 'hash');
  return typeof named === 'string' ? [named.toLowerCase()] : [];
}

/** The value of an object under a key; undefined for what is no object. */
function valueOf(value: Json, key: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value[key] : undefined;
}

/** When a block was made, in milliseconds since the epoch; null where the node has none of that number. */
export function blockTime(read: ReadFromEndpoint, number: bigint): Promise<number | null> {
  return read('eth_getBlockByNumber', [toQuantity(number), false], (answer) =>
    answer === null ? null : Number(parseQuantity(objectIn(answer)['timestamp'])) * 1_000,
  );
}

/**
 * The node's block with this number and its transactions. Transactions without nonce or sender are left out. Null if
 * the node has no such block, shows another one, or does not have the block's content any more.
 */
export function getFullBlock(read: ReadFromEndpoint, number: bigint): Promise<FullBlock | null> {
  const blockIn = (answer: Json): FullBlock | null => {
    if (answer === null) return null;
    const block = objectIn(answer);
    if (parseQuantity(block['number']) !== number || isStripped(block)) return null;
    const transactions = listIn(block['transactions'])
      .map(objectIn)
      .filter((transaction) => 'nonce' in transaction && 'from' in transaction)
      .map((transaction) => ({
        hash: hash(transaction['hash']),
        from: address(transaction['from']),
        nonce: parseQuantity(transaction['nonce']),
        authorizations: authorizationsOf(transaction['authorizationList']),
      }));
    return { hash: hash(block['hash']), transactions };
  };
  return read('eth_getBlockByNumber', [toQuantity(number), true], blockIn, { isLong: true });
}

/** The number of the block in which a node finds a transaction; null where it finds none, or only in its pool. */
export function getInclusionBlock(read: ReadFromEndpoint, transactionHash: string): Promise<bigint | null> {
  return read('eth_getTransactionByHash', [transactionHash], (answer) => {
    const number = answer === null ? null : objectIn(answer)['blockNumber'];
    return number === null ? null : parseQuantity(number);
  });
}

/** Whether an account has code in the state after a block. */
export function hasCode(read: ReadFromEndpoint, account: string, number: bigint): Promise<boolean> {
  return read('eth_getCode', [account, toQuantity(number)], (answer) => {
    if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]*$/.test(answer)) throw new TypeError('not code');
    return answer.length > 2;
  });
}

function authorizationsOf(list: Json | undefined): BlockAuthorization[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => {
    try {
      const given = objectIn(entry);
      const part = (name: string) => parseQuantity(given[name]);
      const yParity = parseQuantity(given['yParity'] ?? given['v']);
      const content = { chainId: part('chainId'), address: address(given['address']), nonce: part('nonce') };
      return [{ ...content, yParity, r: part('r'), s: part('s') }];
    } catch {
      return [];
    }
  });
}

/**
 * Reads the priority fees of a fee history: one row per block, one column per percentile. A fee that cannot be read
 * counts as none.
 * @throws TypeError if it is no fee history
 */
export function feeRewards(answer: Json): bigint[][] {
  const rewards = objectIn(answer)['reward'];
  return rewards === undefined || rewards === null ? [] : listIn(rewards).map(rewardsIn);
}

function rewardsIn(row: Json): bigint[] {
  return Array.isArray(row) ? row.map((fee) => parseOrNull(fee, parseGasPrice) ?? 0n) : [];
}

export function estimateGas(read: ReadFromEndpoint, call: JsonObject): Promise<bigint> {
  return read('eth_estimateGas', [call], parseQuantity);
}

/** Null when no block of the node's chain has the hash. */
export function getReceipt(read: ReadFromEndpoint, transactionHash: string): Promise<Receipt | null> {
  return read('eth_getTransactionReceipt', [transactionHash], toReceipt);
}

/**
 * The receipts of a block's own transactions that have one of the hashes. Rollups also list entries of other forms,
 * which are left out. A receipt that is left out can be asked for by its hash.
 * @param hashes in lower case
 */
export function blockReceipts(read: ReadFromEndpoint, number: bigint, hashes: ReadonlySet<string>): Promise<Receipt[]> {
  // A block can have thousands of receipts, and checking one takes much longer than looking at its hash.
  const isAsked = (receipt: Json) => {
    const named = valueOf(receipt, 'transactionHash');
    return typeof named === 'string' && hashes.has(named.toLowerCase());
  };
  const receiptsIn = (answer: Json) =>
    (answer === null ? [] : listIn(answer))
      .filter(isAsked)
      .map(receiptIfAny)
      .filter((one): one is Receipt => one?.blockNumber === number);
  return read('eth_getBlockReceipts', [toQuantity(number)], receiptsIn, { isLong: true, shares: 'under way' });
}

function receiptIfAny(answer: Json): Receipt | null {
  try {
    return toReceipt(answer);
  } catch {
    return null;
  }
}

/**
 * Reads a receipt. Null for no receipt, and for one without a block: some nodes show such receipts for transactions in
 * their pool.
 * @throws TypeError
 */
function toReceipt(answer: Json): Receipt | null {
  if (answer === null) return null;
  const found = objectIn(answer);
  if (found['blockNumber'] === null || found['blockHash'] === null) return null;
  return {
    transactionHash: hash(found['transactionHash']),
    from: address(found['from']),
    blockNumber: figure(found['blockNumber']),
    blockHash: hash(found['blockHash']),
    succeeded: succeeded(found),
    gasUsed: parseOrNull(found['gasUsed'], figure),
    effectiveGasPrice: parseOrNull(found['effectiveGasPrice'], figure),
    contractAddress: parseOrNull(found['contractAddress'], address),
  };
}

/**
 * Whether the transaction succeeded. Null for a receipt with a state root, which EIP-658 replaced by the status. A
 * receipt with neither is incomplete, and reading it throws.
 */
function succeeded({ status, root }: JsonObject): boolean | null {
  if ((status === undefined || status === null) && root !== undefined && root !== null) {
    hash(root);
    return null;
  }
  return figure(status) === 1n;
}

/** Reads an integer of a receipt, which some nodes and middleware write as a JSON number. */
function figure(value: Json | undefined): bigint {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : parseQuantity(value);
}

/** The hash that a node answers to an offer of signed bytes. It does not say what the node does with them. */
export function sentHash(answer: Json): string {
  return hash(answer);
}

/** An integer in the RPC's form: `0x` and hexadecimal digits. */
export function toQuantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Call data in the RPC's form, with or without its `0x`. */
export function toData(data: string | null): string {
  return `0x${(data ?? '').replace(/^0x/, '')}`;
}

/**
 * Reads the RPC's form of an integer.
 * @throws TypeError
 */
export function parseQuantity(value: Json | undefined): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw new TypeError('not a quantity');
  return BigInt(value);
}

/**
 * Reads a node's price, in wei per gas.
 * @throws TypeError also for a price that no chain ever had: it would make fees overflow
 */
export function parseGasPrice(value: Json | undefined): bigint {
  const amount = parseQuantity(value);
  if (amount >= MAX_PRICE) throw new TypeError('not a price');
  return amount;
}

function hash(value: Json | undefined): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) throw new TypeError('not a hash');
  return value.toLowerCase();
}

function address(value: Json | undefined): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) throw new TypeError('not an address');
  return value.toLowerCase();
}
