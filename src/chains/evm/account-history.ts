import { Signature } from 'ethers/crypto';
import { Transaction as EthersTransaction } from 'ethers/transaction';
import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { sequenceOf } from '../../features/transactions/records/anchor.ts';
import type { Timestamp, Transaction } from '../../features/transactions/records/transaction.ts';
import type { AccountHistoryQuery, PastTransaction, PastTransactionsAnswer } from '../chain-client.ts';
import { answersInTime, type EndpointHistory, mergeEndpointHistories } from '../quorum.ts';
import { normalAddress } from './address.ts';
import { nonceUseInBlock } from './inclusion/nonce-use.ts';
import { mapLimited, undefinedIfRefused } from './inclusion/receipts.ts';
import { blockNumber, blockTime, getFullBlock, hasCode, toData, toQuantity, transactionCount } from './rpc-calls.ts';
import { readStoredRequest, storedFields } from './schema.ts';
import { signatureView } from './signing.ts';

/** How far a node's clock and ours may be apart. */
const SLACK_MS = 300_000;
/** So few blocks are read whole without asking for states. */
const FEW_BLOCKS = 16n;
/** The most blocks that are read whole where a node has no states of them: half a day of Ethereum. */
const MAX_BLOCKS = 4_096n;
/** The most transactions of an account that are looked at. */
const MAX_TRANSACTIONS = 1_000n;
/** How long the endpoints have. Other work of the lane does not wait for them. */
const PATIENCE = { withinMs: 120_000 };

/** The receiver, value, data and authorizations of a request, in one form. */
export function requestContentOf({ request }: Pick<Transaction, 'request'>): string {
  const { to, value, data, authorizationList } = readStoredRequest(request);
  const authorizations = authorizationList.map(({ chain_id, address, nonce, y_parity, r, s }) =>
    [amountOf(chain_id), address, amountOf(nonce), y_parity, r, s].join(':'),
  );
  return textOf(to === null ? null : normalAddress(to), value, toData(data), authorizations);
}

function textOf(to: string | null, value: bigint, data: string, authorizations: readonly string[]): string {
  return [to ?? 'creation', value, data, ...authorizations].join(' ').toLowerCase();
}

/**
 * Looks through the blocks for the account's own transactions. Each found one carries the account's signature, so one
 * endpoint is enough to find it. That there is nothing else needs a second endpoint, where there is one.
 */
export async function readAccountHistory(
  rpc: RpcClient,
  question: AccountHistoryQuery,
): Promise<PastTransactionsAnswer> {
  const { sequences, account } = question;
  if (sequences === null) throw new TypeError('an EVM account has nonces');
  const { from, to } = sequences;
  const range: NonceRange = { account: normalAddress(account.address), from: from ?? 0n, to, since: question.since };
  if (from !== null && to - from > MAX_TRANSACTIONS) {
    const reason = `it has sent ${to - from} transactions since the database's last one`;
    return { kind: 'unproved', found: [], reason };
  }
  const looks = await answersInTime(
    rpc.onAll((read) => lookOn(read, range)),
    PATIENCE,
  );
  const answer = mergeEndpointHistories(looks, rpc.endpointCount);
  const unknown: PastTransaction[] = [];
  for (const one of answer.found.toSorted(bySequence)) if (!(await question.isKnown(one.hash))) unknown.push(one);
  return { ...answer, found: unknown };
}

function bySequence(one: PastTransaction, other: PastTransaction): number {
  return (sequenceOf(one.anchor) ?? 0n) < (sequenceOf(other.anchor) ?? 0n) ? -1 : 1;
}

interface NonceRange {
  /** In lower case. */
  account: string;
  from: bigint;
  to: bigint;
  since: Timestamp;
}

interface OwnTransaction {
  nonce: bigint;
  past: PastTransaction;
}

async function lookOn(read: ReadFromEndpoint, range: NonceRange): Promise<EndpointHistory> {
  const { account, from, to } = range;
  const head = await blockNumber(read);
  const count = await transactionCount(read, account, 'latest');
  const low = await lastBlockBefore(read, range.since - SLACK_MS, head);
  const places = await blocksWithUses(read, range, { low, head, count });
  if ('lack' in places) return { found: [], lack: places.lack };
  const found: PastTransaction[] = [];
  const used = new Set<bigint>();
  let isSeen = true;
  await mapLimited(places.blocks, async (number) => {
    const transactions = await ownIn(read, number, account);
    if (transactions === null) {
      isSeen = false;
      return;
    }
    for (const one of transactions) {
      used.add(one.nonce);
      if (one.nonce >= from && one.nonce < to) found.push(one.past);
    }
  });
  if (!isSeen) return { found, lack: { kind: 'unproved', reason: 'an endpoint does not show the blocks' } };
  const top = count < to ? count : to;
  const first = places.first ?? [...used].reduce((least, nonce) => (nonce < least ? nonce : least), top);
  const missing: bigint[] = [];
  for (let nonce = first > from ? first : from; nonce < top; nonce += 1n) if (!used.has(nonce)) missing.push(nonce);
  for (const nonce of missing) {
    if (!(await isUsedOtherwise(read, account, nonce, places.blocks))) {
      return { found, lack: { kind: 'waiting', reason: `no block shows what used nonce ${nonce}` } };
    }
  }
  if (count < to)
    return { found, lack: { kind: 'waiting', reason: `${to - count} of its transactions are in no block yet` } };
  return { found };
}

