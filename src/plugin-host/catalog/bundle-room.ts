import type { HostFailure } from '../../../sandbox/host/surroundings.ts';
import type { ServingVersion } from './version-swap.ts';

/** The most bytes that the bundles and source maps of all plugins may take. The server keeps them in its memory. */
export const BUNDLES_BYTES = 256 * 1_048_576;

type Refused = Pick<ServingVersion, 'bytes' | 'inputs'>;

/** Limits the size of all plugins' bundles together. */
export class BundleRoom {
  private readonly most: number;
  private readonly refused = new Map<string, Refused>();

  /** @param most in bytes */
  constructor(most = BUNDLES_BYTES) {
    this.most = most;
  }

  /**
   * Why there is no room for a version; undefined when there is room.
   * @param others the bytes that the bundles of the other plugins take
   */
  refusal({ version, bytes, inputs }: ServingVersion, others: number): HostFailure | undefined {
    const { pluginId, filename } = version;
    this.forget(pluginId);
    if (others + bytes <= this.most) return undefined;
    this.refused.set(pluginId, { bytes, inputs });
    const message = `The bundle of ${filename} has ${bytes} bytes with its source map, and those of the other plugins ${others}: together more than ${this.most}`;
    return { code: 'SIZE_LIMIT', message, status: 500, details: { pluginId, file: filename } };
  }

  /** The files of the version that was refused, as long as there still is no room for it. */
  filesOfRefused(pluginId: string, others: number): ReadonlySet<string> | undefined {
    const refused = this.refused.get(pluginId);
    return refused !== undefined && others + refused.bytes > this.most ? refused.inputs : undefined;
  }

  /** Forgets the refused version, because the plugin has a newer one. */
  forget(pluginId: string): void {
    this.refused.delete(pluginId);
  }
}
