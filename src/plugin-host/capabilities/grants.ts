import { amountOf, type JsonAmount } from '../../domain/amount.ts';
import { didYouMean } from '../../domain/json/issue-text.ts';
import { CAVEATS, type PluginEntry, type RelayerGrant, type RelayerPermission } from '../../domain/plugin.ts';
import type { Spender } from '../../domain/transaction/spending.ts';
import type { FetchGrants } from '../../egress/fetch/plugin-fetch.ts';
import { hostGrantsOf } from './host-grants.ts';

/**
 * The right that a capability call needs, and further ones. `acts`: a node may do more than read for this call.
 */
export type Need =
  | { relayer: string; right: RelayerGrant; also?: readonly RelayerGrant[]; acts?: boolean }
  | { kv: true }
  | { url: string; method: string }
  /** The rest of a fetch that was granted. */
  | { ofFetch: true };

/** What one plugin may use, read from its entry. */
export interface Grants {
  /** `undefined` when granted. Otherwise the refusal, with the configuration line that would grant it. */
  refusal(need: Need): string | undefined;
  /** The limits for what the plugin sends through a relayer; undefined when there are none. */
  spender(relayerId: string): Spender | undefined;
  /** The hosts from which the plugin may fetch. */
  readonly hosts: FetchGrants;
  /** The environment entries that the plugin may see and that exist. */
  env(environment: (name: string) => string | undefined): Record<string, string>;
}

/** The words for each right in a refusal. */
const DEEDS: Record<RelayerGrant, string> = {
  read: 'read',
  send: 'send through',
  sign: 'sign with',
  rpc: 'call the RPC of',
};

/** Reads a plugin's grants. An entry without `permissions` may use every relayer and kv, no host, no environment. */
export function grantsOf(entry: PluginEntry): Grants {
  const { id, permissions } = entry;
  const permissionFor = (relayer: string) =>
    permissions !== undefined && Object.hasOwn(permissions.relayers, relayer)
      ? permissions.relayers[relayer]
      : undefined;
  const hosts = hostGrantsOf(id, permissions?.hosts);
  return {
    hosts,
    refusal(need) {
      if ('url' in need) {
        const rule = hosts.rule(new URL(need.url), need.method);
        return typeof rule === 'string' ? rule : undefined;
      }
      if (permissions === undefined || 'ofFetch' in need) return undefined;
      if ('kv' in need) {
        if (permissions.kv) return undefined;
        return `Plugin ${id} has no grant to use the key-value store: add "kv": true to permissions of its entry in config.json`;
      }
      const permission = permissionFor(need.relayer);
      const rights = permission?.methods ?? [];
      const caveats = caveatsIn(permission);
      if (caveats.length > 0 && (need.right === 'sign' || need.acts === true)) return beyondCaveats(id, need, caveats);
      const missing = [need.right, ...(need.also ?? [])].filter((right) => !rights.includes(right));
      const [first] = missing;
      if (first === undefined) return undefined;
      const near = permission === undefined ? didYouMean(need.relayer, Object.keys(permissions.relayers)) : undefined;
      const line = JSON.stringify([...rights, ...missing]).replaceAll(',', ', ');
      const shown =
        caveats.length > 0
          ? `"methods": ${line} to ${JSON.stringify(need.relayer)} in`
          : `${JSON.stringify(need.relayer)}: ${line} to`;
      return (
        `Plugin ${id} has no grant to ${DEEDS[first]} relayer ${need.relayer}${near === undefined ? '' : ` (${near})`}: ` +
        `add ${shown} permissions.relayers of its entry in config.json`
      );
    },
    spender(relayerId) {
      const permission = permissionFor(relayerId);
      if (permission === undefined || caveatsIn(permission).length === 0) return undefined;
      const { recipients, selectors, value_per_call, value_per_hour, fee_per_hour } = permission;
      return {
        pluginId: id,
        caveats: {
          recipients,
          selectors,
          valuePerCall: exact(value_per_call),
          valuePerHour: exact(value_per_hour),
          feePerHour: exact(fee_per_hour),
        },
      };
    },
    env(environment) {
      const granted: Record<string, string> = {};
      for (const name of permissions?.env ?? []) {
        const value = environment(name);
        if (value !== undefined) granted[name] = value;
      }
      return granted;
    },
  };
}

function caveatsIn(permission: RelayerPermission | undefined): string[] {
  return CAVEATS.filter((key) => permission?.[key] !== undefined);
}

/**
 * The refusal of a call that a grant with limits cannot allow. Signed bytes, and bytes that a node acts on, could move
 * money without a check of the limits.
 */
function beyondCaveats(
  id: string,
  { right, relayer }: { right: RelayerGrant; relayer: string },
  caveats: string[],
): string {
  const deed = right === 'sign' ? 'sign with' : 'ask a node to act through';
  return (
    `Plugin ${id} may not ${deed} relayer ${relayer}: its grant has ${caveats.join(', ')}, ` +
    'which only what it sends with sendTransaction can be held to'
  );
}

function exact(amount: JsonAmount | undefined): bigint | undefined {
  return amount === undefined ? undefined : amountOf(amount);
}
