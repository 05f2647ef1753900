import type { HostFailure } from '../../../../../sandbox/contract.ts';
import type { PluginEntry } from '../../records/plugin.ts';
import { type StoredPlugin, withSettings } from '../../records/plugin-settings.ts';
import type { CallingPlugin } from '../call-record.ts';
import { readPluginGrants } from '../capabilities/grants.ts';
import type { ServingVersion, VersionSwap } from './version-swap.ts';

/** A plugin as it stands now. */
export interface CatalogPlugin {
  /** The declared entry with the settings that clients have stored. */
  readonly entry: PluginEntry;
  readonly caller: CallingPlugin;
  /** Whether calls of it are refused. */
  readonly isDisabled: boolean;
  /**
   * The version that calls run; undefined when no version ever compiled. If there is no failure, either, the first
   * version is being compiled.
   */
  serving: ServingVersion | undefined;
  /** Why the newest version does not serve. */
  failure: HostFailure | undefined;
  /** Resolves when the first version was built, or could not be. */
  readonly isBuilt: Promise<void>;
}

/** A plugin of the catalog, with its versions. */
export class KnownPlugin implements CatalogPlugin {
  /** The entry as declared, without the settings of clients. */
  readonly declared: PluginEntry;
  readonly entry: PluginEntry;
  readonly caller: CallingPlugin;
  readonly isDisabled: boolean;
  readonly versions: VersionSwap;

  constructor(declared: PluginEntry, versions: VersionSwap, made?: StoredPlugin) {
    const entry = made === undefined ? declared : withSettings(declared, made.settings);
    const { calls: maxCalls, kv_keys: keys, kv_bytes: bytes, kv_value_bytes: valueBytes } = entry.limits;
    const kvQuota = { keys, bytes, valueBytes };
    this.declared = declared;
    this.entry = entry;
    this.isDisabled = made?.isDisabled === true;
    this.caller = { id: entry.id, grants: readPluginGrants(entry), maxCalls, kvQuota, timeoutMs: entry.timeout * 1000 };
    this.versions = versions;
  }

  get serving(): ServingVersion | undefined {
    return this.versions.serving;
  }

  get failure(): HostFailure | undefined {
    return this.versions.failure;
  }

  get isBuilt(): Promise<void> {
    return this.versions.isBuilt;
  }

  get failedAt(): number | undefined {
    return this.versions.failedAt;
  }
}
