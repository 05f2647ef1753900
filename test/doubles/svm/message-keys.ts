import { toBase58 } from './base58.ts';
import type { NativeAccount } from './native.ts';
import { isWritable, type WireMessage } from './wire-transaction.ts';

/**
 * Every account of a message in the order of indexes: its own accounts, writable ones from tables, readonly ones from
 * tables.
 */
export interface MessageKeys {
  all: string[];
  writable: boolean[];
  loaded: { writable: string[]; readonly: string[] };
}

const TABLE_HEAD = 56;

/** Resolves lookup tables. Leaves out entries that a table does not have; then the runtime refuses the transaction. */
export function keysOf(message: WireMessage, read: (key: string) => NativeAccount | null): MessageKeys {
  const loaded = { writable: [] as string[], readonly: [] as string[] };
  for (const lookup of message.lookups) {
    const addresses = addressesIn(read(lookup.table));
    loaded.writable.push(...lookup.writable.flatMap((index) => addresses[index] ?? []));
    loaded.readonly.push(...lookup.readonly.flatMap((index) => addresses[index] ?? []));
  }
  return {
    all: [...message.keys, ...loaded.writable, ...loaded.readonly],
    writable: [
      ...message.keys.map((_, index) => isWritable(message, index)),
      ...loaded.writable.map(() => true),
      ...loaded.readonly.map(() => false),
    ],
    loaded,
  };
}

function addressesIn(table: NativeAccount | null): string[] {
  const data = table?.data() ?? new Uint8Array();
  const count = Math.max(Math.floor((data.length - TABLE_HEAD) / 32), 0);
  return Array.from({ length: count }, (_, index) => {
    const at = TABLE_HEAD + index * 32;
    return toBase58(data.subarray(at, at + 32));
  });
}
