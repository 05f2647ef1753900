import type { PluginEntry, RelayerGrant } from '../domain/plugin.ts';

/** What a capability call wants to use. */
export type Need = { relayer: string; right: RelayerGrant } | { kv: true };

/** What one plugin may use, read from its entry. */
export interface Grants {
  /** `undefined` when granted, else the refusal, which names the line that would grant it. */
  refusal(need: Need): string | undefined;
  /** The environment entries the plugin may see, those that exist. */
  env(environment: (name: string) => string | undefined): Record<string, string>;
}

/** The plain words for a right, as a refusal reads. */
const DEEDS: Record<RelayerGrant, string> = {
  read: 'read',
  send: 'send through',
  sign: 'sign with',
  rpc: 'call the RPC of',
};

/** Reads a plugin's grants. An entry without `permissions` may use every relayer and kv, no host, no environment. */
export function grantsOf(entry: PluginEntry): Grants {
  const { id, permissions } = entry;
  return {
    refusal(need) {
      if (permissions === undefined) return undefined;
      if ('kv' in need) {
        if (permissions.kv) return undefined;
        return `Plugin ${id} has no grant to use the key-value store: add "kv": true to permissions of its entry in config.json`;
      }
      const rights = Object.hasOwn(permissions.relayers, need.relayer) ? permissions.relayers[need.relayer] : undefined;
      if (rights?.includes(need.right)) return undefined;
      const line = JSON.stringify([...(rights ?? []), need.right]).replaceAll(',', ', ');
      return (
        `Plugin ${id} has no grant to ${DEEDS[need.right]} relayer ${need.relayer}: ` +
        `add ${JSON.stringify(need.relayer)}: ${line} to permissions.relayers of its entry in config.json`
      );
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
