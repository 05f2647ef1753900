import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptKeystoreJsonSync, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { KeyFault } from '../../../../src/signers/held-key.ts';
import { describeKeystore } from '../../../../src/signers/keystore.ts';
import { openKeystoreFile, readKeystoreFile } from '../../../../src/signers/keystore-file.ts';

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
  const others = { 'broken.json': '{', 'raw.txt': `${'ab'.repeat(32)}\n`, 'huge.json': ' '.repeat(70_000), folder: {} };
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
