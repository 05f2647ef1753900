// Made by `npm run client` from the capabilities of the plugin host; a test holds it to that.
import type { CapabilityCaller } from './capability-calls.ts';
import type { PluginKVStore, Relayer } from './sdk/capabilities.ts';

/** Returns an argument. Throws when it was left out. */
type Check = <T>(name: string, argument: T) => T;

export const relayerObject = (calls: CapabilityCaller, own: Pick<Relayer, 'sendTransaction' | 'getTransaction'>, target: () => { relayerId: string }, check: Check): Relayer => ({
  sendTransaction: own.sendTransaction,
  getTransaction: own.getTransaction,
  getRelayer: () => calls.call('relayer.getRelayer', () => ({ ...target() })),
  getRelayerStatus: () => calls.call('relayer.getRelayerStatus', () => ({ ...target() })),
  signTransaction: (request) => calls.call('relayer.signTransaction', () => ({ ...target(), request: check('request', request) })),
  rpc: (request) => calls.call('relayer.rpc', () => ({ ...target(), request: check('request', request) })),
});

export const kvObject = (calls: CapabilityCaller, own: Pick<PluginKVStore, 'get' | 'set' | 'listKeys' | 'withLock'>, check: Check): PluginKVStore => ({
  get: own.get,
  set: own.set,
  del: (key) => calls.call('kv.del', () => ({ key: check('key', key) })),
  exists: (key) => calls.call('kv.exists', () => ({ key: check('key', key) })),
  listKeys: own.listKeys,
  clear: () => calls.call('kv.clear', () => ({})),
  withLock: own.withLock,
});
