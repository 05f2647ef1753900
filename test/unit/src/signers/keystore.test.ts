import { createCipheriv, generateKeyPairSync, hash, pbkdf2Sync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { decryptKeystoreJsonSync, encryptKeystoreJsonSync, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { KeyFault } from '../../../../src/signers/held-key.ts';
import {
  describeKeystore,
  openKeystore,
  openKeystoreFile,
  plaintextKeyKind,
  readKeystoreFile,
  sealKeystore,
} from '../../../../src/signers/keystore.ts';

interface KeystoreFile {
  version: unknown;
  crypto: { cipher: unknown; cipherparams: unknown; ciphertext: string; kdf: unknown; kdfparams: object; mac: string };
}

const PASSPHRASE = Buffer.from('correct horse', 'utf8');

/** A keystore with PBKDF2, built from the standard's own description. */
function pbkdf2Keystore(key: Buffer, rounds: number): KeystoreFile {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  const derived = pbkdf2Sync(PASSPHRASE, salt, rounds, 32, 'sha256');
  const ciphertext = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv).update(key);
  return {
    version: 3,
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'pbkdf2',
      kdfparams: { c: rounds, prf: 'hmac-sha256', dklen: 32, salt: salt.toString('hex') },
      mac: hash('keccak-256', Buffer.concat([derived.subarray(16), ciphertext])),
    },
  };
}

function scryptKeystore(): { privateKey: string; file: KeystoreFile } {
  const { address, privateKey } = Wallet.createRandom();
  const text = encryptKeystoreJsonSync({ address, privateKey }, 'correct horse', { scrypt: { N: 1024, r: 8, p: 1 } });
  const { Crypto, ...rest } = JSON.parse(text) as { Crypto: KeystoreFile['crypto'] };
  return { privateKey, file: { version: 3, ...rest, crypto: Crypto } };
}

const open = (file: unknown, passphrase = PASSPHRASE) => openKeystore(JSON.stringify(file), passphrase);

t.test('opens scrypt as ethers writes it, with either spelling of the key', async (t) => {
  const { privateKey, file } = scryptKeystore();
  t.equal(`0x${(await open(file)).toString('hex')}`, privateKey);
  t.equal(`0x${(await open({ version: 3, Crypto: file.crypto })).toString('hex')}`, privateKey);
});

t.test('opens pbkdf2', async (t) => {
  const key = randomBytes(32);
  t.ok((await open(pbkdf2Keystore(key, 1_000))).equals(key));
});

t.test('the vectors of the standard', async (t) => {
  const key = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d';
  const pbkdf2 = {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262_144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  };
  t.equal((await open(pbkdf2, Buffer.from('testpassword'))).toString('hex'), key);
});

t.test('what it makes, others open; two of one key have nothing in common', async (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const key = Buffer.from(privateKey.slice(2), 'hex');
  const make = () => sealKeystore(key, PASSPHRASE, { address: address.toLowerCase(), id: 'one', randomBytes, n: 1024 });
  const text = await make();
  t.match(decryptKeystoreJsonSync(text, 'correct horse'), { address, privateKey });
  t.match(JSON.parse(text), { version: 3, id: 'one', address: address.slice(2).toLowerCase() });
  t.ok((await openKeystore(text, PASSPHRASE)).equals(key));
  const { crypto } = JSON.parse(text) as KeystoreFile;
  const other = (JSON.parse(await make()) as KeystoreFile).crypto;
  for (const part of ['ciphertext', 'mac', 'cipherparams', 'kdfparams'] as const) t.notSame(other[part], crypto[part]);
});

t.test('a wrong passphrase is told from a wrong file', async (t) => {
  const { file } = scryptKeystore();
  await t.rejects(open(file, Buffer.from('wrong')), {
    name: 'KeystoreError',
    kind: 'passphrase',
    message: 'MAC mismatch',
  });
  const { crypto } = file;
  const changed = (part: object) => ({ ...file, crypto: { ...crypto, ...part } });
  const kdf = (part: object) => changed({ kdfparams: { ...crypto.kdfparams, ...part } });
  for (const [bad, said] of [
    [{ ...file, version: 4 }, /only version 3/],
    [{ version: 3 }, /^crypto/],
    [[], /./],
    [changed({ cipher: 'aes-256-gcm' }), /only aes-128-ctr/],
    [changed({ kdf: 'argon2id' }), /kdf/],
    [changed({ ciphertext: crypto.ciphertext.slice(2) }), /not 32 bytes/],
    [changed({ mac: 'xyz' }), /not hexadecimal/],
    [changed({ ciphertext: `${crypto.ciphertext}0` }), /not hexadecimal/],
    [changed({ cipherparams: { iv: '00' } }), /not 16 bytes/],
    [kdf({ n: 1_000 }), /not a power of two/],
    [kdf({ n: 2 ** 40 }), /memory/],
    [kdf({ n: 2 ** 20, r: 8, p: 1_000 }), /too much work/],
    [kdf({ n: 2 ** 23, r: 8 }), /memory/],
    [kdf({ n: 2, r: 1, p: 2 ** 24 }), /memory/],
    [kdf({ dklen: 16 }), /shorter than 32/],
    [kdf({ dklen: 10 ** 9 }), /longer than 1024/],
    [kdf({ salt: '' }), /not hexadecimal/],
  ] as const) {
    await t.rejects(open(bad), { name: 'KeystoreError', kind: 'format', message: said });
  }
  const slow = pbkdf2Keystore(randomBytes(32), 1);
  for (const rounds of [{ c: 10 ** 9 }, { c: 10 ** 6, dklen: 1024 }]) {
    slow.crypto.kdfparams = { ...slow.crypto.kdfparams, ...rounds };
    await t.rejects(open(slow), { message: /too many rounds/ });
  }
  await t.rejects(openKeystore('{"version":3,', PASSPHRASE), { kind: 'format', message: 'it is not JSON' });
});

