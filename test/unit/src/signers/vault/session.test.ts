import t, { type Test } from 'tap';
import { z } from 'zod';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { createVaultSession, vaultFields, vaultPath } from '../../../../../src/signers/vault/session.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { startTransitKey } from '../../../../support/signers/vault-double.ts';

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
