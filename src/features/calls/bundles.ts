import { z } from 'zod';
import type { PluginVersion } from '../../../sandbox/contract.ts';
import type { Store } from '../../store/store.ts';
import { limitsSchema } from '../plugins/records/plugin.ts';

/** The versions that calls run. A call ends on the version with which it began, also when its plugin was edited. */
export interface Bundles {
  /** Stores a version before a call begins on it, or notes that it is still used. */
  keep(version: PluginVersion): Promise<void>;
  /** Undefined when it was not stored. */
  find(version: string): Promise<PluginVersion | undefined>;
}

/** How often it is noted that a version is used, in ms. The retention keeps versions for much longer. */
const NOTED_EVERY_MS = 3_600_000;

export const versionSchema = z.strictObject({
  pluginId: z.string(),
  version: z.string(),
  code: z.string(),
  filename: z.string(),
  env: z.record(z.string(), z.string()),
  limits: limitsSchema,
  isolation: z.enum(['plugin', 'call']),
});

export function createBundles(store: Pick<Store, 'read' | 'write'>, elapsed: () => number): Bundles {
  const noted = new Map<string, { at: number; storing: Promise<void> }>();
  /** The version that was read last for each plugin: its bundle may be large. */
  const found = new Map<string, PluginVersion>();
  return {
    keep(version) {
      const { pluginId, version: hash } = version;
      const known = noted.get(pluginId + hash);
      if (known !== undefined && elapsed() - known.at < NOTED_EVERY_MS) return known.storing;
      const content = JSON.stringify(version);
      const storing = store.write((writer) => writer.putBundle(hash, pluginId, content));
      noted.set(pluginId + hash, { at: elapsed(), storing });
      storing.catch(() => noted.delete(pluginId + hash));
      return storing;
    },

    async find(hash) {
      const known = [...found.values()].find(({ version }) => version === hash);
      if (known !== undefined) return known;
      const content = await store.read.bundle(hash);
      if (content === undefined) return undefined;
      const version = versionSchema.parse(JSON.parse(content));
      found.set(version.pluginId, version);
      return version;
    },
  };
}
