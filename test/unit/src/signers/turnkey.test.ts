import { createECDH, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';
import type { Curve } from '../../../../src/signers/signer.ts';
import { turnkeySignerKind } from '../../../../src/signers/turnkey.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { startTurnkey } from '../../../support/signers/turnkey-double.ts';

const { configSchema } = turnkeySignerKind;

async function scene(t: Test, curve: Curve = 'secp256k1') {
  const double = await startTurnkey(curve);
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const tools = signerTools('', { http, secrets: ({ value }) => value });
  const open = (change: object = {}) =>
    turnkeySignerKind.create('one', configSchema.parse({ ...double.config, ...change }), tools);
  return { ...double, open };
}

t.test('the configured public key may be compressed; a key on another curve says so', async (t) => {
  const { publicKey, open } = await scene(t);
  const compressed = Buffer.concat([Buffer.from([2 + ((publicKey[64] ?? 0) & 1)]), publicKey.subarray(1, 33)]);
  const signer = await open({ public_key: `0x${compressed.toString('hex')}` });
  t.same(await signer.publicKey('secp256k1'), publicKey);
  t.equal((await signer.sign('secp256k1', randomBytes(32))).length, 65);
  await t.rejects(signer.publicKey('ed25519'), { message: 'its key is on secp256k1, and is asked to sign on ed25519' });
  const wrong = await open({ public_key: '04'.repeat(65) });
  await t.rejects(wrong.publicKey('secp256k1'), { message: 'its public key is not a point of secp256k1' });
});

t.test('an activity that is under way is waited for', async (t) => {
  const { turnkey, open } = await scene(t, 'ed25519');
  turnkey.statuses = ['CREATED', 'PENDING', 'COMPLETED'];
  const signer = await open();
  t.equal((await signer.sign('ed25519', randomBytes(100))).length, 64);
  t.strictSame(
    turnkey.service.asked.map(({ url }) => url.pathname.split('/').at(-1)),
    ['sign_raw_payload', 'get_activity', 'get_activity'],
  );
});

t.test('one that will not be done says why', async (t) => {
  const { turnkey, open } = await scene(t);
  const signer = await open();
  for (const [status, said] of [
    ['CONSENSUS_NEEDED', 'Turnkey has not signed: its policies ask for the consent of others'],
    ['REJECTED', 'Turnkey has not signed: somebody has rejected it'],
    ['FAILED', 'Turnkey has not signed: it is failed: enclave'],
    ['AUTHENTICATORS_NEEDED', 'Turnkey has not signed: it is authenticators_needed'],
  ] as const) {
    turnkey.statuses = [status];
    await t.rejects(signer.sign('secp256k1', randomBytes(32)), { message: said });
  }
  turnkey.statuses = ['COMPLETED'];
  const done = { activity: { id: 'a', status: 'ACTIVITY_STATUS_COMPLETED', result: null } };
  turnkey.service.instead = () => ({ status: 200, json: done });
  await t.rejects(signer.sign('secp256k1', randomBytes(32)), { message: 'Turnkey gave no signature' });
});

t.test('what is asked again is one activity', async (t) => {
  const { turnkey, busy, open } = await scene(t);
  const signer = await open();
  let left = 2;
  turnkey.service.instead = () => ((left -= 1) >= 0 ? busy : undefined);
  await signer.sign('secp256k1', randomBytes(32));
  t.equal(new Set(turnkey.service.asked.map(({ bytes }) => bytes.toString())).size, 1);
  t.equal(turnkey.activities, 1);
});

t.test('an API key that is none, or two halves of two, is an error when it is opened', async (t) => {
  const { open } = await scene(t);
  const other = createECDH('prime256v1');
  other.generateKeys();
  for (const value of ['zz', '0'.repeat(64), 'f'.repeat(64)]) {
    await t.rejects(open({ api_private_key: { type: 'plain', value } }), { message: /^api_private_key is not/ });
  }
  await t.rejects(open({ api_public_key: other.getPublicKey('hex', 'compressed') }), {
    message: 'api_public_key is not that of api_private_key',
  });
});

t.test('an API key that begins with zeros is one', async (t) => {
  const { turnkey, open } = await scene(t);
  turnkey.apiKey.setPrivateKey('ab'.repeat(30).padStart(64, '0'), 'hex');
  const signer = await open({
    api_public_key: turnkey.apiKey.getPublicKey('hex', 'compressed'),
    api_private_key: { type: 'plain', value: turnkey.apiPrivateKey },
  });
  t.equal((await signer.sign('secp256k1', randomBytes(32))).length, 65);
});

t.test('the entry of the reference, and no more', (t) => {
  const entry = {
    api_public_key: '02'.repeat(33),
    api_private_key: { type: 'env', value: 'X' },
    organization_id: 'o',
    private_key_id: 'k',
    public_key: '04'.repeat(65),
  };
  t.ok(configSchema.safeParse(entry).success);
  for (const public_key of ['ab'.repeat(32), '02'.repeat(33)])
    t.ok(configSchema.safeParse({ ...entry, public_key }).success);
  for (const bad of [
    { ...entry, public_key: '04'.repeat(64) },
    { ...entry, api_public_key: '04'.repeat(65) },
    { ...entry, key: 'x' },
    { ...entry, organization_id: '' },
  ]) {
    t.notOk(configSchema.safeParse(bad).success);
  }
  t.end();
});
