import { jsonAmount } from '../../domain/amount.ts';
import { isNodeError, type ReadFromEndpoint, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Anchor } from '../../features/transactions/records/anchor.ts';
import type { Timestamp, Transaction } from '../../features/transactions/records/transaction.ts';
import type { AccountHistoryQuery, PastTransaction, PastTransactionsAnswer, RelayerAccount } from '../chain-client.ts';
import { answersInTime, type EndpointHistory, mergeEndpointHistories } from '../quorum.ts';
import { searchStartSlot } from './form/draft.ts';
import { BLOCKHASH_LIFETIME_BLOCKS } from './inclusion/blockhash-lifetime.ts';
import { type CompiledMessage, compileLegacyMessage, isWritableAccount } from './message/compiled-message.ts';
import { durableNonceOf } from './message/durable-nonce.ts';
import { decodeTransaction, isSignatureOf, type WireTransaction } from './message/transaction.ts';
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './programs.ts';
import {
  blockTime,
  chainTip,
  firstAvailableBlock,
  getTransactionBytes,
  isWithoutHistory,
  signaturesFor,
} from './rpc-calls.ts';
import { readStoredRequest, type SolanaFields, toTransactionInstructions } from './schema.ts';

/** How far the chain's clock and ours may be apart. The chain's clock may lag by some tens of seconds. */
const SLACK_MS = 300_000;
/** The most transactions that are listed and read. Whoever sends dust to the account makes the list longer. */
const MAX_LISTED = 5_000;
const MAX_READ = 1_000;
const CALLS_AT_ONCE = 16;
/** Agave, rpc-client-api/src/custom_error.rs. */
const UNSUPPORTED_VERSION = -32_015;
/** How long the endpoints have. Other work of the lane does not wait for them. */
const PATIENCE = { withinMs: 120_000 };

/**
 * A blockhash that was known before counts for 150 blocks more, and final blocks are about 32 behind. Until then, what
 * was sent before may still get into a block.
 */
export const LANDS_WITHIN_BLOCKS = BLOCKHASH_LIFETIME_BLOCKS + 50n;

/**
 * What a request does; its very message where others have signed it or a durable nonce holds it. Null where the
 * relayer's signature is known already, so that the chain shows its end.
 */
export function requestContentOf({ request }: Pick<Transaction, 'request'>, account: RelayerAccount): string | null {
  const { transaction, instructions } = readStoredRequest(request);
  if (transaction !== undefined) {
    const { message, messageBytes, signatures } = decodeTransaction(transaction);
    const [own = Buffer.alloc(0)] = signatures;
    if (isSignatureOf(message.keys[0] ?? '', own, messageBytes)) return null;
    return textOf(message, messageBytes);
  }
  // A swap takes what there is to be swapped. After the first, nothing is left for a second.
  if (instructions === undefined) return null;
  return textOf(
    compileLegacyMessage({
      payer: account.address,
      instructions: toTransactionInstructions(instructions),
      blockhash: ANY_BLOCKHASH,
    }),
  );
}

/** 32 zero bytes, which are the system program's address as well. */
const ANY_BLOCKHASH = SYSTEM_PROGRAM;

/** The instructions without those for compute units, which the service adds. */
function textOf(message: CompiledMessage, bytes?: Buffer): string {
  const { keys, instructions, lookups } = message;
  const isFixed = message.signers > 1 || durableNonceOf(message) !== undefined;
  if (isFixed && bytes !== undefined) return bytes.toString('base64');
  const looked = [
    ...lookups.flatMap(({ table, writable }) => writable.map((index) => `${table}:${index}:w`)),
    ...lookups.flatMap(({ table, readonly }) => readonly.map((index) => `${table}:${index}:r`)),
  ];
  const accountAt = (index: number) => keys[index] ?? looked[index - keys.length] ?? '';
  return instructions
    .filter(({ program }) => keys[program] !== COMPUTE_BUDGET_PROGRAM)
    .map(({ program, accounts, data }) => {
      const named = accounts.map((index) => `${accountAt(index)}${isWritableAccount(message, index) ? '+' : ''}`);
      return [keys[program], named.join(','), data.toString('base64')].join(' ');
    })
    .join('\n');
}

