import type { Json, JsonObject } from '../domain/json/json.ts';
import type { ConfiguredNetwork } from '../domain/network.ts';
import type { PluginEntry } from '../domain/plugin.ts';
import type { Relayer } from '../domain/relayer/relayer.ts';
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
