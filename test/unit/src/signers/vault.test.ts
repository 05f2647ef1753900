import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';
import {
  createVaultSession,
  vaultFields,
  vaultPath,
  vaultSignerKind,
  vaultTransitSignerKind,
} from '../../../../src/signers/vault.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { newServiceKey } from '../../../support/signers/service-key.ts';
import { startStoredKey, startTransitKey } from '../../../support/signers/vault-double.ts';

t.test('transit', async (t) => {
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
});

t.test('stored key', async (t) => {
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
});

t.test('session', async (t) => {
  const configSchema = z.object(vaultFields);
  const anything = z.object({ data: z.unknown() });

  async function scene(t: Test) {
    const { vault, config } = await startTransitKey();
    const http = createSignerHttp();
    t.teardown(async () => {
      await http.close();
      await vault.service.stop();
    });
    const clock = { ms: 0, now: () => 0, elapsed: () => clock.ms };
    const tools = signerTools('', { http, clock, secrets: ({ value }) => value });
    const open = (change: object = {}) => createVaultSession(configSchema.parse({ ...config, ...change }), tools);
    const session = open();
    return { vault, clock, open, ask: () => session.ask('transit/keys/relayer/solana', anything) };
  }

  t.test('it logs in once, in its namespace, and prolongs its token before the lease ends', async (t) => {
    const { vault, clock, ask } = await scene(t);
    await Promise.all([ask(), ask()]);
    clock.ms = 3_539_999;
    await ask();
    t.strictSame([...vault.tokens.values()], [0]);
    clock.ms = 3_540_000;
    await ask();
    t.strictSame([vault.logins, [...vault.tokens.values()]], [1, [1]]);
    const paths = vault.service.asked.map(({ url }) => url.pathname);
    t.equal(paths[0], '/v1/auth/approle/login');
    t.ok(paths.includes('/v1/auth/token/renew-self'));
  });

  t.test('it logs in again where the token cannot be prolonged, has ended or was revoked', async (t) => {
    const { vault, clock, ask } = await scene(t);
    vault.lease = { seconds: 100, renewable: false };
    await ask();
    clock.ms = 80_000;
    await ask();
    t.equal(vault.logins, 2);
    vault.tokens.clear();
    await ask();
    t.equal(vault.logins, 3);
    vault.lease = { seconds: 0, renewable: false };
    vault.tokens.clear();
    await ask();
    clock.ms = 1e12;
    await ask();
    t.equal(vault.logins, 4, 'a lease of 0 has no end');
  });

  t.test('wrong credentials, a sealed server and the root of an address are told apart', async (t) => {
    const { vault, open, ask } = await scene(t);
    const bad = open({ secret_id: { type: 'plain', value: 'not-the-one' } });
    await t.rejects(bad.ask('transit/keys/relayer/solana', anything), {
      message: /^Vault at 127\.0\.0\.1:\d+ answered 400: invalid role or secret ID/,
    });
    vault.isSealed = true;
    await t.rejects(ask(), { message: /answered 503: Vault is sealed/ });
    vault.isSealed = false;
    const slashed = open({ address: `${vault.service.url}//` });
    t.ok(await slashed.ask('transit/keys/relayer/solana', anything));
  });

  t.test(
    'a standby that is behind is waited for, and one that cannot forward is named with where it points',
    async (t) => {
      const { vault, ask } = await scene(t);
      let left = 3;
      vault.service.instead = ({ url }) => {
        if (url.pathname === '/v1/auth/approle/login' || left === 0) return undefined;
        left -= 1;
        return { status: 412, json: { errors: ['required index state not present'] } };
      };
      t.ok(await ask());
      left = 2;
      const headers = { location: 'https://active.vault.example:8200/v1/transit/keys/relayer/solana?canary=1' };
      vault.service.instead = () => {
        left -= 1;
        return left < 0 ? undefined : { status: 307, json: '', headers };
      };
      t.ok(await ask());
      vault.service.asked.length = 0;
      vault.service.instead = () => ({ status: 307, json: '', headers });
      await t.rejects(ask(), {
        message:
          /^Vault at 127\.0\.0\.1:\d+ answered 307 \(a redirect to https:\/\/active\.vault\.example:8200: redirects are not followed/,
      });
      t.equal(vault.service.asked.length, 6);
      vault.service.asked.length = 0;
      vault.service.instead = () => ({ status: 412, json: { errors: ['required index state not present'] } });
      await t.rejects(ask(), { message: /answered 412: required index state not present/ });
      t.equal(vault.service.asked.length, 6, 'not for ever');
    },
  );

  t.test('paths keep their slashes, and lead nowhere else', (t) => {
    t.equal(vaultPath('/team a/key?x/'), 'team%20a/key%3Fx');
    const { key_name, mount_point } = vaultFields;
    for (const good of ['a', 'a/b', '/a/b/', 'a.b/..c']) t.ok(key_name.safeParse(good).success, good);
    for (const bad of ['', '/', '..', 'a/../b', './a', 'a//b']) t.notOk(key_name.safeParse(bad).success, bad);
    t.ok(mount_point.safeParse(null).success);
    t.end();
  });
});