/** The last block that was made before a moment; -1 where there is none. */
async function lastBlockBefore(read: ReadFromEndpoint, moment: Timestamp, head: bigint): Promise<bigint> {
  for (let stride = 1n; head - stride >= 0n; stride *= 2n) {
    const madeAt = await blockTime(read, head - stride).catch(undefinedIfRefused);
    if (madeAt == null || madeAt < moment) return head - stride;
  }
  return -1n;
}

interface Span {
  low: bigint;
  head: bigint;
  /** The account's count at the head. */
  count: bigint;
}

/** The blocks that may use a nonce, and the first nonce that they use where that is known. */
type Places = { blocks: bigint[]; first?: bigint } | { lack: NonNullable<EndpointHistory['lack']> };

/** A part of the chain, with the account's counts at both ends. */
interface Part {
  low: bigint;
  high: bigint;
  before: bigint;
  after: bigint;
}

/**
 * Finds the blocks in which the account's count rises, by the states. Where a node has pruned them, all blocks of that
 * time are read whole.
 */
async function blocksWithUses(
  read: ReadFromEndpoint,
  { account, from, to }: NonceRange,
  { low, head, count }: Span,
): Promise<Places> {
  if (count <= from) return { blocks: [], first: count };
  if (head - low <= FEW_BLOCKS) return { blocks: upTo(low + 1n, head) };
  const countAt = (block: bigint) => transactionCount(read, account, block).catch(undefinedIfRefused);
  // Steps back until a count shows that nothing before it matters.
  let lowest: Part = { low: head, high: head, before: count, after: count };
  for (let stride = 1n; lowest.before > from && lowest.low > low; stride *= 2n) {
    const block = head - stride > low ? head - stride : low;
    const before = block < 0n ? 0n : await countAt(block);
    if (before === undefined) break;
    lowest = { low: block, high: head, before, after: count };
  }
  const isReached = lowest.before <= from || lowest.low <= low;
  if (!isReached && lowest.low - low > MAX_BLOCKS) {
    const reason = `the endpoints have pruned the states of the last ${head - low} blocks, and that is too many to read`;
    return { lack: { kind: 'unproved', reason } };
  }
  const blocks = isReached ? [] : upTo(low + 1n, lowest.low);
  for (let parts = [lowest]; parts.length > 0; ) {
    const open = parts.filter(({ before, after }) => after > before && after > from && before < to);
    blocks.push(...open.filter(({ low, high }) => high - low === 1n).map(({ high }) => high));
    const halves = await mapLimited(
      open.filter(({ low, high }) => high - low > 1n),
      async (part): Promise<Part[] | undefined> => {
        const middle = (part.low + part.high) / 2n;
        const between = await countAt(middle);
        if (between === undefined) return undefined;
        return [
          { ...part, high: middle, after: between },
          { ...part, low: middle, before: between },
        ];
      },
    );
    if (halves.includes(undefined)) {
      return { lack: { kind: 'waiting', reason: 'an endpoint shows some states and not others' } };
    }
    parts = halves.flatMap((one) => one ?? []);
  }
  return isReached ? { blocks, first: lowest.before } : { blocks };
}

function upTo(first: bigint, last: bigint): bigint[] {
  return Array.from({ length: Math.max(0, Number(last - first) + 1) }, (_, index) => first + BigInt(index));
}

/** Whether something else than a transaction of the account used its nonce: an authorization or its code (EIP-7702). */
async function isUsedOtherwise(
  read: ReadFromEndpoint,
  account: string,
  nonce: bigint,
  blocks: readonly bigint[],
): Promise<boolean> {
  for (const number of blocks) {
    const block = await getFullBlock(read, number).catch(undefinedIfRefused);
    if (block != null && nonceUseInBlock(block, number, { account, sequence: nonce, hashes: [] }) !== undefined)
      return true;
  }
  const last = blocks.at(-1);
  return last !== undefined && (await hasCode(read, account, last).catch(undefinedIfRefused)) === true;
}

