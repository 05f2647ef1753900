import t, { type Test } from 'tap';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { SignerDirectory } from '../../../../../src/services/settings/signer-directory.ts';
import { createSignersService } from '../../../../../src/services/settings/signers.ts';
import { createSignerKinds } from '../../../../../src/signers/registry.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { FakeSigner } from '../../../../support/fake-signer.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { relayerOf, storeFor } from '../../../../support/store.ts';

const KEY = 'ab'.repeat(32);
const PLAIN = { id: 'mine', type: 'plain', config: { key: KEY } };
const SHOWN = { id: 'mine', type: 'local', config: {} };

async function stage(t: Test) {
  const store = await storeFor(t);
  const kinds = createSignerKinds();
  const signers = new SignerDirectory({
    declared: {
      ring: { signer: () => new FakeSigner() },
      entries: ['z', 'a'].map((id) => ({ id, type: 'local', config: { path: '/secret/place' } })),
    },
    ...{ read: store.read, kinds, tools: signerTools(), log: createLog('silent') },
  });
  t.teardown(() => signers.close());
  const guard = createAddressGuard({ allowedHosts: [], blockPrivate: true });
  const made = createSignersService({ store, signers, kinds, guard, newId: () => crypto.randomUUID() });
  const service = {
    ...made,
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
  const account = { project_id: 'p', private_key_id: 'k', private_key: 'pem', client_email: 'a@b.example' };
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
