import { generateKeyPairSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { SignerDirectory } from '../../../../../src/features/signers/signer-directory.ts';
import { signerResource } from '../../../../../src/features/signers/signers.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { createSecretResolver } from '../../../../../src/settings/secrets.ts';
import { createSignerKinds } from '../../../../../src/signers/registry.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { FakeSigner } from '../../../../support/fake-signer.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { relayerOf, storeFor } from '../../../../support/store.ts';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ format: 'pem', type: 'pkcs8' })
  .toString();
const KEY = 'ab'.repeat(32);
const PLAIN = { id: 'mine', type: 'plain', config: { key: KEY } };
const SHOWN = { id: 'mine', type: 'local', config: {} };

async function stage(t: Test, usesServerIdentity = false) {
  const store = await storeFor(t);
  const kinds = createSignerKinds();
  const signers = new SignerDirectory({
    declared: {
      ring: { signer: () => new FakeSigner() },
      entries: ['z', 'a'].map((id) => ({ id, type: 'local', config: { path: '/secret/place' } })),
    },
    ...{
      read: store.read,
      kinds,
      tools: signerTools('', { secrets: createSecretResolver({}) }),
      log: createLog('silent'),
    },
  });
  t.teardown(() => signers.close());
  const made = signerResource.open({
    store,
    signers,
    signerKinds: kinds,
    signerGuard: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
    signersUseServerIdentity: usesServerIdentity,
    newId: () => crypto.randomUUID(),
  });
  const service = {
    ...made,
    update: (id: string) => made.update(id, {}, OPERATOR),
    create: (body: unknown, by = OPERATOR) => made.create(body, by),
    remove: (id: string, by = OPERATOR) => made.remove(id, by),
  };
  const audit = async () => (await store.read.auditRecords({ before: null, limit: 9 }, { resource: 'signer' })).items;
  return { store, signers, service, audit };
}

t.test('what is made is shown without its secret, and signs', async (t) => {
  const { service, signers, store, audit } = await stage(t);
  t.strictSame(await service.create(PLAIN), SHOWN);
  t.strictSame(await service.get('mine'), SHOWN);
  t.equal((await signers.signer('mine')).id, 'mine');
  t.match(await service.create({ type: 'plain', config: { key: KEY } }), { id: /^[0-9a-f-]{36}$/, type: 'local' });
  const records = await audit();
  t.match(records.at(-1), { action: 'create', resourceId: 'mine', before: null, after: SHOWN, secrets: ['config'] });
  t.notMatch(JSON.stringify([records, await store.read.storedSigner('mine')]), KEY);
});

t.test('those of clients come first, then those of the configuration, by id', async (t) => {
  const { service } = await stage(t);
  t.strictSame(await service.get('a'), { id: 'a', type: 'local', config: {} });
  for (const id of ['one', 'two', 'three']) await service.create({ ...PLAIN, id });
  const seen: unknown[] = [];
  for (const page of [1, 2, 3, 4]) {
    const { items, total } = await service.list({ page, perPage: 2 });
    t.equal(total, 5);
    seen.push(...items.map(({ id }) => id));
  }
  t.strictSame(new Set(seen.slice(0, 3)), new Set(['one', 'two', 'three']));
  t.strictSame(seen.slice(3), ['a', 'z']);
  t.strictSame((await service.list({ page: 1, perPage: 0 })).items, []);
});

t.test('an id is taken once, also by one of the configuration', async (t) => {
  const { service } = await stage(t);
  await service.create(PLAIN);
  for (const id of ['mine', 'a']) {
    await t.rejects(service.create({ ...PLAIN, id }), { code: 'SIGNER_EXISTS', status: 409 }, id);
  }
});

t.test('nothing of a signer can be changed', async (t) => {
  const { service } = await stage(t);
  await service.create(PLAIN);
  for (const id of ['mine', 'a']) {
    await t.rejects(service.update(id), { code: 'INVALID_REQUEST', message: /^Signer updates are not allowed for / });
  }
  await t.rejects(service.update('nobody'), { code: 'SIGNER_NOT_FOUND' });
});

t.test('no address of a private place is taken, however deep in the configuration it lies', async (t) => {
  const { service } = await stage(t);
  const account = { project_id: 'p', private_key_id: 'k', private_key: RSA, client_email: 'a@b.example' };
  const made = (more: object) =>
    service.create({
      type: 'google_cloud_kms',
      config: { service_account: { ...account, ...more }, key: { key_ring_id: 'r', key_id: 'k' } },
    });
  for (const token_uri of ['http://169.254.169.254/token', 'https://10.1.2.3/', 'HTTP://[::1]/']) {
    const message = /^config\.service_account\.token_uri: /;
    await t.rejects(made({ token_uri }), { code: 'INVALID_REQUEST', message }, token_uri);
  }
  t.match(await made({ token_uri: 'https://oauth2.googleapis.com/token' }), { type: 'google_cloud_kms' });
});

const KMS = { region: 'eu-central-1', key_id: 'alias/treasury' };
const AZURE = { vault_url: 'https://my-vault.vault.azure.net', key_name: 'relayer' };
const GOOGLE = { auth_type: 'workload_identity', key: { project_id: 'p-1', key_ring_id: 'r', key_id: 'k' } };

