import type { z } from 'zod';
import type { Json, JsonObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { ConfiguredNetwork } from '../features/networks/record.ts';
import type { PluginEntry } from '../features/plugins/records/plugin.ts';
import type { SpendingForms } from '../features/plugins/records/spending.ts';
import type { Relayer } from '../features/relayers/records/relayer.ts';
import type { Environment } from './environment.ts';
import type { NotificationEntry } from './schema.ts';
import type { Variables } from './secrets.ts';

/** The operator's whole configuration, checked. */
export interface Configuration {
  environment: Environment;
  /** All variables, for secrets and for plugins' grants. The process's own override those in `.env`. */
  variables: Variables;
  relayers: RelayerEntry[];
  signers: SignerEntry[];
  notifications: NotificationEntry[];
  networks: ConfiguredNetwork[];
  plugins: PluginEntry[];
  /** Lines for the log about ignored and suspicious settings. */
  warnings: string[];
}

/** A declared relayer. Its address comes from its signer, its state from the store. */
export interface RelayerEntry
  extends Pick<
    Relayer,
    'id' | 'name' | 'network' | 'networkType' | 'paused' | 'signerId' | 'notificationId' | 'customRpcUrls' | 'policies'
  > {
  /** The entry as the file has it. */
  declaration: Json;
}

/** A declared signer. Its kind has parsed `config`; secrets are still references. */
export interface SignerEntry {
  id: string;
  type: string;
  config: JsonObject;
}

/** The parts of a chain family that the configuration uses. Each `Chain` has them. */
export interface ChainSchemas {
  readonly type: NetworkType;
  /** The curve of its accounts' keys. */
  readonly curve: string;
  readonly policySchema: z.ZodType<JsonObject>;
  policyFault?(policies: JsonObject, network: string, settings?: JsonObject): string | null;
  readonly spending?: Pick<SpendingForms, 'recipient' | 'selector'>;
  readonly networkSchema: z.ZodType<JsonObject>;
  readonly builtInNetworks: readonly JsonObject[];
}

/** The available chain families, by network type. */
export type KnownChains = ReadonlyMap<NetworkType, ChainSchemas>;

/** The available signer kinds, by the `type` of an entry. */
export type KnownSignerKinds = ReadonlyMap<string, KnownSignerKind>;

/** The parts of a signer kind that the configuration uses. Each `SignerKind` has them. */
export interface KnownSignerKind {
  readonly curves: readonly string[];
  /** The curves of one signer, if its configuration determines them. */
  curvesOf?(config: unknown): readonly string[];
  readonly notFor?: Partial<Record<NetworkType, string>>;
  readonly configSchema: z.ZodType;
  readonly variables?: readonly string[];
  /** The file of its key, if the key is in a file on this machine. */
  fileOf?(config: unknown): string;
}
