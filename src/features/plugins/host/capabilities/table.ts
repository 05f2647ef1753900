import type { CapabilityMethod } from '../../../../../sandbox/capability-contract.ts';
import type { Services } from '../../../services.ts';
import type { BoundCapability } from './capability.ts';
import * as fetch from './fetch.ts';
import * as kv from './kv.ts';
import * as relayer from './relayer.ts';

/** All capabilities. Each export of these files is one. */
const CAPABILITIES = Object.values({ ...fetch, ...kv, ...relayer });

type Defined = ReturnType<(typeof CAPABILITIES)[number]>['method'];

/** Makes the compiler report a method of the contract that no file defines. */
type Complete = CapabilityMethod extends Defined ? readonly BoundCapability[] : never;

/** All capabilities, bound to the services. This is a map, so that a name from a guest never selects a property. */
export function bindCapabilities(services: Services): ReadonlyMap<string, BoundCapability> {
  const bound: Complete = CAPABILITIES.map((bind) => bind(services));
  return new Map(bound.map((capability) => [capability.method, capability]));
}
