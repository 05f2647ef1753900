import { arrange, type Instruction, placesIn } from './compile.ts';
import { isSigner, isWritable, type Message, type TableLookup } from './compiled-message.ts';
import { nonceOf } from './durable-nonce.ts';

/** How a message is to differ. */
export interface Recomposition {
  payer: string;
  blockhash: string;
  /** These come first. Only the advance of a durable nonce stays before them: elsewhere it has no effect. */
  before: readonly Instruction[];
  /** These come last. */
  after?: readonly Instruction[];
  /** The accounts that the message's lookup tables name, in their order. */
  lookedUp: readonly string[];
}

/** An account that a lookup table names. */
interface Entry {
  table: string;
  index: number;
  key: string;
  isWritable: boolean;
}

/**
 * Rebuilds a message for another payer, with further instructions. Its accounts keep their rights, also those that its
 * lookup tables name. An account that no instruction names is left out. The runtime loads no account twice, so accounts
 * that the payer or the new instructions name are taken out of the tables.
 */
export function recompose(
  message: Message,
  { payer, blockhash, before, after = [], lookedUp }: Recomposition,
): Message {
  const { version, keys, instructions } = message;
  const named = new Set([
    payer,
    ...[...before, ...after].flatMap(({ program, accounts }) => [program, ...accounts.map(({ key }) => key)]),
  ]);
  const entries = entriesOf(message, lookedUp);
  const left = entries.filter(({ key }) => !named.has(key));
  const known = instructions.map(
    ({ program, accounts, data }): Instruction => ({
      program: keys[program] ?? '',
      accounts: accounts.flatMap((place) => accountAt(message, entries, named, place) ?? []),
      data,
    }),
  );
  const arrangement = arrange(payer, [...before, ...known, ...after]);
  const places = new Map(arrangement.keys.map((key, place) => [key, place]));
  const placeOf = (place: number): number => {
    const entry = entries[place - keys.length];
    const own = places.get(entry?.key ?? keys[place] ?? '');
    return own ?? arrangement.keys.length + left.findIndex((one) => one === entry);
  };
  const moved = instructions.map(({ program, accounts, data }) => ({
    program: placeOf(program),
    accounts: accounts.map(placeOf),
    data,
  }));
  const start = nonceOf(message) === undefined ? 0 : 1;
  return {
    version,
    ...arrangement,
    blockhash,
    instructions: [
      ...moved.slice(0, start),
      ...before.map(placesIn(arrangement)),
      ...moved.slice(start),
      ...after.map(placesIn(arrangement)),
    ],
    lookups: lookupsOf(message, left),
  };
}

/** The table entries in the runtime's order: the writable entries of all tables, then the readonly ones. */
function entriesOf({ lookups }: Message, lookedUp: readonly string[]): Entry[] {
  const places = [true, false].flatMap((isWritable) =>
    lookups.flatMap(({ table, writable, readonly }) =>
      (isWritable ? writable : readonly).map((index) => ({ table, index, isWritable })),
    ),
  );
  return places.map((entry, at) => ({ ...entry, key: lookedUp[at] ?? '' }));
}

function lookupsOf({ lookups }: Message, left: readonly Entry[]): TableLookup[] {
  const indexes = (table: string, writable: boolean) =>
    left.filter((entry) => entry.table === table && entry.isWritable === writable).map(({ index }) => index);
  return lookups
    .map(({ table }) => ({ table, writable: indexes(table, true), readonly: indexes(table, false) }))
    .filter(({ writable, readonly }) => writable.length + readonly.length > 0);
}

/** Undefined for an account that stays in a lookup table: the lookup says its rights. */
function accountAt(
  message: Message,
  entries: readonly Entry[],
  named: ReadonlySet<string>,
  place: number,
): Instruction['accounts'][number] | undefined {
  const key = message.keys[place];
  if (key !== undefined) return { key, isSigner: isSigner(message, place), isWritable: isWritable(message, place) };
  const entry = entries[place - message.keys.length];
  if (entry === undefined || !named.has(entry.key)) return undefined;
  return { key: entry.key, isSigner: false, isWritable: entry.isWritable };
}
