import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type AccessTokens, createAccessTokens } from './remote/access-token.ts';
import { crc32c } from './remote/crc32c.ts';
import { signedJwt } from './remote/jwt.ts';
import { publicKeyOfSpki } from './remote/public-key.ts';
import { createRemoteSigner } from './remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, serviceUrlSchema, textAt } from './remote/service-client.ts';
import { signatureOfDer } from './remote/signature.ts';
import { secretSchema } from './secret.ts';
import type { SignerKind, SignerTools } from './signer.ts';

const HOST = 'cloudkms.googleapis.com';
/** The longest life of an assertion that Google accepts. */
const ASSERTION_SECONDS = 3_600;

const name = z.string().min(1);
const unused = z.string().optional().describe('Field of the downloaded key file; has no effect');

const serviceAccountSchema = z.strictObject({
  project_id: name.describe('Id of the project that has the key'),
  private_key_id: secretSchema.describe('Id of the private key, from the downloaded key file'),
  private_key: secretSchema.describe('Private key in PEM, from the downloaded key file; line breaks can be \\n'),
  client_email: secretSchema.describe('Email of the service account, from the downloaded key file'),
  client_id: unused,
  auth_uri: unused,
  token_uri: unused,
  auth_provider_x509_cert_url: unused,
  client_x509_cert_url: unused,
  universe_domain: z
    .string()
    .regex(/^(?:https?:\/\/)?(?:cloudkms\.)?googleapis\.com\/?$/, 'only googleapis.com is known')
    .optional()
    .describe('Field of the downloaded key file; only googleapis.com is supported'),
});

const configSchema = z.strictObject({
  service_account: serviceAccountSchema.describe('Service account that may use the key'),
  key: z
    .strictObject({
      location: name.default('global').describe('Location of the key ring'),
      key_ring_id: name.describe('Id of the key ring'),
      key_id: name.describe('Id of the key'),
      key_version: z.int().min(1).default(1).describe('Version of the key; each version is another key'),
    })
    .describe('Key that signs'),
  endpoint: serviceUrlSchema.optional().describe(`URL of a private endpoint. Default: https://${HOST}`),
});

type Config = z.output<typeof configSchema>;

/** The checksum is a 64-bit integer, which Google's JSON writes as a text. */
const publicKeySchema = z.object({ pem: z.string(), pemCrc32c: z.string().optional() });
const signedSchema = z.object({ signature: z.base64() });

/** `google_cloud_kms`: a version of a key of Google's Cloud Key Management Service, over its REST interface. */
export const googleCloudKmsSignerKind: SignerKind<Config> = {
  type: 'google_cloud_kms',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  ofFilesOnly: ['endpoint'],
  async create(id, config, tools) {
    const client = createServiceClient('Google Cloud KMS', (body) => textAt(body, ['error', 'message']), tools);
    const tokens = assertions(config.service_account, tools);
    const base = `${(config.endpoint ?? `https://${HOST}`).replace(/\/+$/, '')}/v1/${versionPath(config)}`;
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

    return createRemoteSigner(id, async (curve) => {
      const { pem, pemCrc32c } = await tokens.use((token) =>
        client.ask({ url: new URL(`${base}/publicKey`), headers: bearer(token), answer: publicKeySchema }),
      );
      // Checks the public key, because an address is derived from it before any signature proves it. Signatures need no
      // checksum: the key itself proves them.
      if (pemCrc32c !== undefined && pemCrc32c !== String(crc32c(Buffer.from(pem)))) {
        throw new Error('its public key does not have the checksum that came with it');
      }
      return {
        publicKey: publicKeyOfSpki(curve, pem),
        async sign(payload) {
          const text = Buffer.from(payload).toString('base64');
          // The service signs the digest as given. It takes any digest for one of SHA-256, which changes nothing.
          const body = JSON.stringify(curve === 'secp256k1' ? { digest: { sha256: text } } : { data: text });
          const { signature } = await tokens.use((token) => {
            const headers = { ...bearer(token), 'content-type': 'application/json' };
            return client.ask({ url: new URL(`${base}:asymmetricSign`), headers, body, answer: signedSchema });
          });
          const bytes = Buffer.from(signature, 'base64');
          return curve === 'secp256k1' ? signatureOfDer(bytes) : bytes;
        },
      };
    });
  },
};

function versionPath({ service_account: { project_id }, key }: Config): string {
  const { location, key_ring_id, key_id, key_version } = key;
  return Object.entries({
    projects: project_id,
    locations: location,
    keyRings: key_ring_id,
    cryptoKeys: key_id,
    cryptoKeyVersions: String(key_version),
  })
    .map(([kind, value]) => `${kind}/${encodeURIComponent(value)}`)
    .join('/');
}

/**
 * Makes tokens that the account itself has signed for the service. The service accepts them without a token of Google's
 * authorization server. https://google.aip.dev/auth/4111
 */
function assertions(account: Config['service_account'], { secrets, clock }: SignerTools): AccessTokens {
  const key = readPrivateKey(secrets(account.private_key));
  const kid = secrets(account.private_key_id);
  const email = secrets(account.client_email);
  return createAccessTokens(async () => {
    const iat = Math.floor(clock.now() / 1_000);
    const claims = { iss: email, sub: email, aud: `https://${HOST}/`, iat, exp: iat + ASSERTION_SECONDS };
    return { text: signedJwt('RS256', key, { kid }, claims), lifeMs: ASSERTION_SECONDS * 1_000 };
  }, clock);
}

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    // Variables often hold line breaks as \n, like the downloaded file.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw new Error('service_account.private_key is not a private key in PEM');
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error('service_account.private_key is not an RSA key');
  return key;
}
