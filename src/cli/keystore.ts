import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { systemClock } from '../domain/clock.ts';
import { readVariables } from '../settings/environment.ts';
import { ConfigurationFindings } from '../settings/problems.ts';
import { createKeySigner } from '../signers/held-key.ts';
import {
  describeKeystore,
  openKeystore,
  openKeystoreFile,
  plaintextKeyKind,
  readKeystoreFile,
  sealKeystore,
} from '../signers/keystore.ts';
import { isSecp256k1Scalar } from '../signers/secp256k1.ts';
import type { Curve } from '../signers/signer.ts';
import type { Command, CommandContext } from './command.ts';

const VARIABLE = 'KEYSTORE_PASSPHRASE';
const NEW_VARIABLE = 'KEYSTORE_NEW_PASSPHRASE';
const MIN_PASSPHRASE = 8;

const ACTIONS: Readonly<Record<string, (context: CommandContext, file: string) => Promise<void>>> = {
  new: async (context, file) => await write(context, unused(file), randomKey()),
  import: async (context, file) => await write(context, unused(file), await givenKey(context)),
  address: async (context, file) => await showAddresses(context, await openedKey(context, file)),
  inspect,
  passphrase: changePassphrase,
};

/** Creates, shows and changes keystore files for signers of the type `local`. */
export const keystoreCommand: Command = {
  usage: `keystore <${Object.keys(ACTIONS).join(' | ')}> <file>`,
  summary: `Make a key in an encrypted file, put one there that is typed or piped in as 64 hex digits, show its addresses, show the file without its passphrase, or give it another one. Passphrases are asked for, or come from ${VARIABLE} and ${NEW_VARIABLE}`,
  flags: [],
  arguments: 2,
  async run(context, { values: [action = '', name = ''] }) {
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (act === undefined) throw new Error(`Say keystore ${Object.keys(ACTIONS).join(', ')}, and a file`);
    const clear = plaintextKeyKind(name);
    if (clear !== undefined)
      throw new Error(`The place of the file name has ${clear}; it is in the history of your shell now`);
    await act(context, resolve(context.cwd, name));
    return 0;
  },
};

function unused(file: string): string {
  if (existsSync(file)) throw new Error(`${file} exists; a keystore is never overwritten`);
  return file;
}

async function openedKey(context: CommandContext, file: string): Promise<Buffer> {
  return await openKeystoreFile(file, await passphraseOf(context, { variable: VARIABLE, isNew: false }));
}

/** Shows the parts of a file that need no passphrase. */
async function inspect(context: CommandContext, file: string): Promise<void> {
  const { id, address, derivation, isWeak } = await readKeystoreFile(file, describeKeystore);
  const mode = (await stat(file)).mode & 0o777;
  context.say(`${file}: Web3 Secret Storage, version 3`);
  context.say(`id       ${id ?? 'none'}`);
  context.say(`address  ${address ?? 'none'} (as the file says; keystore address opens it and shows its own)`);
  context.say(`under    ${derivation}`);
  context.say(`mode     ${mode.toString(8).padStart(4, '0')}`);
  if (isWeak)
    context.say(
      'Its passphrase is cheaper to guess than it should be: the command "keystore passphrase" raises the cost.',
    );
  if ((mode & 0o077) !== 0) context.say('Others on this machine can read it: chmod 600 keeps it to its owner.');
}

/** Changes the passphrase. The old file stays until the new one is complete and opens. */
async function changePassphrase(context: CommandContext, named: string): Promise<void> {
  // A symbolic link stays; its target is replaced.
  const file = await realpath(named).catch(() => named);
  const key = await openedKey(context, file);
  const { id = randomUUID() } = await readKeystoreFile(file, describeKeystore);
  const passphrase = await passphraseOf(context, { variable: NEW_VARIABLE, isNew: true });
  try {
    const text = await sealed(key, passphrase, id);
    if (!(await openKeystore(text, passphrase)).equals(key))
      throw new Error('The new file does not open; nothing is changed');
    const { mode, uid, gid } = await stat(file);
    const beside = `${file}.new`;
    await writeWhole(beside, text, async (handle) => {
      await handle.chmod(mode & 0o777);
      await handle.chown(uid, gid);
    });
    await rename(beside, file);
    context.say(`${named} has another passphrase. Copies of it still have the old one.`);
  } finally {
    key.fill(0);
    passphrase.fill(0);
  }
}

