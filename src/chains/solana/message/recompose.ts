import { arrange, type Instruction, placesIn } from './compile.ts';
import { nonceOf } from './durable-nonce.ts';
import { isSigner, isWritable, type Message } from './message.ts';

/** How a message is to differ. */
export interface Recomposition {
  payer: string;
  blockhash: string;
  /** Come first, but for the advance of a durable nonce, which has no effect anywhere else. */
  before: readonly Instruction[];
}

/**
 * A message that does the same for another payer. The accounts of its instructions keep their rights, also those that
 * its lookup tables name; what no instruction names takes part no longer.
 */
export function recompose(message: Message, { payer, blockhash, before }: Recomposition): Message {
  const { version, keys, instructions, lookups } = message;
  // Of those out of lookup tables, the tables tell.
  const known = instructions.map(
    ({ program, accounts, data }): Instruction => ({
      program: keys[program] ?? '',
      accounts: accounts.flatMap((place) => accountAt(message, place) ?? []),
      data,
    }),
  );
  const arrangement = arrange(payer, [...before, ...known]);
  const shift = arrangement.keys.length - keys.length;
  const places = new Map(arrangement.keys.map((key, place) => [key, place]));
  const placeOf = (place: number): number => places.get(keys[place] ?? '') ?? place + shift;
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
    instructions: [...moved.slice(0, start), ...before.map(placesIn(arrangement)), ...moved.slice(start)],
    lookups,
  };
}

function accountAt(message: Message, place: number): Instruction['accounts'][number] | undefined {
  const key = message.keys[place];
  if (key === undefined) return undefined;
  return { key, isSigner: isSigner(message, place), isWritable: isWritable(message, place) };
}
