import { z } from 'zod';
import type { JsonObject } from '../../domain/json/json.ts';
import { type NetworkType, networkTypeSchema } from '../../domain/network-type.ts';
import {
  columnNamed,
  defineRecord,
  enumColumn,
  type FieldsOf,
  jsonColumn,
  jsonObjectColumn,
  nullableColumn,
  sealedColumn,
  textColumn,
  timestampColumn,
} from '../../domain/record.ts';
import { type RpcUrl, rpcUrlSchema } from '../relayers/records/relayer.ts';

/** A network after inheritance and defaults; `settings` holds the fields that only its chain reads. */
export interface Network {
  type: NetworkType;
  name: string;
  rpcUrls: RpcUrl[];
  settings: JsonObject;
}

/** A network of the configuration. */
export interface ConfiguredNetwork extends Network {
  /** True when no file of the operator mentions the network. */
  isBuiltIn: boolean;
}

const columns = {
  type: columnNamed('network_type', enumColumn(networkTypeSchema)),
  name: textColumn,
  /** Their paths often have a key. */
  rpcUrls: sealedColumn(jsonColumn(z.array(rpcUrlSchema))),
  /** Null where only the endpoints of a configured network were changed. */
  settings: nullableColumn(jsonObjectColumn),
  /** A digest of the endpoints that a file declared when they were changed; null where none did. */
  declaration: nullableColumn(textColumn),
};

export const networkRecord = defineRecord('networks', columns, {
  key: ['type', 'name'],
  beside: { createdAt: timestampColumn },
});

/** A network as clients created or changed it over the API, and as the store has it. */
export interface StoredNetwork extends FieldsOf<typeof columns> {}

/** The networks that relayers may be on, as they are now. */
export interface Networks {
  find(type: NetworkType, name: string): Network | undefined;
}

/** Networks that do not change. */
export function fixedNetworks(networks: readonly Network[]): Networks {
  return { find: (type, name) => networks.find((one) => one.type === type && one.name === name) };
}
