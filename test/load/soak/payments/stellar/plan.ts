import { createHash } from 'node:crypto';
import { Keypair } from '@stellar/stellar-sdk';
import { seededUnit } from '../../../../support/seeded.ts';
import type { Intention } from '../intention.ts';

/** A relayer and the key of the account that pays for it. */
export interface StellarRelayer {
  readonly relayerId: string;
  readonly key: Keypair;
}

/**
 * `payment`, `call` (of the native asset's contract) and `envelope` (unsigned) use a sequence of the relayer's account.
 * So do `stray`, which pays a missing account, and `broken call`, which calls a missing function. Users sign the other
 * kinds, and the relayer wraps them in a fee bump: `bump` makes a payment, `rival` uses the same sequence as another
 * request, `pauper` pays more than the user can spend.
 */
export type StellarKind = (typeof KINDS)[number][0] | 'rival';

/** A request to a Stellar relayer. Its receiver is unique. */
export interface StellarIntention extends Intention {
  readonly kind: StellarKind;
  /** The account to pay. */
  readonly to: string;
  /** The user who signs; null if only the relayer signs. */
  readonly user: Keypair | null;
}

/** Makes a request's body when the client sends it. */
export type MakeBody = (intention: StellarIntention) => Promise<Readonly<Record<string, unknown>>>;

/** The amount of each payment, in stroops. */
export const STROOPS = 1_000n;

/** The share of pairs of requests that are rivals. */
const RIVALS = 0.08;
/** Relative shares of the other kinds. */
const KINDS = [
  ['payment', 0.3],
  ['call', 0.1],
  ['envelope', 0.08],
  ['stray', 0.04],
  ['broken call', 0.04],
  ['bump', 0.36],
  ['pauper', 0.04],
] as const;
const ALL_SHARES = KINDS.reduce((sum, [, share]) => sum + share, 0);

/** The share of requests with an expiry, and the range of times until it. */
const EXPIRING = 0.05;
const WORTH_MS = [4_000, 40_000] as const;
/** The first index of replacements, above those of all requests. */
const REPLACEMENTS = 1_000_000;

/** The requests of a run. The same seed gives the same requests, except for accounts. */
export function planOf(
  seed: number,
  count: number,
  relayers: readonly StellarRelayer[],
  make: MakeBody,
): StellarIntention[] {
  return Array.from({ length: count }, (_, index) => intentionOf(seed, index, relayers, make));
}

/** A replacement for a request. The service refuses it, because Stellar has no replacements. */
export function replacementOf(seed: number, original: StellarIntention, make: MakeBody): StellarIntention {
  const index = REPLACEMENTS + original.index;
  const to = keysOf(`${seed} receiver ${index}`).publicKey();
  const replacement: StellarIntention = {
    ...original,
    index,
    kind: 'payment',
    to,
    user: null,
    mark: markOf(to),
    key: `soak-${seed}-${index}`,
    body: () => make(replacement),
  };
  return replacement;
}

/** The mark of a payment to this receiver. */
export function markOf(to: string): string {
  return `${STROOPS} to ${to}`;
}

function intentionOf(
  seed: number,
  index: number,
  relayers: readonly StellarRelayer[],
  make: MakeBody,
): StellarIntention {
  const unit = (purpose: string) => seededUnit(seed, 'plan', index, purpose);
  const relayer = relayers[Math.floor(unit('relayer') * relayers.length)];
  if (relayer === undefined) throw new Error('no relayer to send through');
  const kind = kindOf(seed, index);
  const to = keysOf(`${seed} receiver ${index}`).publicKey();
  const user = userOf(seed, index, kind);
  const intention: StellarIntention = {
    index,
    relayerId: relayer.relayerId,
    from: relayer.key.publicKey(),
    kind,
    to,
    user,
    mark: markOf(to),
    key: `soak-${seed}-${index}`,
    worthMs: unit('expiry') < EXPIRING ? WORTH_MS[0] + unit('worth') * (WORTH_MS[1] - WORTH_MS[0]) : null,
    isOneByContent: kind === 'bump',
    body: () => make(intention),
  };
  return intention;
}

/** Rivals are two requests with consecutive indices. */
function kindOf(seed: number, index: number): StellarKind {
  const isRivals = seededUnit(seed, 'plan', pairOf(index), 'rivals') < RIVALS;
  if (isRivals) return 'rival';
  let left = seededUnit(seed, 'plan', index, 'kind') * ALL_SHARES;
  for (const [kind, share] of KINDS) {
    if (left < share) return kind;
    left -= share;
  }
  return 'payment';
}

function pairOf(index: number): number {
  return Math.floor(index / 2);
}

function userOf(seed: number, index: number, kind: StellarKind): Keypair | null {
  if (kind === 'rival') return keysOf(`${seed} user pair ${pairOf(index)}`);
  return kind === 'bump' || kind === 'pauper' ? keysOf(`${seed} user ${index}`) : null;
}

function keysOf(name: string): Keypair {
  return Keypair.fromRawEd25519Seed(createHash('sha256').update(name).digest());
}