/** The account's own transactions in a block; null where the node does not show the block. */
async function ownIn(read: ReadFromEndpoint, number: bigint, account: string): Promise<OwnTransaction[] | null> {
  if ((await getFullBlock(read, number).catch(undefinedIfRefused)) == null) return null;
  return read(
    'eth_getBlockByNumber',
    [toQuantity(number), true],
    (answer) => {
      const listed = isObject(answer) && Array.isArray(answer['transactions']) ? answer['transactions'] : [];
      return listed
        .filter(isObject)
        .filter(({ from }) => typeof from === 'string' && from.toLowerCase() === account)
        .map((shown) => ownOf(shown, account));
    },
    { isLong: true },
  );
}

/**
 * Reads a transaction and checks that the account has signed it.
 * @throws TypeError for one that it has not signed
 */
function ownOf(shown: JsonObject, account: string): OwnTransaction {
  const text = (name: string) => {
    const value = shown[name];
    return typeof value === 'string' ? value : undefined;
  };
  const nonce = BigInt(text('nonce') ?? '');
  const hash = (text('hash') ?? '').toLowerCase();
  const signed = signedOf(shown, text);
  if (signed === undefined || signed.hash !== hash || signed.from?.toLowerCase() !== account) {
    // A form that this service does not sign, such as a rollup's own: somebody else's tool has sent it.
    const past = { content: null, anchor: { kind: 'sequence', sequence: nonce }, raw: '', hash, fields: {} } as const;
    return { nonce, past };
  }
  const { to, value, data, gasLimit, gasPrice, maxFeePerGas, maxPriorityFeePerGas, chainId, signature } = signed;
  const authorizations = (signed.authorizationList ?? []).map(
    ({ chainId, address, nonce, signature: { yParity, r, s } }) => [chainId, address, nonce, yParity, r, s].join(':'),
  );
  const hasTwoFees = maxFeePerGas !== null && maxPriorityFeePerGas !== null;
  const { r = '0x', s = '0x', yParity = 0 } = signature ?? {};
  const fields = storedFields({
    chain_id: jsonAmount(chainId),
    from: account,
    gas_limit: jsonAmount(gasLimit),
    ...(hasTwoFees
      ? { max_fee_per_gas: jsonAmount(maxFeePerGas), max_priority_fee_per_gas: jsonAmount(maxPriorityFeePerGas) }
      : { gas_price: jsonAmount(gasPrice ?? 0n) }),
    signature: signatureView(r.slice(2), s.slice(2), yParity + (signed.type === 0 ? 27 : 0)),
  });
  const content = textOf(to, value, data, authorizations);
  return {
    nonce,
    past: { content, anchor: { kind: 'sequence', sequence: nonce }, raw: signed.serialized, hash, fields },
  };
}

/** Undefined for a form that cannot be read. */
function signedOf(shown: JsonObject, text: (name: string) => string | undefined): EthersTransaction | undefined {
  try {
    const type = Number(text('type') ?? '0x0');
    if (![0, 1, 2, 4].includes(type)) return undefined;
    const transaction = new EthersTransaction();
    transaction.type = type;
    transaction.to = text('to') ?? null;
    transaction.nonce = Number(BigInt(text('nonce') ?? ''));
    transaction.gasLimit = BigInt(text('gas') ?? '');
    transaction.value = BigInt(text('value') ?? '');
    transaction.data = text('input') ?? text('data') ?? '0x';
    const [v, yParity] = [text('v'), text('yParity')];
    const chainId = text('chainId');
    if (chainId !== undefined) transaction.chainId = BigInt(chainId);
    if (type === 0 || type === 1) transaction.gasPrice = BigInt(text('gasPrice') ?? '');
    else {
      transaction.maxFeePerGas = BigInt(text('maxFeePerGas') ?? '');
      transaction.maxPriorityFeePerGas = BigInt(text('maxPriorityFeePerGas') ?? '');
    }
    if (type !== 0) transaction.accessList = (shown['accessList'] ?? []) as unknown as [];
    if (type === 4) transaction.authorizationList = authorizationsIn(shown['authorizationList']);
    const [r, s] = [word(text('r')), word(text('s'))];
    transaction.signature =
      type === 0
        ? Signature.from({ r, s, v: BigInt(v ?? '') })
        : Signature.from({ r, s, yParity: Number(yParity ?? v ?? '') === 1 ? 1 : 0 });
    return transaction;
  } catch {
    return undefined;
  }
}

function authorizationsIn(list: Json | undefined) {
  return (Array.isArray(list) ? list : []).filter(isObject).map((one) => {
    const text = (name: string) => {
      const value = one[name];
      return typeof value === 'string' ? value : undefined;
    };
    const amount = (name: string) => BigInt(text(name) ?? '');
    const yParity = BigInt(text('yParity') ?? text('v') ?? '') === 1n ? 1 : 0;
    return {
      address: text('address') ?? '',
      nonce: amount('nonce'),
      chainId: amount('chainId'),
      signature: Signature.from({ r: word(text('r')), s: word(text('s')), yParity }),
    } as const;
  });
}

function word(value: string | undefined): string {
  return `0x${BigInt(value ?? '')
    .toString(16)
    .padStart(64, '0')}`;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
