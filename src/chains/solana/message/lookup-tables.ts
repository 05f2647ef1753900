import { AddressLookupTableAccount, type PublicKey } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { ADDRESS_LOOKUP_TABLE_PROGRAM } from '../programs.ts';
import { getAccounts, type OnChainAccount } from '../rpc-calls.ts';
import type { CompiledMessage } from './compiled-message.ts';

/**
 * The accounts from a message's lookup tables, in the order in which its instructions count them: the writable ones
 * first.
 */
export type LookupTableResult = { kind: 'found'; addresses: string[]; writable: number } | LookUpFault;

interface LookUpFault {
  kind: 'fault';
  reason: string;
  /** The node does not have the table, or not all of it: it may be behind. */
  mayBeBehind: boolean;
}

/** Reads the accounts that a message takes from lookup tables. */
export async function resolveLookupTables(
  read: ReadFromEndpoint,
  { keys, lookups }: CompiledMessage,
): Promise<LookupTableResult> {
  if (lookups.length === 0) return { kind: 'found', addresses: [], writable: 0 };
  const accounts = await getAccounts(
    read,
    lookups.map(({ table }) => table),
  );
  const writable: string[] = [];
  const readonly: string[] = [];
  for (const [index, lookup] of lookups.entries()) {
    const account = accounts[index] ?? null;
    if (account === null) return behind(`Lookup table ${lookup.table} does not exist`);
    if (account.owner !== ADDRESS_LOOKUP_TABLE_PROGRAM) return fault(`${lookup.table} is not a lookup table`);
    const addresses = addressesIn(account);
    const beyond = [...lookup.writable, ...lookup.readonly].find((place) => place >= addresses.length);
    if (beyond !== undefined) {
      return behind(`Lookup table ${lookup.table} has ${addresses.length} addresses and none at ${beyond}`);
    }
    const addressAt = (place: number) => addresses[place]?.toBase58() ?? '';
    writable.push(...lookup.writable.map(addressAt));
    readonly.push(...lookup.readonly.map(addressAt));
  }
  const addresses = [...writable, ...readonly];
  // The runtime loads no account twice (`AccountLoadedTwice`), from a table or otherwise.
  const twice = addresses.find((address, place) => keys.includes(address) || addresses.indexOf(address) < place);
  if (twice !== undefined) return fault(`Account ${twice} is loaded twice, by a lookup table for the second time`);
  return { kind: 'found', addresses, writable: writable.length };
}

/** The addresses of a table; none where its data are none of a table. */
function addressesIn({ data }: OnChainAccount): PublicKey[] {
  try {
    return AddressLookupTableAccount.deserialize(data).addresses;
  } catch {
    return [];
  }
}

function fault(reason: string): LookUpFault {
  return { kind: 'fault', reason, mayBeBehind: false };
}

function behind(reason: string): LookUpFault {
  return { kind: 'fault', reason, mayBeBehind: true };
}
