import { z } from 'zod';
import type { JsonObject } from '../../../domain/json/json.ts';
import { addressSchema } from '../address.ts';
import type { RlpItem } from './rlp.ts';

/** As many entries as fit into the largest transaction that nodes take. */
const MAX_ENTRIES = 4_096;

const storageKey = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'expected a storage key of 32 bytes in hexadecimal')
  .transform((key) => `0x${key.replace(/^0x/, '').toLowerCase()}`);

const storageKeys = z.array(storageKey).max(MAX_ENTRIES);

const entrySchema = z
  .strictObject({
    address: addressSchema,
    storage_keys: storageKeys.optional(),
    storageKeys: storageKeys.optional().meta({ description: 'Other name of `storage_keys`, as in JSON-RPC' }),
  })
  .refine(
    ({ storage_keys, storageKeys: camelCase }) => storage_keys === undefined || camelCase === undefined,
    'give storage_keys or storageKeys, not both',
  )
  .transform(({ address, storage_keys, storageKeys: camelCase }): StoredAccessListEntry => {
    return { address, storage_keys: storage_keys ?? camelCase ?? [] };
  });

/** An access list (EIP-2930) as clients send it; the keys may also be called `storageKeys`, as in JSON-RPC. */
export const accessListSchema = z.array(entrySchema).max(MAX_ENTRIES);

const storedAccessSchema = z.strictObject({ address: z.string(), storage_keys: z.array(z.string()) });

/** An access list as requests store it: addresses and keys with `0x`, in lower case. */
export const storedAccessListSchema = z.array(storedAccessSchema);

export type StoredAccessListEntry = z.output<typeof storedAccessSchema>;

/** The list as a signed transaction has it. */
export function rlpAccessList(list: readonly StoredAccessListEntry[]): RlpItem[] {
  return list.map(({ address, storage_keys }) => [address, [...storage_keys]]);
}

/** The list in JSON-RPC's form. */
export function rpcAccessList(list: readonly StoredAccessListEntry[]): JsonObject[] {
  return list.map(({ address, storage_keys }) => ({ address, storageKeys: [...storage_keys] }));
}
