import { randomBytes, verify } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { cdpSignerKind } from '../../../../../src/signers/cdp/server-account.ts';
import type { Curve } from '../../../../../src/signers/signer.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { startCdp } from '../../../../support/signers/cdp-double.ts';
import { newServiceKey } from '../../../../support/signers/service-key.ts';

const { configSchema } = cdpSignerKind;

async function scene(t: Test, curve: Curve, api?: 'p256') {
  const double = await startCdp(curve, api);
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const tools = signerTools('', { http, secrets: ({ value }) => value });
  const open = (change: object = {}) =>
    cdpSignerKind.create('one', configSchema.parse({ ...double.config, ...change }), tools);
  return { ...double, open };
}

t.test('the key of an EVM account is found out once, whatever the letters of its address', async (t) => {
  const { cdp, publicKey, open } = await scene(t, 'secp256k1', 'p256');
  const signer = await open();
  t.same(await signer.publicKey('secp256k1'), publicKey);
  for (const digest of [randomBytes(32), randomBytes(32)]) t.equal((await signer.sign('secp256k1', digest)).length, 65);
  t.equal(cdp.service.asked.length, 3);
  await t.rejects(signer.publicKey('ed25519'), {
    message: 'its account is on secp256k1, and is asked to sign on ed25519',
  });
  cdp.key = newServiceKey('secp256k1');
  await t.rejects((await open()).publicKey('secp256k1'), { message: /made by another key than that of 0x/ });
});

t.test('a Solana account signs transactions and texts, and no other bytes', async (t) => {
  const { cdp, publicKey, payload, open } = await scene(t, 'ed25519');
  const signer = await open();
  t.same(await signer.publicKey('ed25519'), publicKey);
  t.equal((await signer.sign('ed25519', payload?.(publicKey) ?? Buffer.alloc(0))).length, 64);
  await t.rejects(signer.sign('ed25519', Buffer.from('a text')), {
    message: /signs transactions of Solana and texts, and no other bytes/,
  });
  t.equal(cdp.service.asked.length, 1);
  const text = 'Isolayer logs in: "ä"\n';
  const signature = (await signer.signText?.(text)) ?? Buffer.alloc(0);
  t.ok(verify(null, Buffer.from(text), cdp.key.spki, signature));
  t.strictSame(cdp.service.asked.at(-1)?.json, { message: text });
  cdp.key = newServiceKey('ed25519');
  await t.rejects(async () => signer.signText?.(text), { message: /made by another key/ });
  t.equal((await (await scene(t, 'secp256k1')).open()).signText, undefined, 'an EVM account has a form of its own');
});

t.test('what the service says is passed on', async (t) => {
  const { cdp, open } = await scene(t, 'secp256k1');
  const stranger = await open({ api_key_id: 'another' });
  await t.rejects(stranger.publicKey('secp256k1'), {
    message: /^CDP at 127\.0\.0\.1:\d+ answered 401: The request is not properly authenticated: key$/,
  });
  cdp.isAllowed = false;
  await t.rejects((await open()).publicKey('secp256k1'), {
    message: /answered 403: The request was rejected by a policy\.$/,
  });
});

t.test('the entry of the reference, and no more', (t) => {
  const secret = { type: 'env', value: 'X' };
  const entry = { api_key_id: 'k', api_key_secret: secret, wallet_secret: secret };
  const isGood = (account_address: string) => configSchema.safeParse({ ...entry, account_address }).success;
  t.ok(isGood(`0x${'aB'.repeat(20)}`));
  t.ok(isGood('11111111111111111111111111111111'));
  for (const bad of ['', '0x', `0x${'ab'.repeat(19)}`, 'ab'.repeat(20), '1'.repeat(31)]) t.notOk(isGood(bad), bad);
  t.notOk(configSchema.safeParse({ ...entry, account_address: `0x${'ab'.repeat(20)}`, x: 1 }).success);
  t.end();
});
