import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, encryptKeystoreJsonSync, hexlify, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { localSignerKind } from '../../../../src/signers/local.ts';
import { signerTools } from '../../../support/signer-tools.ts';

const PASSPHRASE = 'pässword with spaces';
const passphrase = { type: 'env' as const, value: 'KEYSTORE_PASSPHRASE' };

async function keystoreFile(t: Test) {
  const { address, privateKey } = Wallet.createRandom();
  const path = join(t.testdir(), 'key.json');
  const text = encryptKeystoreJsonSync({ address, privateKey }, PASSPHRASE, { scrypt: { N: 1024, r: 8, p: 1 } });
  await writeFile(path, text);
  return { path, address };
}

t.test('opens a keystore file', async (t) => {
  const { path, address } = await keystoreFile(t);
  const signer = await localSignerKind.create('demo', { path, passphrase }, signerTools(PASSPHRASE));
  t.teardown(() => signer.close());
  t.equal(signer.id, 'demo');
  t.equal(computeAddress(hexlify(await signer.publicKey('secp256k1'))), address);
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
