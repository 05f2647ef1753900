import type { CallingPlugin } from '../../src/features/plugins/host/call-record.ts';
import type { Principal } from '../../src/features/plugins/host/capabilities/capability.ts';
import { hostGrantsOf } from '../../src/features/plugins/host/capabilities/grants.ts';
import { HeldLocks } from '../../src/features/plugins/host/capabilities/held-locks.ts';

/** The storage limits of plugins in these tests, and the longest time of their calls. */
export const KEEPING = {
  kvQuota: { keys: 10, bytes: 1000, valueBytes: 100 },
  timeoutMs: 10_000,
} satisfies Partial<CallingPlugin>;

/** A plugin call on whose behalf a capability runs, without limits on what it spends. */
export function principalOf(pluginId = 'p', signal = new AbortController().signal): Principal {
  const locks = new HeldLocks();
  return {
    pluginId,
    actor: { keyId: 'caller', requestId: 'request-1', pluginId },
    signal,
    locks,
    timeoutMs: KEEPING.timeoutMs,
    get kvCaller() {
      return { pluginId, quota: KEEPING.kvQuota, locks: locks.all };
    },
    hosts: hostGrantsOf(pluginId, []),
    inbox: undefined,
    waits: (_, ms) => ms,
    spender: () => undefined,
    maySend: () => true,
  };
}
