import { amountOf } from '../../../domain/amount.ts';
import { EndpointUnfit, type ReadFromEndpoint, type RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../../features/transactions/records/attempt.ts';
import { answersInTime, type EndpointOpinion, proofByOpinions } from '../../quorum.ts';
import { SEARCH_BACK_SLOTS } from '../form/draft.ts';
import { decodeMessage } from '../message/compiled-message.ts';
import { type DurableNonceState, getDurableNonceState } from '../message/durable-nonce.ts';
import {
  type ChainTip,
  chainTip,
  firstAvailableBlock,
  isBlockhashValid,
  isWithoutHistory,
  signatureStatuses,
} from '../rpc-calls.ts';
import type { SolanaFields } from '../schema.ts';

/** An attempt that is looked for on the chain. */
export interface UnseenAttempt {
  attempt: Attempt;
  fields: SolanaFields;
}

type Nonces = ReadonlyMap<string, DurableNonceState>;

/** What the endpoints make of attempts whose time is over. */
export interface ExpiryVerdicts {
  /** In no block, and never in one: several endpoints show it, or the only one. */
  dead: ReadonlySet<Attempt>;
  /** Why the others of them are not proved to be in no block, where it is for want of an endpoint's history. */
  unproved: ReadonlyMap<Attempt | undefined, string>;
}

/**
 * Judges the attempts that may be in no block and never in one. Where there are several endpoints, a second endpoint has to show
 * the same, and none may deny it.
 * @param final the end of the final chain of the node that is read
 * @param attempts the attempts of which that node has no status
 */
export async function findDeadAttempts(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  final: ChainTip,
  attempts: readonly UnseenAttempt[],
): Promise<ExpiryVerdicts> {
  const nonces = await noncesOf(read, attempts);
  const claimed = attempts.filter((one) => isOver(one, final, nonces));
  if (claimed.length === 0) return { dead: new Set(), unproved: new Map() };
  const ask = (one: ReadFromEndpoint) =>
    opinionsOn(one, claimed).catch((error: unknown) => withoutHistory(error, claimed));
  const own = await ask(read);
  const others = await answersInTime(rpc.onOthers(read, ask));
  const isProved = (opinions: readonly EndpointOpinion[]) =>
    rpc.endpointCount < 2 ? opinions.includes('same') : proofByOpinions(opinions) === 'shown';
  const dead = new Set<Attempt>();
  const unproved = new Map<Attempt, string>();
  for (const [index, { attempt, fields }] of claimed.entries()) {
    const reported = [own, ...others].flatMap((opinions) => opinions[index] ?? []);
    const opinions = reported.map((one): EndpointOpinion => (one === 'forgotten' ? 'none' : one));
    if (isProved(opinions)) dead.add(attempt);
    else if (reported.includes('forgotten') && !opinions.includes('other')) {
      unproved.set(attempt, reasonOf(rpc.endpointCount, fields));
    }
  }
  return { dead, unproved };
}

function reasonOf(endpoints: number, { slot }: SolanaFields): string {
  const who = endpoints < 2 ? 'the endpoint does not tell' : 'too few endpoints tell';
  return (
    `Its time to be in a block is over, and ${who} of a history back to slot ${slot} ` +
    '(getFirstAvailableBlock, getSignatureStatuses): that it is in no block is not proved'
  );
}

/** `forgotten`: the attempt's time is over, and the node's history does not prove that it is in no block. */
type Finding = EndpointOpinion | 'forgotten';

/** A node without a history has no opinion on what is missing. */
function withoutHistory(error: unknown, claimed: readonly UnseenAttempt[]): Finding[] {
  if (isWithoutHistory(error)) return claimed.map(() => 'forgotten');
  throw error;
}

/**
 * One node's opinion on the claim that each attempt is dead. The order of the calls matters. The final chain comes
 * first: once an attempt's time is over there, it is in a block by then or never. The statuses come next. The start of
 * the history comes last, so that it shows every block that the node had dropped before the statuses were read.
 */
async function opinionsOn(read: ReadFromEndpoint, claimed: readonly UnseenAttempt[]): Promise<Finding[]> {
  const [final, nonces, alive] = await Promise.all([
    chainTip(read, 'finalized'),
    noncesOf(read, claimed),
    aliveAmong(read, claimed),
  ]);
  const hashes = claimed.map(({ attempt }) => attempt.hash);
  const { slot, statuses } = await signatureStatuses(read, hashes);
  const least = [...nonces.values()].reduce((most, nonce) => (nonce.slot > most ? nonce.slot : most), final.slot);
  assertStatusesReach(slot, least);
  const first = await firstAvailableBlock(read);
  return claimed.map((one, index) => {
    if (statuses[index] !== null) return 'other';
    if (!isOver(one, final, nonces) || alive.has(one)) return 'none';
    return first !== undefined && first <= amountOf(one.fields.slot) ? 'same' : 'forgotten';
  });
}

/**
 * Checks that statuses go as far as what was read before them. Behind a gateway each call may reach another node.
 * @throws EndpointUnfit where they end earlier
 */
export function assertStatusesReach(slot: bigint, least: bigint): void {
  if (slot >= least) return;
  throw new EndpointUnfit(`its statuses end at slot ${slot}, before ${least}`, { pauseMs: 0 });
}

/** Whether the time in which an attempt could get into a block is over, by the final chain. */
function isOver({ attempt, fields }: UnseenAttempt, final: ChainTip, nonces: Nonces): boolean {
  const { last_valid_block_height: last, nonce_account: account = '' } = fields;
  if (last !== null) return final.height > amountOf(last);
  const nonce = nonces.get(account);
  if (nonce === undefined) return false;
  if (nonce.value !== undefined) return !isUnder(attempt, account, nonce.value);
  // The nonce account was there when the attempt was made. An account that is made anew has another value.
  return nonce.slot > amountOf(fields.slot) + SEARCH_BACK_SLOTS;
}

/** Whether an attempt is still good under a nonce's value. */
function isUnder({ anchor }: Attempt, account: string, value: string): boolean {
  return anchor.kind === 'text' && anchor.text === `${account}:${value}`;
}

/** The final state of the durable nonces, by account. */
async function noncesOf(read: ReadFromEndpoint, attempts: readonly UnseenAttempt[]): Promise<Nonces> {
  const accounts = [...new Set(attempts.flatMap(({ fields }) => fields.nonce_account ?? []))];
  const states = await Promise.all(
    accounts.map(
      async (account): Promise<[string, DurableNonceState]> => [
        account,
        await getDurableNonceState(read, account, 'finalized'),
      ],
    ),
  );
  return new Map(states);
}

/**
 * The attempts whose blockhash the node still takes. Their last valid height is one endpoint's word, which may be a
 * lie.
 */
async function aliveAmong(
  read: ReadFromEndpoint,
  attempts: readonly UnseenAttempt[],
): Promise<ReadonlySet<UnseenAttempt>> {
  const blockhashOf = ({ fields }: UnseenAttempt) =>
    fields.last_valid_block_height === null ? [] : [decodeMessage(Buffer.from(fields.message, 'base64')).blockhash];
  const blockhashes = [...new Set(attempts.flatMap(blockhashOf))];
  const valid = await Promise.all(blockhashes.map((blockhash) => isBlockhashValid(read, blockhash, 'confirmed')));
  const alive = new Set(blockhashes.filter((_blockhash, index) => valid[index]));
  return new Set(attempts.filter((one) => blockhashOf(one).some((blockhash) => alive.has(blockhash))));
}
