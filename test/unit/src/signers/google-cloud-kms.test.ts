import { generateKeyPairSync, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../../src/domain/json/json.ts';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';
import { crc32c, googleCloudKmsSignerKind } from '../../../../src/signers/google-cloud-kms.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { startGoogleKms } from '../../../support/signers/google-kms-double.ts';

async function scene(t: Test) {
  const double = await startGoogleKms('secp256k1');
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    await double.service.stop();
  });
  const clock = { ms: Date.now(), now: () => clock.ms, elapsed: () => clock.ms };
  const { service_account: account, key } = double.config as { service_account: JsonObject; key: JsonObject };
  const open = (change: { account?: object; key?: object } = {}) => {
    const config = {
      ...double.config,
      service_account: { ...account, ...change.account },
      key: { ...key, ...change.key },
    };
    const tools = signerTools('', { http, clock, secrets: ({ value }) => value });
    return googleCloudKmsSignerKind.create('one', googleCloudKmsSignerKind.configSchema.parse(config), tools);
  };
  return { ...double, clock, open };
}

const plain = (value: string) => ({ type: 'plain', value });

t.test('one assertion serves until shortly before its end', async (t) => {
  const { service, clock, open } = await scene(t);
  const signer = await open();
  const assertionsOf = () => new Set(service.asked.map(({ headers }) => headers.authorization)).size;
  await signer.sign('secp256k1', randomBytes(32));
  clock.ms += 3_539_000;
  // The double uses the machine's clock and rejects an assertion from the future, so it gets a fixed answer here.
  service.instead = () => ({ status: 404, json: {} });
  await t.rejects(signer.sign('secp256k1', randomBytes(32)));
  t.equal(assertionsOf(), 1);
  clock.ms += 1_000;
  await t.rejects(signer.sign('secp256k1', randomBytes(32)));
  t.equal(assertionsOf(), 2);
});

t.test('a public key that came over damaged makes no address, and is asked for again', async (t) => {
  const { faults, open, publicKey } = await scene(t);
  const signer = await open();
  faults.isPemSpoilt = true;
  await t.rejects(signer.publicKey('secp256k1'), { message: /does not have the checksum that came with it/ });
  faults.isPemSpoilt = false;
  t.strictSame(Buffer.from(await signer.publicKey('secp256k1')), Buffer.from(publicKey));
});

t.test('what the service says about a version is passed on', async (t) => {
  const { faults, open } = await scene(t);
  const other = await open({ key: { key_version: 3, location: 'a-b' } });
  await t.rejects(other.publicKey('secp256k1'), {
    message: /^Google Cloud KMS at 127\.0\.0\.1:\d+ answered 404: CryptoKeyVersion .*locations\/a-b.*\/3 not found\.$/,
  });
  const signer = await open();
  faults.refusal = {
    status: 400,
    code: 'FAILED_PRECONDITION',
    message: 'it is not enabled, current state is: DISABLED.',
  };
  await t.rejects(signer.sign('secp256k1', randomBytes(32)), { message: /answered 400: it is not enabled/ });
  const stranger = await open({ account: { private_key_id: plain('another') } });
  await t.rejects(stranger.publicKey('secp256k1'), { message: /answered 401: / });
});

t.test('a private key that is none is an error when it is opened, without the key', async (t) => {
  const { open } = await scene(t);
  const ed = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  for (const [key, said] of [
    ['not a key', 'service_account.private_key is not a private key in PEM'],
    [ed, 'service_account.private_key is not an RSA key'],
  ] as const) {
    await t.rejects(open({ account: { private_key: plain(key) } }), { message: said });
  }
});

t.test('the entry of the reference, with its defaults', (t) => {
  const secret = { type: 'env', value: 'X' };
  const account = {
    project_id: 'p',
    private_key_id: secret,
    private_key: secret,
    client_email: secret,
    client_id: '1',
    auth_uri: 'https://accounts.google.com/o/oauth2/auth',
    token_uri: 'https://oauth2.googleapis.com/token',
    auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
    client_x509_cert_url: 'https://www.googleapis.com/robot/v1/metadata/x509/a',
    universe_domain: 'googleapis.com',
  };
  const parse = (service_account: object, key: object) =>
    googleCloudKmsSignerKind.configSchema.safeParse({ service_account, key });
  const key = { key_ring_id: 'r', key_id: 'k' };
  t.match(parse(account, key), { success: true, data: { key: { location: 'global', key_version: 1 } } });
  t.ok(parse({ ...account, universe_domain: 'https://cloudkms.googleapis.com' }, key).success);
  t.notOk(parse({ ...account, universe_domain: 'googleapis.com.example.org' }, key).success);
  t.notOk(parse({ ...account, type: 'service_account' }, key).success);
  t.notOk(parse(account, { ...key, key_version: '1' }).success);
  t.end();
});

t.test('it is that of the standard', (t) => {
  // The check value from the CRC catalogue, and the examples of RFC 3720, appendix B.4.
  t.equal(crc32c(Buffer.from('123456789')), 0xe306_9283);
  t.equal(crc32c(new Uint8Array(32)), 0x8a91_36aa);
  t.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8_ab43);
  t.equal(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index)), 0x46dd_794e);
  t.end();
});
