/** Threat: a key file that asks for its password to be stretched in billions of rounds, which nothing can stop. */
import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { checkEncryptedKey } from '../../../../../sandbox/process/crypto/encrypted-key.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const locked = privateKey.export({ format: 'der', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' });

/** The same with other bytes at the place of these. */
function changed(from: string, to: string): Buffer {
  const hex = locked.toString('hex');
  if (!hex.includes(from)) throw new Error('not there');
  return Buffer.from(hex.replace(from, to), 'hex');
}

/** DER of a tag and its content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const all = Buffer.concat(content);
  return Buffer.concat([Buffer.from(all.length < 128 ? [tag, all.length] : [tag, 0x81, all.length]), all]);
}

const scrypt = (...numbers: number[]) => stretched('2b06010401da47040b', numbers);
const pbkdf2 = (rounds: number) => stretched('2a864886f70d01050c', [rounds]);

function stretched(how: string, numbers: number[]): Buffer {
  const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'));
  const integer = (one: number) => der(2, Buffer.from([0, one >> 16, (one >> 8) & 255, one & 255]));
  const derivation = der(0x30, oid(how), der(0x30, der(4, Buffer.from('salt')), ...numbers.map(integer)));
  return der(0x30, der(0x30, oid('2a864886f70d01050d'), der(0x30, derivation)), der(4, Buffer.from('x')));
}

t.test('what OpenSSL writes is taken', (t) => {
  t.doesNotThrow(() => checkEncryptedKey(locked));
  t.doesNotThrow(() => checkEncryptedKey(scrypt(16_384, 8, 1)));
  t.end();
});

t.test('what takes long, or is not understood, is refused', (t) => {
  t.throws(() => checkEncryptedKey(pbkdf2(0xffffff)), /rounds/);
  t.throws(() => checkEncryptedKey(scrypt(0xffffff, 8, 1)), /beyond/);
  t.throws(() => checkEncryptedKey(scrypt(16_384, 8, 1000)), /beyond/);
  t.throws(() => checkEncryptedKey(changed('2a864886f70d01050c', '2a864886f70d01050e')), /no known way/);
  t.throws(() => checkEncryptedKey(changed('2a864886f70d01050d', '2a864886f70d010501')), /no known way/);
  t.throws(() => checkEncryptedKey(locked.subarray(0, 40)), /cut short/);
  t.throws(() => checkEncryptedKey(Buffer.from([0x30, 0x80, 0, 0])), /not in DER/);
  t.throws(() => checkEncryptedKey(Buffer.concat([locked, locked])), /more than one/);
  t.throws(() => checkEncryptedKey(Buffer.alloc(0)), /more than one/);
  t.end();
});
