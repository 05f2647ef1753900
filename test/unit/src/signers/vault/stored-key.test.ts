import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { vaultSignerKind } from '../../../../../src/signers/vault/stored-key.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { startStoredKey } from '../../../../support/signers/vault-double.ts';

async function scene(t: Test) {
  const double = await startStoredKey('secp256k1');
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const tools = signerTools('', { http, secrets: ({ value }) => value });
  const open = (change: object = {}) =>
    vaultSignerKind.create('one', vaultSignerKind.configSchema.parse({ ...double.config, ...change }), tools);
  return { ...double, open };
}

t.test('the key is read once, however it is written', async (t) => {
  const { vault, publicKey, open } = await scene(t);
  const value = String(vault.secrets.get('relayers/one')?.['value']);
  for (const written of [value, `0x${value}`, ` 0X${value.toUpperCase()}\n`]) {
    vault.secrets.set('relayers/one', { value: written });
    const signer = await open();
    t.same(await signer.publicKey('secp256k1'), publicKey);
    t.equal((await signer.publicKey('ed25519')).length, 32, 'one secret is a key on both curves');
    await signer.close();
    await t.rejects(signer.sign('secp256k1', Buffer.alloc(32)), { message: /it is closed/ });
  }
  t.equal(vault.service.asked.filter(({ method }) => method === 'GET').length, 3);
});

t.test('each thing that is no key is called by its name, and not shown', async (t) => {
  const { vault, open } = await scene(t);
  const signer = await open();
  for (const [data, said] of [
    [{ value: '' }, 'the secret at secret/data/relayers/one has no text in "value"'],
    [{ key: 'ab' }, 'the secret at secret/data/relayers/one has no text in "value"'],
    [{ value: 'zz'.repeat(32) }, '"value" at secret/data/relayers/one is not hexadecimal'],
    [{ value: 'ab'.repeat(31) }, '"value" at secret/data/relayers/one has 62 digits; a key has 64'],
    [null, 'Vault has no secret at secret/data/relayers/one'],
  ] as const) {
    vault.secrets.set('relayers/one', data);
    await t.rejects(signer.publicKey('secp256k1'), { message: said });
  }
  vault.secrets.delete('relayers/one');
  await t.rejects(signer.publicKey('secp256k1'), { message: 'Vault has no secret at secret/data/relayers/one' });
  await signer.close();
  const elsewhere = await open({ mount_point: 'kv' });
  await t.rejects(elsewhere.publicKey('secp256k1'), { message: 'Vault has no secret at kv/data/relayers/one' });
});

t.test('the entry of the reference, and no more', (t) => {
  const secret = { type: 'env', value: 'X' };
  const entry = { address: 'https://vault.example.org', role_id: secret, secret_id: secret, key_name: 'a' };
  t.ok(vaultSignerKind.configSchema.safeParse(entry).success);
  t.ok(vaultSignerKind.configSchema.safeParse({ ...entry, namespace: null, mount_point: null }).success);
  t.notOk(vaultSignerKind.configSchema.safeParse({ ...entry, pubkey: 'a' }).success);
  t.notOk(vaultSignerKind.configSchema.safeParse({ ...entry, address: 'vault' }).success);
  t.end();
});
