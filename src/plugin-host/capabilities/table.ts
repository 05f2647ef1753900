import type { CapabilityMethod } from '../../../sandbox/capability-contract.ts';
import type { Services } from '../../services/services.ts';
import type { BoundCapability } from './capability.ts';
import { fetch, fetchAbort, fetchRead } from './fetch.ts';
import { kvClear, kvDel, kvExists, kvGet, kvListKeys, kvLock, kvSet, kvUnlock } from './kv.ts';
import {
  getRelayer,
  getRelayerStatus,
  getTransaction,
  rpc,
  sendTransaction,
  signTransaction,
  waitTransaction,
} from './relayer.ts';

/** Every capability by its method; a method of the contract that is missing here does not compile. */
const CAPABILITIES: Record<CapabilityMethod, (services: Services) => BoundCapability> = {
  'relayer.sendTransaction': sendTransaction,
  'relayer.getTransaction': getTransaction,
  'relayer.waitTransaction': waitTransaction,
  'relayer.getRelayer': getRelayer,
  'relayer.getRelayerStatus': getRelayerStatus,
  'relayer.signTransaction': signTransaction,
  'relayer.rpc': rpc,
  'kv.get': kvGet,
  'kv.set': kvSet,
  'kv.del': kvDel,
  'kv.exists': kvExists,
  'kv.listKeys': kvListKeys,
  'kv.clear': kvClear,
  'kv.lock': kvLock,
  'kv.unlock': kvUnlock,
  fetch,
  'fetch.read': fetchRead,
  'fetch.abort': fetchAbort,
};

/** All capabilities bound to the services. A map, so that a name sent by a guest never selects a property. */
export function bindCapabilities(services: Services): ReadonlyMap<string, BoundCapability> {
  return new Map(Object.entries(CAPABILITIES).map(([method, bind]) => [method, bind(services)]));
}
