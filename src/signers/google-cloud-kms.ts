import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type AccessTokens, createAccessTokens, signedJwt } from './remote/access-token.ts';
import { createRemoteSigner } from './remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, readTextAtPath, serviceUrlSchema } from './remote/service-client.ts';
import { publicKeyOfSpki, signatureOfDer } from './remote/signature.ts';
import { readVariable, type SignerKind, type SignerTools, secretSchema } from './signer.ts';

const HOST = 'cloudkms.googleapis.com';
/** The longest life of an assertion that Google accepts. */
const ASSERTION_SECONDS = 3_600;

/** The metadata service of a machine or pod; the variable is that of Google's own clients. */
const METADATA_HOST = '169.254.169.254';
const METADATA_VARIABLE = 'GCE_METADATA_HOST';

/** A step in the path of a key. */
const name = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/, 'not an id: letters, digits, - and _, at most 63');
const projectId = z
  .string()
  .regex(/^(?:[a-z0-9.-]{1,100}:)?[a-z0-9][a-z0-9-]{0,62}$/, 'not the id of a project, for instance my-project');
const unused = z.string().optional().describe('Field of the downloaded key file; has no effect');

const serviceAccountSchema = z.strictObject({
  project_id: projectId.describe('Id of the project that has the key'),
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

const configSchema = z
  .strictObject({
    auth_type: z
      .enum(['service_account', 'workload_identity'])
      .optional()
      .describe('How to log in: by the key of a service account (default), or by the identity of the machine or pod'),
    service_account: serviceAccountSchema
      .optional()
      .describe('Service account that may use the key; required unless auth_type is workload_identity'),
    key: z
      .strictObject({
        project_id: projectId
          .optional()
          .describe('Id of the project that has the key. Default: that of service_account'),
        location: name.default('global').describe('Location of the key ring'),
        key_ring_id: name.describe('Id of the key ring'),
        key_id: name.describe('Id of the key'),
        key_version: z.int().min(1).default(1).describe('Version of the key; each version is another key'),
      })
      .describe('Key that signs'),
    endpoint: serviceUrlSchema.optional().describe(`URL of a private endpoint. Default: https://${HOST}`),
  })
  .check(({ value: input, issues }) => {
    const { auth_type: type, service_account: account, key } = input;
    const needs = (path: string[], message: string) => issues.push({ code: 'custom', path, message, input });
    if (type !== 'workload_identity' && account === undefined) {
      needs(['service_account'], 'needed, or auth_type workload_identity');
    }
    if (type === 'workload_identity' && account !== undefined) {
      needs(['service_account'], 'without meaning beside auth_type workload_identity: leave one of them out');
    }
    if (account === undefined && key.project_id === undefined) {
      needs(['key', 'project_id'], 'needed where there is no service_account');
    }
  });

type Config = z.output<typeof configSchema>;

/** The checksum is a 64-bit integer, which Google's JSON writes as a text. */
const publicKeySchema = z.object({ pem: z.string(), pemCrc32c: z.string().optional() });
const signedSchema = z.object({ signature: z.base64() });
const tokenSchema = z.object({ access_token: z.string().min(1), expires_in: z.number().min(0) });

/** `google_cloud_kms`: a version of a key of Google's Cloud Key Management Service, over its REST interface. */
export const googleCloudKmsSignerKind: SignerKind<Config> = {
  type: 'google_cloud_kms',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  ofFilesOnly: ['endpoint'],
  variables: [METADATA_VARIABLE],
  serverIdentity: ({ auth_type: type }) =>
    type === 'workload_identity' ? `with auth_type ${type} it logs in by the identity` : undefined,
  async create(id, config, tools) {
    const client = createServiceClient('Google Cloud KMS', (body) => readTextAtPath(body, ['error', 'message']), tools);
    const { service_account: account } = config;
    const tokens = account === undefined ? machineTokens(tools) : assertions(account, tools);
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

function versionPath({ service_account: account, key }: Config): string {
  const { project_id, location, key_ring_id, key_id, key_version } = key;
  return Object.entries({
    projects: project_id ?? account?.project_id ?? '',
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
function assertions(account: z.output<typeof serviceAccountSchema>, { secrets, clock }: SignerTools): AccessTokens {
  const key = readPrivateKey(secrets(account.private_key));
  const kid = secrets(account.private_key_id);
  const email = secrets(account.client_email);
  return createAccessTokens(async () => {
    const iat = Math.floor(clock.now() / 1_000);
    const claims = { iss: email, sub: email, aud: `https://${HOST}/`, iat, exp: iat + ASSERTION_SECONDS };
    return { text: signedJwt('RS256', key, { kid }, claims), lifeMs: ASSERTION_SECONDS * 1_000 };
  }, clock);
}

/**
 * Asks the metadata service for tokens: of a GKE pod with workload identity, and of the service account of a machine or
 * of Cloud Run. https://cloud.google.com/compute/docs/metadata/querying-metadata
 */
function machineTokens(tools: SignerTools): AccessTokens {
  const client = createServiceClient(
    'The metadata service of Google',
    (body) => readTextAtPath(body, ['error_description'], ['error']),
    { ...tools, http: tools.identity },
  );
  const host = readVariable(tools.secrets, METADATA_VARIABLE) ?? METADATA_HOST;
  const url = URL.parse(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token`);
  if (url === null) throw new Error(`${METADATA_VARIABLE} is not a host`);
  return createAccessTokens(async () => {
    const token = await client.ask({ url, headers: { 'metadata-flavor': 'Google' }, answer: tokenSchema });
    return { text: token.access_token, lifeMs: token.expires_in * 1_000 };
  }, tools.clock);
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

/**
 * CRC-32C of Castagnoli (RFC 3720, appendix B.4), which Node does not have. Computed bit by bit, because the inputs are
 * short.
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  }
  return ~crc >>> 0;
}
