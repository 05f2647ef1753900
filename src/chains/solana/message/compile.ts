import { isSigner, isWritable, type Message } from './message.ts';

/** A call of a program by its keys, in base58. */
export interface Instruction {
  program: string;
  accounts: readonly { key: string; isSigner: boolean; isWritable: boolean }[];
  data: Buffer;
}

/** What a key may do, over all of a message. */
interface Role {
  isSigner: boolean;
  isWritable: boolean;
}

/**
 * The legacy message of some instructions. Its keys are in the order of the public client: the payer, other writable
 * signers, readonly signers, then those that do not sign, writable and readonly, each as they come first.
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
  const roles = rolesOf(payer, instructions);
  const those = (isSigner: boolean, isWritable: boolean) =>
    [...roles].filter(([, role]) => role.isSigner === isSigner && role.isWritable === isWritable).map(([key]) => key);
  const readonlySigners = those(true, false);
  const signers = [...those(true, true), ...readonlySigners];
  const readonlyOthers = those(false, false);
  const keys = [...signers, ...those(false, true), ...readonlyOthers];
  const places = new Map(keys.map((key, place) => [key, place]));
  const placeOf = (key: string): number => places.get(key) ?? -1;
  return {
    version: 'legacy',
    signers: signers.length,
    readonlySigners: readonlySigners.length,
    readonlyOthers: readonlyOthers.length,
    keys,
    blockhash,
    instructions: instructions.map(({ program, accounts, data }) => ({
      program: placeOf(program),
      accounts: accounts.map(({ key }) => placeOf(key)),
      data,
    })),
    lookups: [],
  };
}

/** A message's instructions; undefined when one of them names a key that only a lookup table tells. */
export function instructionsOf(message: Message): Instruction[] | undefined {
  const { keys, instructions } = message;
  const decompiled: Instruction[] = [];
  for (const { program, accounts, data } of instructions) {
    const own = accounts.flatMap((place) => accountAt(message, place) ?? []);
    if (own.length < accounts.length) return undefined;
    decompiled.push({ program: keys[program] ?? '', accounts: own, data });
  }
  return decompiled;
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

function accountAt(message: Message, place: number): Instruction['accounts'][number] | undefined {
  const key = message.keys[place];
  if (key === undefined) return undefined;
  return { key, isSigner: isSigner(message, place), isWritable: isWritable(message, place) };
}
