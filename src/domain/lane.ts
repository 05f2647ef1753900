import type { NetworkType } from './network-type.ts';

/** The key of a lane: one account on one chain, whatever names its networks and relayers have. */
export function laneKey(type: NetworkType, chainIdentity: string, address: string): string {
  return `${type}:${chainIdentity}:${address}`;
}
