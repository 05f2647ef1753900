import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { azureKeyVaultSignerKind } from '../../../../../src/signers/azure/key-vault.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { startAzure, TENANT } from '../../../../support/signers/azure-double.ts';

const plain = (value: string) => ({ type: 'plain', value });
const { configSchema } = azureKeyVaultSignerKind;

async function scene(t: Test) {
  const double = await startAzure();
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const tools = signerTools('', { http, secrets: ({ value }) => value });
  const open = (change: object = {}) =>
    azureKeyVaultSignerKind.create('one', configSchema.parse({ ...double.config, ...change }), tools);
  return { ...double, open };
}

t.test('the version that was the newest at first signs on when there is a newer one', async (t) => {
  const { azure, publicKey, addVersion, open } = await scene(t);
  const signer = await open();
  t.same(await signer.publicKey('secp256k1'), publicKey);
  addVersion();
  await signer.sign('secp256k1', randomBytes(32));
  const [first, second] = [...azure.versions.keys()];
  t.match(azure.service.asked.at(-1)?.url.pathname, `/keys/relayer/${first}/sign`);
  const later = await open();
  t.notSame(await later.publicKey('secp256k1'), publicKey);
  const named = await open({ key_version: first });
  t.same(await named.publicKey('secp256k1'), publicKey);
  t.not(first, second);
});

t.test('another version than the one that was asked for is not taken', async (t) => {
  const { azure, open } = await scene(t);
  const [first = ''] = [...azure.versions.keys()];
  azure.saysVersion = 'ffff';
  const signer = await open({ key_version: first });
  const refused = { message: `version ${first} was asked for, and ffff came back` };
  await t.rejects(signer.publicKey('secp256k1'), refused);
  azure.saysVersion = first.toUpperCase();
  await t.resolves((await open({ key_version: first })).publicKey('secp256k1'), 'however it is written');
});

t.test('a key that is not there, and one of another type', async (t) => {
  const { azure, open } = await scene(t);
  const missing = await open({ key_name: 'other' });
  await t.rejects(missing.publicKey('secp256k1'), {
    message: /^Azure Key Vault at 127\.0\.0\.1:\d+ answered 404: A key with \(name\/id\) other\//,
  });
  azure.curveName = 'P-256';
  await t.rejects((await open()).publicKey('secp256k1'), { message: 'its key is of type EC P-256' });
});

t.test('a token that was revoked is replaced', async (t) => {
  const { azure, open } = await scene(t);
  const signer = await open();
  await signer.sign('secp256k1', randomBytes(32));
  azure.tokens.clear();
  t.equal((await signer.sign('secp256k1', randomBytes(32))).length, 65);
  t.equal(azure.issued.length, 2);
});

t.test('each cloud has tokens of its own, asked for where they are', async (t) => {
  const asked: string[] = [];
  const http = {
    get: () => Promise.reject(new Error('no token, no question')),
    post: (url: URL, { body }: { body: string }) => {
      asked.push(`${url.origin} ${new URLSearchParams(body).get('scope')}`);
      return Promise.reject(new Error('nobody there'));
    },
  };
  const tools = signerTools('secret', { http });
  for (const vault of [
    'a.vault.azure.net',
    'a.managedhsm.azure.net',
    'a.vault.usgovcloudapi.net',
    'a.vault.azure.cn',
  ]) {
    const account = { tenant_id: plain(TENANT), client_id: plain('c'), client_secret: plain('s') };
    const config = configSchema.parse({ ...account, vault_url: `https://${vault}/`, key_name: 'k' });
    const signer = await azureKeyVaultSignerKind.create('one', config, tools);
    await t.rejects(signer.publicKey('secp256k1'), { message: 'nobody there' });
  }
  t.strictSame(asked, [
    'https://login.microsoftonline.com https://vault.azure.net/.default',
    'https://login.microsoftonline.com https://managedhsm.azure.net/.default',
    'https://login.microsoftonline.us https://vault.usgovcloudapi.net/.default',
    'https://login.partner.microsoftonline.cn https://vault.azure.cn/.default',
  ]);
});

t.test('no token goes to a host that is not of Azure, unless the operator says who gives it out', (t) => {
  const config = { auth_type: 'managed_identity', key_name: 'k' };
  const isGood = (vault_url: string, more: object = {}) =>
    configSchema.safeParse({ ...config, vault_url, ...more }).success;
  for (const url of ['https://a.vault.azure.net', 'https://a.vault.azure.net/']) t.ok(isGood(url), url);
  for (const url of [
    'http://a.vault.azure.net',
    'https://vault.azure.net.example.org',
    'https://example.org/.vault.azure.net',
    'https://a.vault.azure.net@example.org',
    'https://evilvault.azure.net.',
    'https://vault.azure.net',
  ]) {
    t.notOk(isGood(url), url);
    t.ok(isGood(url, { authority_host: 'https://login.example.org' }), url);
  }
  t.end();
});

t.test('the entry of the reference; what a way of access needs is asked for', (t) => {
  const secret = { type: 'env', value: 'X' };
  const vault = { vault_url: 'https://a.vault.azure.net', key_name: 'k' };
  const whole = { ...vault, tenant_id: secret, client_id: secret, client_secret: secret, key_version: '1' };
  t.match(configSchema.safeParse(whole), { success: true, data: { auth_type: 'client_secret' } });
  t.ok(configSchema.safeParse({ ...vault, auth_type: 'managed_identity' }).success);
  t.ok(configSchema.safeParse({ ...whole, auth_type: 'workload_identity', federated_token_file: 'f' }).success);
  const { client_secret: _, ...without } = whole;
  t.match(configSchema.safeParse(without).error?.issues, [
    { path: ['client_secret'], message: 'client_secret needs it' },
  ]);
  t.match(configSchema.safeParse({ ...vault, auth_type: 'workload_identity' }).error?.issues, [
    { path: ['tenant_id'], message: 'workload_identity needs it' },
  ]);
  for (const bad of [
    { ...whole, key_name: 'a/b' },
    { ...whole, key_version: '../x' },
    { ...whole, auth_type: 'cli' },
  ]) {
    t.notOk(configSchema.safeParse(bad).success);
  }
  t.end();
});
