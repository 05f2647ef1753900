import type { Services } from '../../../services.ts';
import type { BoundCapability, DeclaredCapability } from './capability.ts';
import { fetchCapabilities } from './fetch.ts';
import { kvCapabilities } from './kv.ts';
import { relayerCapabilities } from './relayer.ts';
import { waitCapabilities } from './waits.ts';

/** All capabilities. */
export const CAPABILITIES: readonly DeclaredCapability[] = [
  ...relayerCapabilities,
  ...kvCapabilities,
  ...fetchCapabilities,
  ...waitCapabilities,
];

/** All capabilities, bound to the services. This is a map, so that a name from a guest never selects a property. */
export function bindCapabilities(services: Services): ReadonlyMap<string, BoundCapability> {
  return new Map(CAPABILITIES.map((capability) => [capability.method, capability.bind(services)]));
}
