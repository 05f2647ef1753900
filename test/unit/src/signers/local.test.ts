import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeAddress, encryptKeystoreJsonSync, hexlify, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { localSignerKind } from '../../../../src/signers/local.ts';
import { rawKeySignerKind } from '../../../../src/signers/raw-key.ts';
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

t.test('raw key', async (t) => {
  const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

  t.test('a key is one on both curves', async (t) => {
    const config = { key: { type: 'plain' as const, value: KEY } };
    const signer = await rawKeySignerKind.create('mine', config, signerTools('', { reread: async () => config }));
    t.teardown(() => signer.close());
    t.equal(computeAddress(hexlify(await signer.publicKey('secp256k1'))), '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
    t.equal((await signer.publicKey('ed25519')).length, 32);
  });

  t.test('what is no key is refused in the reference’s words', (t) => {
    const faultOf = (value: string, type = 'plain') =>
      rawKeySignerKind.configSchema.safeParse({ key: { type, value } }).error?.issues[0]?.message;
    t.equal(faultOf(KEY), undefined);
    t.equal(faultOf(KEY.toUpperCase()), undefined);
    t.equal(faultOf('NAME_OF_A_VARIABLE', 'env'), undefined);
    for (const [key, fault] of [
      [`0x${KEY}`, /^Invalid hex key format: .*64-character hex string \(32 bytes\)\.$/],
      [KEY.slice(1), /^Invalid hex key format/],
      ['zz'.repeat(32), /^Invalid hex key format/],
      [KEY.slice(2), /must be exactly 32 bytes, got 31 bytes$/],
      [`${KEY}00`, /got 33 bytes$/],
      ['00'.repeat(32), /cannot be all zeros$/],
    ] as const) {
      t.match(faultOf(key), fault);
      t.notMatch(faultOf(key), key);
    }
    t.end();
  });
});
