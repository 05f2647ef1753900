import { type NetworkType, networkTypeSchema } from '../../../domain/network-type.ts';
import type { Timestamp } from './transaction.ts';

/**
 * Longer than any pause before the engine's next action on a transaction, in milliseconds. An action further away was
 * set before the clock was set back.
 */
export const BEYOND_ANY_PAUSE_MS = 60_000;

/**
 * Whether an action set for `at` is to be taken now. An action too far ahead was set before the clock was set back. It
 * is taken too, so that it does not wait for hours.
 */
export function isDueAt(at: Timestamp | null, now: Timestamp): boolean {
  return at !== null && (at <= now || at > now + BEYOND_ANY_PAUSE_MS);
}

/** The key of a lane. A lane is one account on one chain, whatever names its networks and relayers have. */
export function laneKey(type: NetworkType, chainIdentity: string, address: string): string {
  return `${type}:${chainIdentity}:${address}`;
}

/** The family that a lane's key was made with. */
export function familyOfLane(key: string): NetworkType {
  return networkTypeSchema.parse(key.split(':', 1)[0]);
}

/** The account that a lane's key was made with. */
export function accountOfLane(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}

/** The chain identity that a lane's key was made with. Neither a family's name nor an address has a colon. */
export function chainOfLane(key: string): string {
  return key.slice(key.indexOf(':') + 1, key.lastIndexOf(':'));
}
