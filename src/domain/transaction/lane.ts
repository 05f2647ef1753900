import { type NetworkType, networkTypeSchema } from '../network-type.ts';

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
