import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { vaultTransitSignerKind } from '../../../../../src/signers/vault/transit.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { newServiceKey } from '../../../../support/signers/service-key.ts';
import { startTransitKey } from '../../../../support/signers/vault-double.ts';

async function scene(t: Test) {
  const double = await startTransitKey();
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const tools = signerTools('', { http, secrets: ({ value }) => value });
  const open = (change: object = {}) =>
    vaultTransitSignerKind.create(
      'one',
      vaultTransitSignerKind.configSchema.parse({ ...double.config, ...change }),
      tools,
    );
  return { ...double, open };
}

t.test('the version with the configured public key signs, also after the key was rotated', async (t) => {
  const { vault, open } = await scene(t);
  const signer = await open();
  t.equal((await signer.sign('ed25519', Buffer.from('one'))).length, 64);
  vault.versions.push(newServiceKey('ed25519'));
  t.equal((await signer.sign('ed25519', Buffer.from('two'))).length, 64);
  const later = await open();
  t.equal((await later.sign('ed25519', Buffer.from('three'))).length, 64);
  const second = await open({ pubkey: vault.versions[1]?.publicKey.toString('base64') });
  t.equal((await second.sign('ed25519', Buffer.from('four'))).length, 64);
  const asked = vault.service.asked.filter(({ url }) => url.pathname.endsWith('/sign/relayer/solana'));
  t.strictSame(
    asked.map(({ json }) => json?.['key_version']),
    [1, 1, 1, 2],
  );
});

t.test('a role that may only sign signs with the newest version, and is proven wrong after a rotation', async (t) => {
  const { vault, open } = await scene(t);
  vault.allowed = /^transit\/sign\//;
  const signer = await open();
  t.equal((await signer.sign('ed25519', Buffer.from('one'))).length, 64);
  vault.versions.push(newServiceKey('ed25519'));
  await t.rejects(signer.sign('ed25519', Buffer.from('two')), { message: /another key/ });
});

t.test('a public key that no version has, a key of another type and none at all are told apart', async (t) => {
  const { vault, open } = await scene(t);
  const wrong = await open({ pubkey: randomBytes(32).toString('base64') });
  await t.rejects(wrong.publicKey('ed25519'), {
    message: 'no version of the key at transit/keys/relayer/solana has the configured pubkey',
  });
  const missing = await open({ mount_point: 'other' });
  await t.rejects(missing.publicKey('ed25519'), { message: 'Vault has no key at other/keys/relayer/solana' });
  const signer = await open();
  vault.service.instead = ({ method }) =>
    method === 'GET' ? { status: 200, json: { data: { type: 'ecdsa-p256', keys: {} } } } : undefined;
  await t.rejects(signer.publicKey('ed25519'), {
    message: 'the key at transit/keys/relayer/solana is of type ecdsa-p256, not ed25519',
  });
});

t.test('the configured public key is 32 bytes in base64', (t) => {
  const secret = { type: 'env', value: 'X' };
  const entry = { address: 'https://vault.example.org', role_id: secret, secret_id: secret, key_name: 'a' };
  const isGood = (pubkey: unknown) => vaultTransitSignerKind.configSchema.safeParse({ ...entry, pubkey }).success;
  t.ok(isGood(randomBytes(32).toString('base64')));
  for (const bad of [undefined, '', 'abc', randomBytes(31).toString('base64'), randomBytes(33).toString('base64')]) {
    t.notOk(isGood(bad), String(bad));
  }
  t.end();
});