t.test('deriving leaves the event loop free', async (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const text = encryptKeystoreJsonSync({ address, privateKey }, 'p', { scrypt: { N: 65_536, r: 8, p: 1 } });
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 1);
  await openKeystore(text, Buffer.from('p'));
  clearInterval(counting);
  t.ok(turns > 2, `${turns} turns of the loop while it derived`);
});

t.test('what a file says without its passphrase, and whether guessing is cheap', (t) => {
  const told = (file: unknown) => describeKeystore(JSON.stringify(file));
  t.match(told(pbkdf2Keystore(randomBytes(32), 1_000)), {
    id: undefined,
    address: undefined,
    derivation: 'PBKDF2, 1000 rounds of SHA-256',
    isWeak: true,
  });
  const { file } = scryptKeystore();
  t.match(told(file), {
    id: /-/,
    address: /^[0-9a-f]{40}$/,
    derivation: 'scrypt, N 1024, r 8, p 1 (1 MiB)',
    isWeak: true,
  });
  const crypto = { ...file.crypto, kdfparams: { ...file.crypto.kdfparams, n: 262_144 } };
  t.match(told({ version: 3, id: 7, crypto }), { id: undefined, derivation: /\(256 MiB\)/, isWeak: false });
  t.throws(() => describeKeystore('{'), { kind: 'format', message: 'it is not JSON' });
  t.end();
});

t.test('keystore file', async (t) => {
  const PASSPHRASE = 'pässword with spaces';

  /** Writes a keystore beside the given files. */
  async function keystoreFile(t: Test, beside: Parameters<Test['testdir']>[0] = {}) {
    const { address, privateKey } = Wallet.createRandom();
    const folder = t.testdir(beside);
    const path = join(folder, 'key.json');
    const text = encryptKeystoreJsonSync({ address, privateKey }, PASSPHRASE, { scrypt: { N: 1024, r: 8, p: 1 } });
    await writeFile(path, text);
    return { path, privateKey, file: (name: string) => join(folder, name) };
  }

  t.test('opens a file, and reads it without its passphrase', async (t) => {
    const { path, privateKey } = await keystoreFile(t);
    t.equal(`0x${(await openKeystoreFile(path, Buffer.from(PASSPHRASE))).toString('hex')}`, privateKey);
    t.match(await readKeystoreFile(path, describeKeystore), { derivation: /^scrypt, N 1024/ });
  });

  t.test('every failure names the file and the cause, and no secret', async (t) => {
    const others = {
      'broken.json': '{',
      'raw.txt': `${'ab'.repeat(32)}\n`,
      'huge.json': ' '.repeat(70_000),
      folder: {},
    };
    const { path, file } = await keystoreFile(t, others);
    const cases: [string, string, string][] = [
      [path, 'wrong passphrase', `the passphrase does not open keystore ${path} (MAC mismatch)`],
      [
        file('none.json'),
        PASSPHRASE,
        `there is no keystore at ${file('none.json')}; make one with \`npm run isolayer -- keystore new ${file('none.json')}\``,
      ],
      [file('broken.json'), PASSPHRASE, `keystore ${file('broken.json')} cannot be read: it is not JSON`],
      [
        file('raw.txt'),
        PASSPHRASE,
        `${file('raw.txt')} is no keystore: it is a private key in clear; put the key under a passphrase with \`npm run isolayer -- keystore import <another file>\` and delete this one`,
      ],
      [file('huge.json'), PASSPHRASE, `keystore ${file('huge.json')} cannot be read: it is longer than 65536 bytes`],
      [
        file('ab'.repeat(32)),
        PASSPHRASE,
        'the path of the keystore is a private key in clear; it has to be that of a file',
      ],
      [file('folder'), PASSPHRASE, `keystore ${file('folder')} cannot be read (EISDIR)`],
    ];
    for (const [at, passphrase, reason] of cases) {
      const failure = await openKeystoreFile(at, Buffer.from(passphrase)).catch((error: unknown) => error);
      t.type(failure, KeyFault);
      t.match(failure, { message: reason });
      t.notMatch(String(failure), /wrong passphrase|pässword/);
    }
  });
});

t.test('the forms that keys are kept in are called by their names', (t) => {
  const { privateKey, mnemonic } = Wallet.createRandom();
  const pair = [...Keypair.generate().secretKey];
  const pem = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'pem', type: 'sec1' });
  for (const [text, name] of [
    [privateKey, 'a private key in clear'],
    [privateKey.slice(2), 'a private key in clear'],
    [`"${privateKey}"\n`, 'a private key in clear'],
    [`S${'A'.repeat(55)}`, 'a Stellar secret seed in clear'],
    [JSON.stringify(pair), 'a Solana key pair in clear'],
    [`${JSON.stringify(pair, null, 2)}\n`, 'a Solana key pair in clear'],
    ['5'.repeat(88), 'a Solana key pair in clear'],
    [pem.toString(), 'a private key in PEM'],
    [mnemonic?.phrase ?? '', 'a phrase of words in clear'],
  ] as const) {
    t.equal(plaintextKeyKind(text), name);
  }
  t.end();
});

t.test('what is none is nothing', (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const scrypt = { N: 2, r: 1, p: 1 };
  const keystore = encryptKeystoreJsonSync({ address, privateKey }, 'a', { scrypt });
  for (const text of ['', '{}', '[]', '[1,2,3]', keystore, privateKey.slice(0, -1), 'hello world', '{"key":"a"}']) {
    t.equal(plaintextKeyKind(text), undefined, text);
  }
  t.end();
});