// Threat: who may only make signers and relayers signs with every key that the server's role at a cloud may use.
t.test('the identity of the server is for signers of its configuration', async (t) => {
  const { service, store } = await stage(t);
  const borrowing = [
    ['aws_kms', KMS, /without access_key_id and secret_access_key it signs with the credentials of this server/],
    ['azure_key_vault', { ...AZURE, auth_type: 'managed_identity' }, /auth_type managed_identity .* of this server/],
    [
      'azure_key_vault',
      { ...AZURE, auth_type: 'workload_identity', tenant_id: 't', client_id: 'c' },
      /auth_type workload_identity .* of this server/,
    ],
    ['google_cloud_kms', GOOGLE, /auth_type workload_identity .* of this server/],
  ] as const;
  for (const [type, config, message] of borrowing) {
    await t.rejects(service.create({ type, config }), { code: 'INVALID_REQUEST', message }, type);
    await t.rejects(service.create({ type, config }), { message: /API_SIGNERS_USE_SERVER_IDENTITY=true/ }, type);
  }
  t.strictSame(await store.read.allSigners(), []);

  const credentials = {
    access_key_id: 'AKIACANARY',
    secret_access_key: 'canary-secret',
    session_token: 'canary-token',
  };
  const made = await service.create({ id: 'own', type: 'aws_kms', config: { ...KMS, ...credentials } });
  t.strictSame(made, { id: 'own', type: 'aws_kms', config: KMS });
  t.notMatch(JSON.stringify([await store.read.storedSigner('own'), await service.get('own')]), /canary/i);
  for (const missing of ['access_key_id', 'secret_access_key']) {
    const rest = Object.fromEntries(Object.entries(credentials).filter(([name]) => name !== missing));
    const config = { ...KMS, ...rest };
    await t.rejects(service.create({ type: 'aws_kms', config }), {
      message: new RegExp(`config\\.${missing}: needed`),
    });
  }

  const allowed = (await stage(t, true)).service;
  for (const [type, config] of borrowing.slice(0, 2)) t.match(await allowed.create({ type, config }), { type });
  t.match(await allowed.create({ type: 'google_cloud_kms', config: GOOGLE }), { config: GOOGLE });
});

t.test('fields that no key service could read are refused at once', async (t) => {
  const { service } = await stage(t, true);
  const account = { project_id: 'p-1', private_key_id: 'k', private_key: RSA, client_email: 'a@b.example' };
  const key = { key_ring_id: 'r', key_id: 'k' };
  const aws = (more: object) => ({ type: 'aws_kms', config: { ...KMS, ...more } });
  const google = (more: object, itsKey: object = key) => ({
    type: 'google_cloud_kms',
    config: { service_account: { ...account, ...more }, key: itsKey },
  });
  const cases: [object, RegExp][] = [
    [aws({ region: '127.0.0.1:9/#' }), /config\.region: not a region of AWS/],
    [aws({ region: '../..' }), /config\.region: not a region of AWS/],
    [aws({ region: 'eu-central-1\r\nx' }), /config\.region: not a region of AWS/],
    [aws({ key_id: 'alias/a b' }), /config\.key_id: not the id or the ARN/],
    [google({ project_id: '../../x' }), /config\.service_account\.project_id: not the id of a project/],
    [google({}, { ...key, location: 'a/b' }), /config\.key\.location: not an id/],
    [google({}, { ...key, key_ring_id: '..' }), /config\.key\.key_ring_id: not an id/],
    [google({ private_key: 'pem' }), /config: service_account\.private_key is not a private key in PEM/],
    [{ type: 'google_cloud_kms', config: { key } }, /config\.service_account: needed, or auth_type workload_identity/],
    [
      { type: 'google_cloud_kms', config: { auth_type: 'workload_identity', key } },
      /config\.key\.project_id: needed where there is no service_account/,
    ],
    [
      {
        type: 'turnkey',
        config: {
          api_public_key: `02${'ab'.repeat(32)}`,
          api_private_key: 'xyz',
          organization_id: 'o',
          private_key_id: 'p',
          public_key: 'ab'.repeat(32),
        },
      },
      /config: /,
    ],
  ];
  for (const [body, message] of cases) {
    await t.rejects(service.create(body), { code: 'INVALID_REQUEST', message }, message.source);
  }
  for (const region of ['us-gov-west-1', 'eusc-de-east-1', 'ap-southeast-7']) await service.create(aws({ region }));
  await service.create(google({ project_id: 'example.com:my-project' }));
});

t.test('what relayers sign with stays, and so does what the configuration has', async (t) => {
  const { service, store, signers, audit } = await stage(t);
  await service.create(PLAIN);
  await store.write((writer) => writer.putRelayer(relayerOf({ signerId: 'mine' })));
  await t.rejects(service.remove('mine'), {
    code: 'SIGNER_IN_USE',
    status: 409,
    publicMessage: 'Signer is in use',
    message: /because it is being used by 1 relayer\(s\): relayer-1\. /,
  });
  await store.write((writer) => writer.deleteRelayer('relayer-1'));
  await service.remove('mine');
  await t.rejects(service.get('mine'), { code: 'SIGNER_NOT_FOUND' });
  await t.rejects(signers.signer('mine'), { code: 'SIGNER_NOT_FOUND' });
  t.match((await audit())[0], { action: 'delete', before: SHOWN, after: null });
  await t.rejects(service.remove('mine'), { code: 'SIGNER_NOT_FOUND' });
  await t.rejects(service.remove('a'), { code: 'INVALID_REQUEST', message: /is declared in the configuration/ });
});

t.test('under one name each change happens once', async (t) => {
  const { service, store } = await stage(t);
  const effect = await keyedEffect(store);
  const once = (occurrence: number) => operatorOnce({ ...effect, occurrence });
  for (let round = 0; round < 2; round += 1) t.strictSame(await service.create(PLAIN, once(0)), SHOWN);
  await service.remove('mine', once(1));
  await service.remove('mine', once(1));
});
