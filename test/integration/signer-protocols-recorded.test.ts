/**
 * The doubles of CDP and Turnkey accept recorded requests of the official clients. The project's signers send the same
 * requests.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { cdpAuthorization } from '../../src/signers/cdp.ts';
import type { Curve } from '../../src/signers/signer.ts';
import { CdpDouble } from '../support/signers/cdp-double.ts';
import { recorded } from '../support/signers/recorded-clients.ts';
import type { ServiceDouble } from '../support/signers/service-double.ts';
import { serviceSigner } from '../support/signers/service-signer.ts';
import { startTurnkey, TurnkeyDouble } from '../support/signers/turnkey-double.ts';

t.test('CDP: tokens of the official client are taken, for their request alone', async (t) => {
  const [hash, typed] = recorded.cdp.asked;
  const { at } = recorded.cdp;
  t.equal(await cdp().ask(hash), 200);
  // The body of this request tests the canonical order of fields. The double accepts its token, but does not know the
  // request, so it answers 404.
  t.equal(await cdp().ask(typed), 404);
  t.equal(await cdp().ask({ ...hash, body: typed.body }), 401);
  t.equal(await cdp().ask({ ...hash, url: typed.url }), 401);
  t.equal(await cdp(at + 121_000).ask(hash), 401);
  t.equal(await cdp(at, 'another').ask(hash), 401);
  const { ask } = cdp();
  t.strictSame([await ask(hash), await ask(hash)], [200, 401]);
});

t.test('CDP: our tokens have the headers and the claims of theirs, and jose reads them', async (t) => {
  const { asked, at, ...credentials } = recorded.cdp;
  const [{ url, headers, body }] = asked;
  const { apiKey, wallet } = cdp().double;
  const ours = cdpAuthorization(credentials, { now: () => at })(new URL(url), body);
  for (const [name, { publicKey }] of [
    ['authorization', apiKey],
    ['x-wallet-auth', wallet],
  ] as const) {
    const [our = '', their = ''] = [ours[name], headers[name]].map((text) => text?.replace('Bearer ', ''));
    const { payload, protectedHeader } = await jwtVerify(our, publicKey, { currentDate: new Date(at) });
    t.strictSame(fixed(protectedHeader), fixed(decodeProtectedHeader(their)));
    t.strictSame(fixed(payload), fixed(decodeJwt(their)));
  }
});

t.test('Turnkey: activities of the official client are taken, and none that was changed', async (t) => {
  const [digest, message, look] = recorded.turnkey.asked;
  t.equal(await turnkey('secp256k1')(digest), 200);
  t.equal(await turnkey('ed25519')(message), 200);
  // The double accepts the request, but has no such activity.
  t.equal(await turnkey('secp256k1')(look), 404);
  t.equal(await turnkey('secp256k1')({ ...digest, body: `${digest.body} ` }), 401);
  t.equal(await turnkey('secp256k1')({ ...digest, headers: message.headers }), 401);
});

t.test('Turnkey: our activities and stamps have the form of theirs', async (t) => {
  for (const [curve, { url, headers, body }] of [
    ['secp256k1', recorded.turnkey.asked[0]],
    ['ed25519', recorded.turnkey.asked[1]],
  ] as const) {
    const double = await startTurnkey(curve);
    t.teardown(() => double.service.stop());
    await (await serviceSigner(t, double)).sign(curve, Buffer.alloc(32, 0xab));
    const [ours] = double.service.asked;
    const { parameters, ...theirs } = JSON.parse(body);
    const { organizationId, privateKeyId: signWith } = double.turnkey;
    const timestampMs = ours?.json?.['timestampMs'];
    t.match(timestampMs, /^\d{13}$/);
    t.strictSame(ours?.json, { ...theirs, organizationId, timestampMs, parameters: { ...parameters, signWith } });
    t.equal(ours?.url.pathname, new URL(url).pathname);
    const [our, their] = [ours?.headers['x-stamp'], headers['x-stamp']].map((text) =>
      JSON.parse(Buffer.from(String(text), 'base64url').toString()),
    );
    const { publicKey, signature } = our;
    t.strictSame(our, { ...their, publicKey, signature });
  }
});

type Question = { url: string; headers: Record<string, string>; body: string };

function asker(service: ServiceDouble): (question: Question) => Promise<number> {
  return async ({ url, ...given }) =>
    (await service.inMemory().post(new URL(url), { ...given, timeoutMs: 1_000, maxBytes: 65_536 })).status;
}

/** A CDP double with the keys of the recording, at its time. */
function cdp(at: number = recorded.cdp.at, apiKeyId: string = recorded.cdp.apiKeyId) {
  const { apiKeySecret, walletSecret, asked } = recorded.cdp;
  const bytes = Buffer.from(apiKeySecret, 'base64');
  const [d, x] = [bytes.toString('base64url', 0, 32), bytes.toString('base64url', 32)];
  const wallet = createPrivateKey({ key: Buffer.from(walletSecret, 'base64'), format: 'der', type: 'pkcs8' });
  const double = Object.assign(new CdpDouble('secp256k1'), {
    apiKeyId,
    apiKey: pairOf(createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })),
    wallet: pairOf(wallet),
    address: asked[0].url.split('/').at(-2) ?? '',
    now: () => at,
  });
  return { double, ask: asker(double.service) };
}

/** A Turnkey double with the API key of the recording, at its time. */
function turnkey(curve: Curve) {
  const { apiPrivateKey, organizationId, privateKeyId, at } = recorded.turnkey;
  const double = Object.assign(new TurnkeyDouble(curve), { organizationId, privateKeyId, now: () => at });
  double.apiKey.setPrivateKey(apiPrivateKey, 'hex');
  return asker(double.service);
}

function pairOf(privateKey: KeyObject): { privateKey: KeyObject; publicKey: KeyObject } {
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** The fields that are equal in all such tokens. For the others, only whether they are present. */
function fixed(part: object): object {
  const own = ['iat', 'nbf', 'exp', 'jti', 'nonce'];
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, own.includes(name) ? typeof value : value]),
  );
}
