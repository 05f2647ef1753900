import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createSecretResolver, type Variables } from '../../../../../src/config/secrets.ts';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { azureAccessFields, createAzureTokens, missingField } from '../../../../../src/signers/azure/entra-id.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { CLIENT, startAzure, TENANT } from '../../../../support/signers/azure-double.ts';

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