/** Looks through the account's signatures since a moment for transactions that it has paid for. */
export async function readAccountHistory(
  rpc: RpcClient,
  question: AccountHistoryQuery,
): Promise<PastTransactionsAnswer> {
  const looks = await answersInTime(
    rpc.onAll((read) => lookOn(read, question)),
    PATIENCE,
  );
  return mergeEndpointHistories(looks, rpc.endpointCount);
}

async function lookOn(read: ReadFromEndpoint, question: AccountHistoryQuery): Promise<EndpointHistory> {
  const { account, since, isKnown } = question;
  const listed: string[] = [];
  try {
    const isReached = await list(read, account.address, since - SLACK_MS, listed);
    if (!isReached) return lacking(`it has more than ${MAX_LISTED} transactions since then`);
  } catch (error) {
    if (isWithoutHistory(error)) return lacking('an endpoint keeps no history');
    throw error;
  }
  const unknown: string[] = [];
  for (const signature of listed) if (!(await isKnown(signature))) unknown.push(signature);
  if (unknown.length > MAX_READ) return lacking(`it has ${unknown.length} unknown transactions since then`);
  const { height } = await chainTip(read, 'confirmed');
  const found: PastTransaction[] = [];
  let isShown = true;
  // The oldest first.
  unknown.reverse();
  for (let at = 0; at < unknown.length; at += CALLS_AT_ONCE) {
    const signatures = unknown.slice(at, at + CALLS_AT_ONCE);
    const read16 = await Promise.all(signatures.map((signature) => pastOf(read, signature, account.address, height)));
    for (const one of read16) {
      if (one === null) isShown = false;
      else if (one !== undefined) found.push(one);
    }
  }
  return isShown ? { found } : { found, lack: { kind: 'waiting', reason: 'an endpoint lists what it does not show' } };
}

function lacking(reason: string): EndpointHistory {
  return { found: [], lack: { kind: 'unproved', reason } };
}

/**
 * Lists signatures, the newest first.
 * @returns whether the list goes back to the moment
 */
async function list(read: ReadFromEndpoint, address: string, moment: Timestamp, listed: string[]): Promise<boolean> {
  for (let before: string | undefined; listed.length < MAX_LISTED; before = listed.at(-1)) {
    const page = await signaturesFor(read, address, before);
    for (const { signature, madeAt } of page) {
      if (madeAt !== null && madeAt < moment) return true;
      listed.push(signature);
    }
    if (page.length > 0) continue;
    // The end of the list: the account has no earlier ones, or the node has forgotten them.
    const first = await firstAvailableBlock(read);
    if (first === undefined) return false;
    const madeAt = first === 0n ? 0 : await blockTime(read, first).catch(() => null);
    return madeAt !== null && madeAt < moment;
  }
  return false;
}

/** Null where the node does not show it; undefined for one that somebody else has paid for. */
async function pastOf(
  read: ReadFromEndpoint,
  signature: string,
  address: string,
  height: bigint,
): Promise<PastTransaction | null | undefined> {
  const landed = await getTransactionBytes(read, signature).catch((error: unknown) => {
    // A version that this service does not read, so none that it has signed.
    if (isNodeError(error)) return error.code === UNSUPPORTED_VERSION ? undefined : null;
    throw error;
  });
  if (landed == null) return landed;
  const decoded = readable(landed.bytes);
  if (decoded === undefined) return undefined;
  const { message, messageBytes, signatures } = decoded;
  const [own = Buffer.alloc(0), ...others] = signatures;
  if (message.keys[0] !== address || !isSignatureOf(address, own, messageBytes)) return undefined;
  const nonce = durableNonceOf(message);
  const fields: SolanaFields = {
    message: messageBytes.toString('base64'),
    signatures: ['', ...others.map((one) => one.toString('base64'))],
    last_valid_block_height: nonce === undefined ? jsonAmount(height + BLOCKHASH_LIFETIME_BLOCKS) : null,
    slot: jsonAmount(searchStartSlot(landed.slot)),
    fee: jsonAmount(landed.fee),
    ...(nonce === undefined ? {} : { nonce_account: nonce.account }),
    transaction: landed.bytes,
  };
  const anchor: Anchor =
    nonce === undefined ? { kind: 'none' } : { kind: 'text', text: `${nonce.account}:${nonce.value}` };
  return { content: textOf(message, messageBytes), anchor, raw: landed.bytes, hash: signature, fields };
}

function readable(bytes: string): WireTransaction | undefined {
  try {
    return decodeTransaction(bytes);
  } catch {
    return undefined;
  }
}
