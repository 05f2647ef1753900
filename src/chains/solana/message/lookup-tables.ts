import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { addressOf } from '../address.ts';
import { ADDRESS_LOOKUP_TABLE_PROGRAM } from '../programs.ts';
import { accountsAt } from '../provider.ts';
import type { Message } from './compiled-message.ts';

/**
 * The size of a table's header, before addresses of 32 bytes each (solana-address-lookup-table-interface,
 * `LOOKUP_TABLE_META_SIZE`).
 */
const META_SIZE = 56;
const KEY_LENGTH = 32;

/**
 * The accounts from a message's lookup tables, in the order in which its instructions count them: the writable ones
 * first.
 */
export type LookedUp = { kind: 'found'; addresses: string[]; writable: number } | { kind: 'fault'; reason: string };

/** Reads the accounts that a message takes from lookup tables. */
export async function lookUp(read: ReadOne, { lookups }: Message): Promise<LookedUp> {
  if (lookups.length === 0) return { kind: 'found', addresses: [], writable: 0 };
  const accounts = await accountsAt(
    read,
    lookups.map(({ table }) => table),
  );
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const [index, lookup] of lookups.entries()) {
    const account = accounts[index] ?? null;
    if (account === null) return fault(`Lookup table ${lookup.table} does not exist`);
    if (account.owner !== ADDRESS_LOOKUP_TABLE_PROGRAM) return fault(`${lookup.table} is no lookup table`);
    const size = Math.max(0, Math.floor((account.data.length - META_SIZE) / KEY_LENGTH));
    const beyond = [...lookup.writable, ...lookup.readonly].find((place) => place >= size);
    if (beyond !== undefined) return fault(`Lookup table ${lookup.table} has ${size} addresses and none at ${beyond}`);
    const addressAt = (place: number) => {
      const start = META_SIZE + place * KEY_LENGTH;
      return addressOf(account.data.subarray(start, start + KEY_LENGTH));
    };
    writable.push(...lookup.writable.map(addressAt));
    readonly.push(...lookup.readonly.map(addressAt));
  }
  return { kind: 'found', addresses: [...writable, ...readonly], writable: writable.length };
}

function fault(reason: string): LookedUp {
  return { kind: 'fault', reason };
}
