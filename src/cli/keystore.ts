import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { Findings } from '../config/problems.ts';
import { readVariables } from '../config/variables.ts';
import { systemClock } from '../domain/clock.ts';
import { isSecp256k1Scalar } from '../signers/ecdsa.ts';
import { createKeySigner } from '../signers/key-signer.ts';
import { sealKeystore } from '../signers/keystore.ts';
import { openKeystoreFile } from '../signers/local.ts';
import type { Curve } from '../signers/signer.ts';
import type { Command, CommandContext } from './command.ts';

const VARIABLE = 'KEYSTORE_PASSPHRASE';
const SHORTEST_PASSPHRASE = 8;

/** Makes and reads the keystore files that signers of the type `local` open. */
export const keystoreCommand: Command = {
  usage: 'keystore <new | import | address> <file>',
  summary: `Make a key in an encrypted file, put one there that is typed or piped in as 64 hex digits, or show its addresses. The passphrase is asked for, or comes from ${VARIABLE}`,
  flags: [],
  arguments: 2,
  async run(context, { values: [action = '', name = ''] }) {
    const file = resolve(context.cwd, name);
    if (action === 'address') {
      await showAddresses(context, await openKeystoreFile(file, await passphraseOf(context, { isNew: false })));
      return 0;
    }
    if (action !== 'new' && action !== 'import')
      throw new Error('Say keystore new, keystore import or keystore address');
    if (existsSync(file)) throw new Error(`${file} exists; a keystore is never overwritten`);
    await write(context, file, action === 'new' ? randomKey() : await givenKey(context));
    return 0;
  },
};

async function write(context: CommandContext, file: string, key: Buffer): Promise<void> {
  const passphrase = await passphraseOf(context, { isNew: true });
  // The format names one account, and readers show it: the first on its curve.
  const [address = ''] = (await addressesOf(key, 'secp256k1')).values();
  const text = await sealKeystore(key, passphrase, { address, id: randomUUID(), randomBytes });
  passphrase.fill(0);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Made by nobody else meanwhile, and nobody else's to read at any moment.
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  context.say(`Written to ${file}`);
  await showAddresses(context, key);
  context.say('Keep a copy of the file, and the passphrase elsewhere: without it nobody can open the file.');
}

/** From the environment, else asked for; twice where a mistake would lock the key away. */
async function passphraseOf(context: CommandContext, { isNew }: { isNew: boolean }): Promise<Buffer> {
  const findings = new Findings();
  const { [VARIABLE]: given = '' } = await readVariables(context.env, context.cwd, findings);
  findings.settle();
  const { keyboard } = context;
  if (given === '' && !keyboard.isTerminal) {
    throw new Error(`Nobody can be asked for the passphrase here: set ${VARIABLE}, or run it in a terminal`);
  }
  const passphrase = given === '' ? await keyboard.ask('Passphrase: ') : given;
  if (isNew && passphrase.length < SHORTEST_PASSPHRASE) {
    throw new Error(`A passphrase of fewer than ${SHORTEST_PASSPHRASE} characters protects nothing`);
  }
  if (isNew && given === '' && (await keyboard.ask('Once more: ')) !== passphrase) {
    throw new Error('These were two different passphrases; nothing was written');
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
    throw new Error('This is no private key: it is zero, or not below the order of secp256k1');
  return key;
}

/** Wipes the key. */
async function showAddresses(context: CommandContext, key: Buffer): Promise<void> {
  for (const [family, address] of await addressesOf(key)) context.say(`${family.padEnd(8)} ${address}`);
  key.fill(0);
}

/** The account of the key in each family of chains, or in those on one curve. */
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
