import '../domain/json/issue-text.ts';
import { createCipheriv, createDecipheriv, hash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { isObject } from '../domain/json/json.ts';
import { KeyFault } from './held-key.ts';

/** The longest file that is read, in bytes. Keystores have a few hundred. */
const MAX_FILE = 65_536;

/**
 * Opens a keystore file and returns its 32 bytes.
 * @throws KeyFault that names the file and the cause, and shows nothing of its content
 */
export async function openKeystoreFile(path: string, passphrase: Uint8Array): Promise<Buffer> {
  return await readKeystoreFile(path, (text) => openKeystore(text, passphrase));
}

/** Reads a keystore file, and returns what `use` makes of its text. Needs no passphrase. */
export async function readKeystoreFile<T>(path: string, use: (text: string) => T | Promise<T>): Promise<T> {
  try {
    return await use(await readKeystore(path));
  } catch (cause) {
    throw new KeyFault(reasonOf(cause, path), { cause });
  }
}

async function readKeystore(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(MAX_FILE + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE) throw new KeystoreError('format', `it is longer than ${MAX_FILE} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function reasonOf(error: unknown, path: string): string {
  if (error instanceof KeystoreError && error.kind === 'passphrase') {
    return `the passphrase does not open keystore ${path} (${error.message})`;
  }
  if (error instanceof KeystoreError && error.kind === 'clear') {
    return `${path} is no keystore: ${error.message}; put the key under a passphrase with \`npm run isolayer -- keystore import <another file>\` and delete this one`;
  }
  if (error instanceof KeystoreError) return `keystore ${path} cannot be read: ${error.message}`;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOENT') {
    const clear = plaintextKeyKind(basename(path));
    if (clear !== undefined) return `the path of the keystore is ${clear}; it has to be that of a file`;
    return `there is no keystore at ${path}; make one with \`npm run isolayer -- keystore new ${path}\``;
  }
  return `keystore ${path} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}

/** The forms of keys that are kept without a passphrase, each with its usual name. */
const FORMS: readonly [form: RegExp, name: string][] = [
  [/^(?:0x)?[0-9a-fA-F]{64}$/, 'a private key in clear'],
  [/^S[A-Z2-7]{55}$/, 'a Stellar secret seed in clear'],
  [/^[1-9A-HJ-NP-Za-km-z]{87,88}$/, 'a Solana key pair in clear'],
  [/^\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]$/, 'a Solana key pair in clear'],
  [/^-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key in PEM'],
  [/^[a-z]+(?:\s+[a-z]+){11,23}$/, 'a phrase of words in clear'],
];

/** The kind of key that a text is; undefined when it may be something else. Shows nothing of the text. */
export function plaintextKeyKind(text: string): string | undefined {
  const bare = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  return FORMS.find(([form]) => form.test(bare))?.[1];
}

/**
 * Web3 Secret Storage, version 3: a key under a passphrase, as geth and its kin write it.
 * https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
 */

/** A keystore could not be opened. The message says why and shows nothing of its content. */
class KeystoreError extends Error {
  /** `passphrase`: the file is sound, but the passphrase is wrong. `clear`: the file is a key without a passphrase. */
  readonly kind: 'format' | 'passphrase' | 'clear';

  constructor(kind: KeystoreError['kind'], message: string) {
    super(message);
    this.name = 'KeystoreError';
    this.kind = kind;
  }
}

/** Geth's standard scrypt (N 262144, r 8, p 1) takes 256 MiB; four times that is the most that a file may ask for. */
const MAX_SCRYPT_BYTES = 1_073_741_824;
/** N·r·p of geth's standard parameters is 2^21; sixteen times that is the most work that a file may ask for. */
const MAX_SCRYPT_WORK = 2 ** 25;
const MAX_PBKDF2_ROUNDS = 10_000_000;
/**
 * The scrypt parameters of new files. They take 128 MiB and some tenths of a second: OWASP's minimum for scrypt
 * (Password Storage Cheat Sheet).
 */
const NEW_SCRYPT = { n: 131_072, r: 8, p: 1, dklen: 32 };

const hex = (bytes: number) =>
  z
    .string()
    .regex(/^(0x)?([0-9a-fA-F]{2})*$/, 'not hexadecimal')
    .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'))
    .refine((value) => value.length === bytes, `not ${bytes} bytes`);

const salt = z
  .string()
  .regex(/^(0x)?([0-9a-fA-F]{2}){1,256}$/, 'not hexadecimal')
  .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'));

const positive = z.int().min(1);
/** Longer derived keys are allowed, only the first 32 bytes are used. */
const dklen = z.int().min(32, 'shorter than 32').max(1_024, 'longer than 1024');

const kdfSchema = z.discriminatedUnion('kdf', [
  z.object({
    kdf: z.literal('scrypt'),
    kdfparams: z
      .object({ n: positive, r: positive, p: positive, dklen, salt })
      .refine(({ n }) => n > 1 && Number.isInteger(Math.log2(n)), 'n is not a power of two')
      .refine(
        ({ n, r, p }) => 128 * r * Math.max(n, p) <= MAX_SCRYPT_BYTES,
        'n, r and p ask for more than 1 GiB of memory',
      )
      .refine(({ n, r, p }) => n * r * p <= MAX_SCRYPT_WORK, 'n, r and p ask for too much work'),
  }),
  z.object({
    kdf: z.literal('pbkdf2'),
    kdfparams: z
      .object({ c: positive.max(MAX_PBKDF2_ROUNDS, 'too many rounds'), prf: z.literal('hmac-sha256'), dklen, salt })
      // Each 32 bytes of the derived key cost all rounds.
      .refine(({ c, dklen: length }) => c * Math.ceil(length / 32) <= MAX_PBKDF2_ROUNDS, 'too many rounds'),
  }),
]);

const cryptoSchema = z
  .object({
    cipher: z.literal('aes-128-ctr', { error: 'only aes-128-ctr is known' }),
    cipherparams: z.object({ iv: hex(16) }),
    ciphertext: hex(32),
    mac: hex(32),
  })
  .and(kdfSchema);

/** Some writers capitalise the key `crypto`. */
const keystoreSchema = z.preprocess(
  (value) => (isObject(value) && 'Crypto' in value ? { ...value, crypto: value['Crypto'] } : value),
  z.object({
    version: z.literal(3, { error: 'only version 3 (Web3 Secret Storage) is known' }),
    id: z.string().optional().catch(undefined),
    address: z.string().optional().catch(undefined),
    crypto: cryptoSchema,
  }),
);

type KeystoreCrypto = z.output<typeof cryptoSchema>;

const scryptAsync = promisify<Uint8Array, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
const pbkdf2Async = promisify(pbkdf2);

/**
 * Opens a keystore and returns its 32 bytes. Derives off the event loop, and wipes the derived key.
 * @throws KeystoreError
 */
export async function openKeystore(text: string, passphrase: Uint8Array): Promise<Buffer> {
  const { crypto } = parseKeystore(text);
  const derived = await derive(crypto, passphrase);
  try {
    if (!timingSafeEqual(macOf(derived, crypto.ciphertext), crypto.mac))
      throw new KeystoreError('passphrase', 'MAC mismatch');
    // CTR needs no padding, so `update` returns the whole key and `final` nothing.
    return createDecipheriv('aes-128-ctr', derived.subarray(0, 16), crypto.cipherparams.iv).update(crypto.ciphertext);
  } finally {
    derived.fill(0);
  }
}

/**
 * Makes the text of a keystore from 32 bytes. Derives off the event loop, and wipes the derived key.
 * @param address shown in the file, 20 bytes in hexadecimal
 * @param n cost of scrypt; absent: the cost for files that people keep
 */
export async function sealKeystore(
  key: Buffer,
  passphrase: Uint8Array,
  parts: { address: string; id: string; randomBytes: (size: number) => Uint8Array; n?: number },
): Promise<string> {
  const [salt, iv] = [Buffer.from(parts.randomBytes(32)), Buffer.from(parts.randomBytes(16))];
  const kdfparams = { ...NEW_SCRYPT, n: parts.n ?? NEW_SCRYPT.n, salt: salt.toString('hex') };
  const derived = await scryptOf(passphrase, { ...kdfparams, salt });
  try {
    const ciphertext = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv).update(key);
    const crypto = {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: macOf(derived, ciphertext).toString('hex'),
    };
    return `${JSON.stringify({ address: parts.address.replace(/^0x/, ''), crypto, id: parts.id, version: 3 })}\n`;
  } finally {
    derived.fill(0);
  }
}

/** The parts of a keystore that are readable without its passphrase. */
export interface KeystoreDescription {
  /** As the file states them. They are not verified. */
  id: string | undefined;
  address: string | undefined;
  /** How the passphrase becomes a key. `isWeak`: guessing the passphrase costs less than it should. */
  derivation: string;
  isWeak: boolean;
}

/** OWASP's minimum for PBKDF2 with SHA-256 (Password Storage Cheat Sheet). */
const FEW_PBKDF2_ROUNDS = 600_000;

/**
 * Reads a keystore without its passphrase.
 * @throws KeystoreError
 */
export function describeKeystore(text: string): KeystoreDescription {
  const { id, address, crypto } = parseKeystore(text);
  if (crypto.kdf === 'pbkdf2') {
    const { c } = crypto.kdfparams;
    return { id, address, derivation: `PBKDF2, ${c} rounds of SHA-256`, isWeak: c < FEW_PBKDF2_ROUNDS };
  }
  const { n, r, p } = crypto.kdfparams;
  const mebibytes = Math.round((128 * n * r) / 1_048_576);
  const derivation = `scrypt, N ${n}, r ${r}, p ${p} (${mebibytes} MiB)`;
  return { id, address, derivation, isWeak: n * r * p < NEW_SCRYPT.n * NEW_SCRYPT.r * NEW_SCRYPT.p };
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return hash('keccak-256', Buffer.concat([derived.subarray(16, 32), ciphertext]), 'buffer');
}

function parseKeystore(text: string): z.output<typeof keystoreSchema> {
  const clear = plaintextKeyKind(text);
  if (clear !== undefined) throw new KeystoreError('clear', `it is ${clear}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KeystoreError('format', 'it is not JSON');
  }
  const parsed = keystoreSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new KeystoreError('format', `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'not a keystore'}`);
}

async function derive(crypto: KeystoreCrypto, passphrase: Uint8Array): Promise<Buffer> {
  if (crypto.kdf === 'pbkdf2') {
    const { c, dklen: length, salt: bytes } = crypto.kdfparams;
    return pbkdf2Async(passphrase, bytes, c, length, 'sha256');
  }
  return scryptOf(passphrase, crypto.kdfparams);
}

function scryptOf(
  passphrase: Uint8Array,
  { n, r, p, dklen: length, salt: bytes }: { n: number; r: number; p: number; dklen: number; salt: Buffer },
): Promise<Buffer> {
  return scryptAsync(passphrase, bytes, length, { N: n, r, p, maxmem: 256 * n * r + 128 * r * p + 1_048_576 });
}