async function write(context: CommandContext, file: string, key: Buffer): Promise<void> {
  const passphrase = await passphraseOf(context, { variable: VARIABLE, isNew: true });
  const text = await sealed(key, passphrase, randomUUID());
  passphrase.fill(0);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(file, text);
  context.say(`Written to ${file}`);
  await showAddresses(context, key);
  context.say('Keep a copy of the file, and the passphrase elsewhere: without it nobody can open the file.');
}

async function sealed(key: Buffer, passphrase: Buffer, id: string): Promise<string> {
  // The format names one account, and other programs show it: the first address on secp256k1.
  const [address = ''] = (await addressesOf(key, 'secp256k1')).values();
  return await sealKeystore(key, passphrase, { address, id, randomBytes });
}

/** Writes a new file. Fails if the file exists. No other user can read it at any time. */
async function writeWhole(
  file: string,
  text: string,
  beforeEnd: (handle: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await beforeEnd(handle);
  } catch (error) {
    // A partial file would block the next try.
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Takes the passphrase from the environment, or asks for it. Asks twice for a new one, because a mistake would lock the
 * key away.
 */
async function passphraseOf(
  context: CommandContext,
  { variable, isNew }: { variable: string; isNew: boolean },
): Promise<Buffer> {
  const findings = new ConfigurationFindings();
  const { [variable]: given = '' } = await readVariables(context.env, context.cwd, findings);
  findings.settle();
  const { keyboard } = context;
  if (given === '' && !keyboard.isTerminal) {
    throw new Error(`There is no terminal to ask for the passphrase: set ${variable}, or run it in a terminal`);
  }
  const passphrase =
    given === '' ? await keyboard.ask(variable === NEW_VARIABLE ? 'New passphrase: ' : 'Passphrase: ') : given;
  if (isNew && passphrase.length < MIN_PASSPHRASE) {
    throw new Error(`A passphrase of fewer than ${MIN_PASSPHRASE} characters protects nothing`);
  }
  if (isNew && given === '' && (await keyboard.ask('Repeat it: ')) !== passphrase) {
    throw new Error('The passphrases differ; nothing was written');
  }
  return Buffer.from(passphrase, 'utf8');
}

function randomKey(): Buffer {
  for (;;) {
    const key = randomBytes(32);
    if (isSecp256k1Scalar(key)) return key;
  }
}

async function givenKey({ keyboard }: CommandContext): Promise<Buffer> {
  const text = keyboard.isTerminal ? await keyboard.ask('Private key, 64 hex digits: ') : await keyboard.piped();
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())?.[1];
  if (digits === undefined) throw new Error('A private key is 64 hexadecimal digits, with or without 0x before them');
  const key = Buffer.from(digits, 'hex');
  if (!isSecp256k1Scalar(key))
    throw new Error('This is not a private key: it is zero, or not below the order of secp256k1');
  return key;
}

/** Shows the addresses of a key, then wipes the key. */
async function showAddresses(context: CommandContext, key: Buffer): Promise<void> {
  for (const [family, address] of await addressesOf(key)) context.say(`${family.padEnd(8)} ${address}`);
  key.fill(0);
}

/** Returns the address of the key in each chain family, or only in those with the given curve. */
async function addressesOf(key: Buffer, curve?: Curve): Promise<Map<string, string>> {
  const signer = createKeySigner('keystore', Buffer.from(key));
  try {
    const addresses = new Map<string, string>();
    for (const [family, chain] of createChains(systemClock)) {
      if (curve !== undefined && chain.curve !== curve) continue;
      addresses.set(family, chain.addressOf(await signer.publicKey(chain.curve)));
    }
    return addresses;
  } finally {
    await signer.close();
  }
}
