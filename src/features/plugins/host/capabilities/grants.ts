import { amountOf, type JsonAmount } from '../../../../domain/amount.ts';
import { didYouMean } from '../../../../domain/json/issue-text.ts';
import type { FetchGrants, FetchRule } from '../../../../egress/fetch/plugin-fetch.ts';
import {
  canonicalHostname,
  type HostPattern,
  type HostPermission,
  hostPattern,
} from '../../records/host-permission.ts';
import { type PluginEntry, type RelayerGrant, type RelayerPermission, SPENDING_CAVEATS } from '../../records/plugin.ts';
import type { SpendingPlugin } from '../../records/spending.ts';

/**
 * The right that a capability call needs, and further ones. `acts`: a node may do more than read for this call.
 */
export type RequiredGrant =
  | { relayer: string; right: RelayerGrant; also?: readonly RelayerGrant[]; acts?: boolean }
  | { kv: true }
  | { url: string; method: string }
  /** What the call may always do: read the rest of a fetch that was granted, and wait. */
  | { ofCall: true };

/** What one plugin may use, read from its entry. */
export interface PluginGrants {
  /** `undefined` when granted. Otherwise the refusal, with the configuration line that would grant it. */
  refusal(need: RequiredGrant): string | undefined;
  /** The limits for what the plugin sends through a relayer; undefined when there are none. */
  spender(relayerId: string): SpendingPlugin | undefined;
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
export function readPluginGrants(entry: PluginEntry): PluginGrants {
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
      if (permissions === undefined || 'ofCall' in need) return undefined;
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
  return SPENDING_CAVEATS.filter((key) => permission?.[key] !== undefined);
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

/** The grants of a plugin's `permissions.hosts`; undefined stands for an entry without `permissions`. */
export function hostGrantsOf(pluginId: string, hosts: readonly HostPermission[] | undefined): FetchGrants {
  const grants = (hosts ?? []).flatMap((permission) => {
    const pattern = hostPattern(permission.host);
    return pattern === undefined ? [] : [{ pattern, permission }];
  });

  return {
    rule(url, method) {
      const ofHost = grants.filter(({ pattern }) => covers(pattern, url));
      const granted = ofHost.find(({ permission }) => permits(permission, method));
      if (granted !== undefined) return ruleOf(granted.permission);
      const [named] = ofHost;
      if (named !== undefined) return methodRefusal(pluginId, named.permission, method);
      return hostRefusal(pluginId, shownHost(url), hosts);
    },
    privateRefusal(url) {
      const line = JSON.stringify({ host: shownHost(url), private: true });
      return `name it as ${line} in permissions.hosts of plugin ${pluginId} in config.json to allow it`;
    },
  };
}

function covers({ name, isWildcard, port }: HostPattern, url: URL): boolean {
  // `url.port` is empty for the scheme's default port.
  const isPort = port === undefined ? url.port === '' : port === portOf(url);
  const hostname = canonicalHostname(url);
  return isPort && (isWildcard ? hostname.endsWith(`.${name}`) : hostname === name);
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function permits({ methods }: HostPermission, method: string): boolean {
  return methods === undefined || methods.some((granted) => granted === method);
}

function ruleOf(permission: HostPermission): FetchRule {
  return {
    maxBytes: permission.max_bytes,
    timeoutMs: permission.timeout_ms,
    isPrivate: permission.private,
  };
}

/** The host as a grant must name it. */
function shownHost(url: URL): string {
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${canonicalHostname(url)}${port}`;
}

function hostRefusal(pluginId: string, host: string, hosts: readonly HostPermission[] | undefined): string {
  const refused = `Plugin ${pluginId} has no grant for requests to ${host}:`;
  if (hosts !== undefined) {
    return `${refused} add ${JSON.stringify(host)} to permissions.hosts of its entry in config.json`;
  }
  // An entry without permissions may use every relayer and kv. An entry with permissions may use only what they name.
  return (
    `${refused} add "permissions": {"hosts": [${JSON.stringify(host)}]} to its entry in config.json, ` +
    'and beside "hosts" the "relayers" and "kv" that it uses'
  );
}

function methodRefusal(pluginId: string, { host, methods }: HostPermission, method: string): string {
  const line = JSON.stringify([...(methods ?? []), method]).replaceAll(',', ', ');
  return (
    `Plugin ${pluginId} has no grant for requests to ${host} with ${method}: ` +
    `set "methods": ${line} for it in permissions.hosts of its entry in config.json`
  );
}
