import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptKeystoreJsonSync, Wallet } from 'ethers';
import t from 'tap';
import { holdKey } from '../../../../../src/signers/held-key.ts';
import { KeptKeys } from '../../../../../src/signers/keeper/kept-keys.ts';

const DIGEST = Buffer.alloc(32, 7);
const sign = (key: number) => ({ key, curve: 'secp256k1' as const, payload: DIGEST });

t.test('keeps keys by their numbers: from bytes, and from a keystore', async (t) => {
  const keys = new KeptKeys();
  const { address, privateKey } = Wallet.createRandom();
  const path = join(t.testdir(), 'key.json');
  await writeFile(path, encryptKeystoreJsonSync({ address, privateKey }, 'passphrase', { scrypt: { N: 2 } }));
  const passphrase = Uint8Array.from(Buffer.from('passphrase'));
  const twin = holdKey(Buffer.from(privateKey.slice(2), 'hex'));
  const mark = Buffer.from(twin.publicKey('ed25519')).toString('hex');

  t.same(await keys.open(1, { kind: 'keystore', path, passphrase }), { kind: 'opened', key: 1, mark });
  t.same(passphrase, new Uint8Array(10), 'the passphrase is wiped');
  t.match(await keys.open(2, { kind: 'key', bytes: randomBytes(32) }), { kind: 'opened', key: 2 });
  const [first, second, third, none] = keys.use([
    sign(1),
    { key: 1, curve: 'ed25519', payload: null },
    { key: 1, curve: 'ed25519', payload: DIGEST },
    sign(9),
  ]);
  t.same(first, { bytes: twin.sign('secp256k1', DIGEST) });
  t.same(second, { bytes: twin.publicKey('ed25519') });
  t.match(third, { bytes: twin.sign('ed25519', DIGEST) });
  t.same(none, { reason: 'it is closed' });
});

t.test('what cannot be opened or signed says why, and nothing of a key', async (t) => {
  const keys = new KeptKeys();
  const path = join(t.testdir(), 'none.json');
  t.match(await keys.open(1, { kind: 'keystore', path, passphrase: new Uint8Array(1) }), {
    kind: 'unopened',
    reason: /^there is no keystore at /,
  });
  await keys.open(2, { kind: 'key', bytes: Uint8Array.from(Buffer.alloc(32)) });
  t.match(keys.use([sign(2)]), [{ reason: /zero or not below the order/ }]);
  // A library's error about bytes that it rejects may contain those bytes.
  const canary = randomBytes(31);
  const odd = await keys.open(3, { kind: 'key', bytes: Uint8Array.from(canary) });
  t.match(odd, { kind: 'unopened', reason: /^an error where the keys are \(\w+\)$/ });
  t.notMatch(JSON.stringify(odd), canary.toString('hex'));
});

t.test('a key that is forgotten is wiped, also while it is being opened', async (t) => {
  const keys = new KeptKeys();
  const [first, second] = [Uint8Array.from(randomBytes(32)), Uint8Array.from(randomBytes(32))];
  await keys.open(1, { kind: 'key', bytes: first });
  keys.forget(1);
  keys.forget(1);
  t.same(first, new Uint8Array(32));
  const opening = keys.open(2, { kind: 'key', bytes: second });
  keys.forgetAll();
  await opening;
  t.same(second, new Uint8Array(32));
  t.same(keys.use([sign(1), sign(2)]), [{ reason: 'it is closed' }, { reason: 'it is closed' }]);
});
