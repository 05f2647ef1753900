import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, encryptKeystoreJsonSync, hexlify, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { localSignerKind } from '../../../../src/signers/local.ts';
import { signerTools } from '../../../support/signer-tools.ts';

const PASSPHRASE = 'pässword with spaces';
const secrets = () => PASSPHRASE;
const passphrase = { type: 'env' as const, value: 'KEYSTORE_PASSPHRASE' };

/** Puts a keystore beside the given files. */
async function keystoreFile(t: Test, beside: Parameters<Test['testdir']>[0] = {}) {
  const { address, privateKey } = Wallet.createRandom();
  const folder = t.testdir(beside);
  const path = join(folder, 'key.json');
  const text = encryptKeystoreJsonSync({ address, privateKey }, PASSPHRASE, { scrypt: { N: 1024, r: 8, p: 1 } });
  await writeFile(path, text);
  return { path, address, file: (name: string) => join(folder, name) };
}

t.test('opens a keystore file', async (t) => {
  const { path, address } = await keystoreFile(t);
  const signer = await localSignerKind.create('demo', { path, passphrase }, signerTools(PASSPHRASE));
  t.teardown(() => signer.close());
  t.equal(signer.id, 'demo');
  t.equal(computeAddress(hexlify(await signer.publicKey('secp256k1'))), address);
});

t.test('every failure names the file and the cause, and no secret', async (t) => {
  const others = { 'broken.json': '{', 'raw.txt': `${'ab'.repeat(32)}\n`, 'huge.json': ' '.repeat(70_000), folder: {} };
  const { path, file } = await keystoreFile(t, others);
  const cases: [string, () => string, string][] = [
    [path, () => 'wrong passphrase', `the passphrase does not open keystore ${path} (MAC mismatch)`],
    [
      file('none.json'),
      secrets,
      `there is no keystore at ${file('none.json')}; make one with \`npm run isolayer -- keystore new ${file('none.json')}\``,
    ],
    [file('broken.json'), secrets, `keystore ${file('broken.json')} cannot be read: it is not JSON`],
    [
      file('raw.txt'),
      secrets,
      `${file('raw.txt')} is no keystore: it is a private key in clear; put the key under a passphrase with \`npm run isolayer -- keystore import <another file>\` and delete this one`,
    ],
    [file('huge.json'), secrets, `keystore ${file('huge.json')} cannot be read: it is longer than 65536 bytes`],
    [file('folder'), secrets, `keystore ${file('folder')} cannot be read (EISDIR)`],
  ];
  for (const [at, resolve, reason] of cases) {
    const failure = await localSignerKind
      .create('demo', { path: at, passphrase }, { ...signerTools(), secrets: resolve })
      .catch((error: unknown) => error);
    t.match(failure, { message: reason });
    t.notMatch(String(failure), /wrong passphrase|pässword/);
  }
});

t.test('the configuration is a path and a secret, nothing else', async (t) => {
  const { configSchema } = localSignerKind;
  t.ok(configSchema.safeParse({ path: 'keys/a.json', passphrase }).success);
  for (const bad of [
    { path: '', passphrase },
    { path: 'a' },
    { path: 'a', passphrase: 'plain' },
    { path: 'a', passphrase, x: 1 },
  ]) {
    t.notOk(configSchema.safeParse(bad).success, JSON.stringify(bad));
  }
});
