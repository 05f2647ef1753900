import { amountOf } from '../../domain/amount.ts';
import type { Json } from '../../domain/json/json.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { type OfferMethod, offerBytes, offerToEveryEndpoint } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import { classifyBroadcastError } from './errors.ts';
import { blockNumber, sentHash, toQuantity } from './rpc-calls.ts';
import { readChainFields } from './schema.ts';

const publicOffer: OfferMethod = {
  method: 'eth_sendRawTransaction',
  params: ({ raw }) => [raw],
  isOurs: (answer, { hash }) => namesOurs(answer, hash),
  failure: classifyBroadcastError,
};

/** Where transactions go: the public endpoints, and the relays for private ones, by their method. */
export interface BroadcastRoutes {
  rpc: RpcClient;
  relays: ReadonlyMap<string, RpcClient>;
}

/**
 * Offers signed transactions, lowest nonce first. Private ones go to every relay, and to public endpoints only once the
 * blocks are over after which their relayer's policy says so.
 */
export async function broadcast(
  { rpc, relays }: BroadcastRoutes,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  if (!attempts.some((attempt) => privacyOf(attempt) !== undefined)) return broadcastPublicly(rpc, attempts);
  const head = await rpc.onOne(blockNumber);
  const isPublic = (attempt: Attempt) => {
    const privacy = privacyOf(attempt);
    return (
      privacy === undefined || (privacy.after === 'public' && head > amountOf(privacy.from) + BigInt(privacy.blocks))
    );
  };
  const [open, hidden] = [attempts.filter(isPublic), attempts.filter((attempt) => !isPublic(attempt))];
  const outcomes = new Map<Attempt, BroadcastOutcome | undefined>();
  const note = (some: readonly Attempt[], reported: readonly BroadcastOutcome[]) => {
    for (const [index, attempt] of some.entries()) outcomes.set(attempt, reported[index]);
  };
  await Promise.all([
    broadcastPublicly(rpc, open).then((reported) => note(open, reported)),
    broadcastPrivately({ rpc, relays }, hidden, head).then((reported) => note(hidden, reported)),
  ]);
  return attempts.map((attempt) => outcomes.get(attempt) ?? NO_RELAY);
}

const NO_RELAY: BroadcastOutcome = {
  kind: 'unknown',
  reason: 'It is private, and its network has no private_rpc_urls any more. It is offered to no public endpoint',
};

function privacyOf({ fields }: Attempt) {
  return readChainFields(fields)?.private;
}

async function broadcastPrivately(
  { rpc, relays }: BroadcastRoutes,
  attempts: readonly Attempt[],
  head: bigint,
): Promise<BroadcastOutcome[]> {
  if (attempts.length === 0 || relays.size === 0) return attempts.map(() => NO_RELAY);
  const ways = [...relays].map(([method, relay]) => ({
    rpc: relay,
    offerMethod: method === 'eth_sendPrivateTransaction' ? privateOffer(head) : publicOffer,
  }));
  return lookedUpIfUnclear(rpc, attempts, await offerToEveryEndpoint(ways, attempts));
}

/**
 * The method of Flashbots, MEV-Share and MEV Blocker, with the last block that the relay should try. It gets a later one
 * whenever the bytes are offered again. Titan's builder answers 200 instead of the hash.
 */
function privateOffer(head: bigint): OfferMethod {
  return {
    ...publicOffer,
    method: 'eth_sendPrivateTransaction',
    params: (attempt) => {
      const blocks = BigInt(privacyOf(attempt)?.blocks ?? 1);
      return [{ tx: attempt.raw, maxBlockNumber: toQuantity(head + blocks) }];
    },
    isOurs: (answer, { hash }) => answer === 200 || namesOurs(answer, hash),
  };
}

/**
 * Offers signed transactions to public endpoints. Where every node turns one away with words that nobody knows, asks
 * each of them whether it has it all the same.
 */
async function broadcastPublicly(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  return lookedUpIfUnclear(rpc, attempts, await offerBytes(rpc, publicOffer, attempts));
}

/** Asks every node whether it has the transactions of which nobody knows what the nodes' words mean. */
function lookedUpIfUnclear(
  rpc: RpcClient,
  attempts: readonly Attempt[],
  outcomes: readonly BroadcastOutcome[],
): Promise<BroadcastOutcome[]> {
  return Promise.all(
    outcomes.map(async (outcome, index) => {
      if (outcome.kind !== 'unknown' || outcome.isClear !== true) return outcome;
      const hash = attempts[index]?.hash;
      return { ...outcome, isClear: hash !== undefined && (await isNowhere(rpc, hash)) };
    }),
  );
}

/** Whether every node says that it does not have the transaction, in a block or in its pool. */
async function isNowhere(rpc: RpcClient, hash: string): Promise<boolean> {
  const answers = await rpc.each('eth_getTransactionByHash', [hash]);
  return answers.every((answer) => answer.status === 'fulfilled' && answer.value === null);
}

function namesOurs(answer: Json, hash: string): boolean {
  try {
    return sentHash(answer) === hash.toLowerCase();
  } catch {
    return false;
  }
}
