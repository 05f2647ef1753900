import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { seededUnit } from '../../../../support/seeded.ts';
import { memo } from '../../../../support/solana-stage.ts';
import type { Intention } from '../intention.ts';
import { markOfMemo, markOfTransfer } from './marks.ts';

/** A relayer and the account that pays for it. */
export interface SolanaRelayer {
  readonly relayerId: string;
  /** In base58. */
  readonly address: string;
}

/**
 * `memo`: posted as instructions. `own memo`: posted as bytes that only the relayer signs. The other kinds are bytes
 * that a user has signed: `transfer` moves all lamports of the user, `rival` moves the same lamports as another
 * request, `pauper` moves lamports that the user does not have.
 */
export type SolanaKind = 'memo' | 'own memo' | 'transfer' | 'rival' | 'pauper';

/** A request to a Solana relayer. Its memo or its receiver is unique. */
export interface SolanaIntention extends Intention {
  readonly kind: SolanaKind;
  /** The text of the memo; null if there is none. */
  readonly text: string | null;
  /** The user who pays, and the receiver; null for memos. */
  readonly transfer: { readonly user: Keypair; readonly to: string } | null;
}

/** Makes the bytes for a request's body, with the blockhash that is current when the client sends the request. */
export type MakeBytes = (intention: SolanaIntention) => Promise<string>;

/** The balance of a user, in lamports; more than the minimum for an account. */
export const LAMPORTS = 1_000_000n;

const MEMOS = 0.5;
const OWN_MEMOS = 0.12;
const TRANSFERS = 0.34;
/** The share of pairs of neighbors that move the same lamports. */
const RIVALS = 0.08;
/** The share of requests with an expiry, and the range of times until it. */
const EXPIRING = 0.05;
const WORTH_MS = [2_000, 25_000] as const;
/** The first index of replacements, above those of all requests. */
const REPLACEMENTS = 1_000_000;

/** The requests of a run. The same seed gives the same requests, except for accounts and blockhashes. */
export function planOf(
  seed: number,
  count: number,
  relayers: readonly SolanaRelayer[],
  make: MakeBytes,
): SolanaIntention[] {
  return Array.from({ length: count }, (_, index) => intentionOf(seed, index, relayers, make));
}

/** A replacement for a request. The service refuses it, because Solana has no replacements. */
export function replacementOf(seed: number, original: SolanaIntention): SolanaIntention {
  const index = REPLACEMENTS + original.index;
  const text = textOf(seed, index);
  return {
    ...original,
    index,
    kind: 'memo',
    text,
    transfer: null,
    mark: markOfMemo(text),
    key: keyOf(seed, index),
    body: async () => ({ instructions: [memo(text)] }),
  };
}

function intentionOf(
  seed: number,
  index: number,
  relayers: readonly SolanaRelayer[],
  make: MakeBytes,
): SolanaIntention {
  const unit = (purpose: string) => seededUnit(seed, 'plan', index, purpose);
  const relayer = relayers[Math.floor(unit('relayer') * relayers.length)];
  if (relayer === undefined) throw new Error('no relayer to send through');
  const kind = kindOf(seed, index);
  const isMemo = kind === 'memo' || kind === 'own memo';
  const text = isMemo ? textOf(seed, index) : null;
  const transfer = isMemo ? null : transferOf(seed, index, kind);
  const intention: SolanaIntention = {
    index,
    relayerId: relayer.relayerId,
    from: relayer.address,
    kind,
    text,
    transfer,
    mark: transfer === null ? markOfMemo(text ?? '') : markOfTransfer(transfer.to, LAMPORTS),
    key: keyOf(seed, index),
    worthMs: unit('expiry') < EXPIRING ? WORTH_MS[0] + unit('worth') * (WORTH_MS[1] - WORTH_MS[0]) : null,
    isOneByContent: kind === 'own memo' || kind === 'transfer',
    body: async () => (kind === 'memo' ? { instructions: [memo(text ?? '')] } : { transaction: await make(intention) }),
  };
  return intention;
}

function kindOf(seed: number, index: number): SolanaKind {
  if (seededUnit(seed, 'plan', pairOf(index), 'rivals') < RIVALS) return 'rival';
  const chance = seededUnit(seed, 'plan', index, 'kind');
  if (chance < MEMOS) return 'memo';
  if (chance < MEMOS + OWN_MEMOS) return 'own memo';
  return chance < MEMOS + OWN_MEMOS + TRANSFERS ? 'transfer' : 'pauper';
}

/** The number of the request's pair. Rivals are two requests with consecutive indices. */
function pairOf(index: number): number {
  return Math.floor(index / 2);
}

function transferOf(seed: number, index: number, kind: SolanaKind): SolanaIntention['transfer'] {
  const user = keysOf(`${seed} user ${kind === 'rival' ? `pair ${pairOf(index)}` : index}`);
  return { user, to: keysOf(`${seed} receiver ${index}`).publicKey.toBase58() };
}

function keysOf(name: string): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(name).digest());
}

function textOf(seed: number, index: number): string {
  return `soak ${seed} ${index}`;
}

function keyOf(seed: number, index: number): string {
  return `soak-${seed}-${index}`;
}
