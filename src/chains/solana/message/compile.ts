import type { CompiledInstruction, Message } from './compiled-message.ts';

/** A call of a program by its keys, in base58. */
export interface Instruction {
  program: string;
  accounts: readonly { key: string; isSigner: boolean; isWritable: boolean }[];
  data: Buffer;
}

/** The rights of a key in a whole message. */
interface Role {
  isSigner: boolean;
  isWritable: boolean;
}

/** A message's keys in their order, and how many of them have which rights. */
export type Arrangement = Pick<Message, 'signers' | 'readonlySigners' | 'readonlyOthers' | 'keys'>;

/**
 * Compiles instructions into a legacy message. Its keys have the order of the public client: the payer, other writable
 * signers, readonly signers, writable accounts that do not sign, readonly ones. Within a group they keep the order of
 * their first mention.
 */
export function compileLegacy({
  payer,
  instructions,
  blockhash,
}: {
  payer: string;
  instructions: readonly Instruction[];
  blockhash: string;
}): Message {
  const arrangement = arrange(payer, instructions);
  const place = placesIn(arrangement);
  return { version: 'legacy', ...arrangement, blockhash, instructions: instructions.map(place), lookups: [] };
}

/** The keys that some instructions name, in the order that a message has. */
export function arrange(payer: string, instructions: readonly Instruction[]): Arrangement {
  const roles = rolesOf(payer, instructions);
  const those = (isSigner: boolean, isWritable: boolean) =>
    [...roles].filter(([, role]) => role.isSigner === isSigner && role.isWritable === isWritable).map(([key]) => key);
  const readonlySigners = those(true, false);
  const signers = [...those(true, true), ...readonlySigners];
  const readonlyOthers = those(false, false);
  return {
    signers: signers.length,
    readonlySigners: readonlySigners.length,
    readonlyOthers: readonlyOthers.length,
    keys: [...signers, ...those(false, true), ...readonlyOthers],
  };
}

/** Replaces the keys of an instruction by their places in the message. */
export function placesIn({ keys }: Pick<Arrangement, 'keys'>): (instruction: Instruction) => CompiledInstruction {
  const places = new Map(keys.map((key, place) => [key, place]));
  const placeOf = (key: string): number => places.get(key) ?? -1;
  return ({ program, accounts, data }) => ({
    program: placeOf(program),
    accounts: accounts.map(({ key }) => placeOf(key)),
    data,
  });
}

function rolesOf(payer: string, instructions: readonly Instruction[]): Map<string, Role> {
  const roles = new Map<string, Role>([[payer, { isSigner: true, isWritable: true }]]);
  const add = (key: string, added: Role) => {
    const role = roles.get(key);
    roles.set(key, {
      isSigner: added.isSigner || role?.isSigner === true,
      isWritable: added.isWritable || role?.isWritable === true,
    });
  };
  for (const { program, accounts } of instructions) {
    add(program, { isSigner: false, isWritable: false });
    for (const account of accounts) add(account.key, account);
  }
  return roles;
}
