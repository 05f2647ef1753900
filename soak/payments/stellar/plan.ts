import { createHash } from 'node:crypto';
import { Keypair } from '@stellar/stellar-sdk';
import { seededUnit } from '../../../test/support/seeded.ts';
import type { Intention } from '../intention.ts';

/** A relayer and the key of the account that pays for it. */
export interface StellarRelayer {
  readonly relayerId: string;
  readonly key: Keypair;
}

/**
 * `payment`, `call` (of the lumens' contract) and `envelope` (unsigned) take a sequence of the relayer's account; `stray`
 * pays an account that is not there, `broken call` calls what is not there. The rest are signed by users, within a fee bump:
 * `bump` pays all that the user has, `rival` takes the sequence of another request's user, `pauper` pays what nobody has.
 */
export type StellarKind = (typeof KINDS)[number][0];

/** A request to a Stellar relayer. No other has its receiver. */
export interface StellarIntention extends Intention {
  readonly kind: StellarKind;
  /** Who is paid, or would be. */
  readonly to: string;
  /** Who has signed; null where nobody but the relayer does. */
  readonly user: Keypair | null;
}

/** Makes a request's body when its client asks. */
export type MakeBody = (intention: StellarIntention) => Promise<Readonly<Record<string, unknown>>>;

/** What each of them moves, in stroops. */
export const STROOPS = 1_000n;

/** What share of the requests each kind has. */
const KINDS = [
  ['payment', 0.3],
  ['call', 0.1],
  ['envelope', 0.08],
  ['stray', 0.04],
  ['broken call', 0.04],
  ['bump', 0.36],
  ['pauper', 0.04],
  ['rival', 0.04],
] as const;

/** What share may expire, and how long a request that may is worth sending. */
const EXPIRING = 0.05;
const WORTH_MS = [4_000, 40_000] as const;
/** Replacements are numbered apart from the requests. */
const REPLACEMENTS = 1_000_000;

/** The requests of a run, the same for the same seed but for the accounts. */
export function planOf(
  seed: number,
  count: number,
  relayers: readonly StellarRelayer[],
  make: MakeBody,
): StellarIntention[] {
  return Array.from({ length: count }, (_, index) => intentionOf(seed, index, relayers, make));
}

/** What a client may want in the place of a request; the service says that there is no such thing. */
export function replacementOf(seed: number, original: StellarIntention, make: MakeBody): StellarIntention {
  const index = REPLACEMENTS + original.index;
  const to = keysOf(`${seed} receiver ${index}`).publicKey();
  const replacement: StellarIntention = {
    ...original,
    ...{ index, kind: 'payment', to, user: null, mark: markOf(to), key: `soak-${seed}-${index}` },
    body: () => make(replacement),
  };
  return replacement;
}

/** What only one request of a run does. */
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
    ...{ index, relayerId: relayer.relayerId, from: relayer.key.publicKey(), kind, to, user },
    mark: markOf(to),
    key: `soak-${seed}-${index}`,
    worthMs: unit('expiry') < EXPIRING ? WORTH_MS[0] + unit('worth') * (WORTH_MS[1] - WORTH_MS[0]) : null,
    isOneByContent: kind === 'bump',
    body: () => make(intention),
  };
  return intention;
}

/** Rivals stand side by side, as a pair. */
function kindOf(seed: number, index: number): StellarKind {
  const isRivals = seededUnit(seed, 'plan', pairOf(index), 'rivals') < 0.08;
  if (isRivals) return 'rival';
  let left = seededUnit(seed, 'plan', index, 'kind') * (1 - 0.04);
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
