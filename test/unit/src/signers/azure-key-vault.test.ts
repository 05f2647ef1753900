import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';
import { createSecretResolver, type Variables } from '../../../../src/settings/secrets.ts';
import {
  azureAccessFields,
  azureKeyVaultSignerKind,
  createAzureTokens,
  missingField,
} from '../../../../src/signers/azure-key-vault.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { CLIENT, startAzure, TENANT } from '../../../support/signers/azure-double.ts';

t.test('key vault', async (t) => {
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
});

t.test('entra id', async (t) => {
  const plain = (value: string) => ({ type: 'plain', value });
  const schema = z.object(azureAccessFields);

  async function scene(t: Test) {
    const { azure, service } = await startAzure();
    const http = createSignerHttp();
    t.teardown(async () => {
      await http.close();
      await service.stop();
    });
    const clock = { ms: 0, now: () => clock.ms, elapsed: () => clock.ms };
    const open = (config: object, variables: Variables = {}) => {
      const tools = signerTools('', { http, identity: http, clock, secrets: createSecretResolver(variables) });
      const tokens = createAzureTokens(
        schema.parse(config),
        { resource: 'https://vault.azure.net', authority: service.url },
        tools,
      );
      return () => tokens.use(async (token) => token);
    };
    return { azure, clock, open };
  }

  t.test('by the secret of an application', async (t) => {
    const { azure, clock, open } = await scene(t);
    const config = {
      tenant_id: plain(TENANT),
      client_id: plain(CLIENT),
      client_secret: { type: 'plain', value: azure.clientSecret },
    };
    const token = open(config);
    t.equal(await token(), azure.issued[0]);
    clock.ms = 3_500_000;
    t.equal(await token(), azure.issued[0]);
    clock.ms = 3_540_000;
    t.equal(await token(), azure.issued[1]);
    const wrong = open({ ...config, client_secret: { type: 'plain', value: 'wrong-secret' } });
    await t.rejects(wrong(), {
      message:
        /^The token service of Azure at 127\.0\.0\.1:\d+ answered 401: AADSTS7000215: Invalid client secret provided\./,
    });
    t.throws(() => open({ ...config, tenant_id: plain('http://127.0.0.1/x') }), { message: /^tenant_id is not/ });
  });

  t.test('by the token of the cluster, which is read anew each time', async (t) => {
    const { azure, clock, open } = await scene(t);
    const folder = t.testdir({ token: `${azure.federatedToken}\n` });
    const config = { auth_type: 'workload_identity', tenant_id: plain(TENANT), client_id: plain(CLIENT) };
    t.equal(await open({ ...config, federated_token_file: plain(join(folder, 'token')) })(), azure.issued[0]);
    const token = open(config, { AZURE_FEDERATED_TOKEN_FILE: join(folder, 'token') });
    t.equal(await token(), azure.issued[1]);
    t.throws(() => open(config), {
      message: 'workload_identity needs federated_token_file, or AZURE_FEDERATED_TOKEN_FILE',
    });
    await t.rejects(open({ ...config, federated_token_file: join(folder, 'none') })(), {
      message: 'the federated token file cannot be read (ENOENT)',
    });
    t.testdir({ token: 'replaced' });
    clock.ms = 4_000_000;
    await t.rejects(token(), { message: /answered 401/ });
  });

  t.test('by the machine that it runs on', async (t) => {
    const { azure, clock, open } = await scene(t);
    azure.lifeSeconds = '86400';
    const variables = { AZURE_IMDS_TOKEN_URL: `${azure.service.url}/metadata/identity/oauth2/token` };
    const token = open({ auth_type: 'managed_identity' }, variables);
    t.equal(await token(), azure.issued[0]);
    clock.ms = 86_000_000;
    t.equal(await token(), azure.issued[0]);
    t.equal(await open({ auth_type: 'managed_identity', client_id: plain(CLIENT) }, variables)(), azure.issued[1]);
    await t.rejects(open({ auth_type: 'managed_identity', client_id: plain('x') }, variables)(), {
      message: /Identity not found/,
    });
    azure.lifeSeconds = undefined;
    const unknown = open({ auth_type: 'managed_identity' }, variables);
    t.equal(await unknown(), azure.issued[2]);
    clock.ms += 240_000;
    t.equal(await unknown(), azure.issued[3], 'a token without a life is taken for one of 300 s');
  });

  t.test('by App Service, Functions or Container Apps', async (t) => {
    const { azure, clock, open } = await scene(t);
    azure.now = () => clock.ms;
    const variables = { IDENTITY_ENDPOINT: `${azure.service.url}/msi/token`, IDENTITY_HEADER: azure.identityHeader };
    const config = { auth_type: 'managed_identity' };
    const token = open(config, variables);
    t.equal(await token(), azure.issued[0]);
    clock.ms = 86_000_000;
    t.equal(await token(), azure.issued[0], 'its life comes as the moment of its end');
    clock.ms = 86_340_000;
    t.equal(await token(), azure.issued[1]);
    t.equal(await open({ ...config, client_id: plain(CLIENT) }, variables)(), azure.issued[2]);
    await t.rejects(open({ ...config, client_id: plain('x') }, variables)(), { message: /No User Assigned/ });
    const wrong = { ...variables, IDENTITY_HEADER: 'another' };
    await t.rejects(open(config, wrong)(), { message: /answered 401: X-IDENTITY-HEADER does not match\. / });
    // Azure Arc has an endpoint and no header. The metadata service is asked there.
    const arc = {
      IDENTITY_ENDPOINT: variables.IDENTITY_ENDPOINT,
      AZURE_IMDS_TOKEN_URL: `${azure.service.url}/metadata/identity/oauth2/token`,
    };
    t.equal(await open(config, arc)(), azure.issued[3]);
  });

  t.test('what each way needs', (t) => {
    const all = { tenant_id: plain('t'), client_id: plain('c'), client_secret: plain('s') };
    t.equal(missingField(schema.parse(all)), undefined);
    t.equal(missingField(schema.parse({ ...all, client_id: undefined })), 'client_id');
    t.equal(missingField(schema.parse({ auth_type: 'managed_identity' })), undefined);
    t.equal(missingField(schema.parse({ auth_type: 'workload_identity' })), 'tenant_id');
    t.end();
  });
});
