import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import { crc32c } from '../../../src/signers/google-cloud-kms.ts';
import type { Curve } from '../../../src/signers/signer.ts';
import { readJwt } from './jwt.ts';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { derOf, newServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';

const KEY = 'projects/project-1/locations/europe-west3/keyRings/ring-1/cryptoKeys/key-1/cryptoKeyVersions/2';
const AUDIENCE = 'https://cloudkms.googleapis.com/';
const SCOPES = /(^| )https:\/\/www\.googleapis\.com\/auth\/(cloud-platform|cloudkms)( |$)/;
const ALGORITHMS = { secp256k1: 'EC_SIGN_SECP256K1_SHA256', ed25519: 'EC_SIGN_ED25519' };
/** One account for all tests, because making a key takes a while. */
const account = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The refusal of a request. */
interface Refusal {
  status: number;
  code: string;
  message: string;
}

interface Faults {
  refusal?: Refusal;
  /** Damages the public key in answers, so that its checksum does not fit. */
  isPemSpoilt?: boolean;
}

/**
 * One version of a key of Cloud KMS over REST, for a service account that signs its assertions itself.
 * https://cloud.google.com/kms/docs/reference/rest
 */
export async function startGoogleKms(curve: Curve): Promise<SignerDouble & { faults: Faults }> {
  const email = `canary-${randomBytes(6).toString('hex')}@project-1.iam.gserviceaccount.com`;
  const keyId = `canary-${randomBytes(20).toString('hex')}`;
  const pem = account.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const assertions = new Set<string>();
  const tokens = new Set<string>();
  const faults: Faults = {};
  const original = newServiceKey(curve);
  let key = original;

  function isLetIn({ headers }: Asked): boolean {
    const assertion = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    assertions.add(assertion);
    if (tokens.has(assertion)) return true;
    try {
      const { header, claims } = readJwt(assertion, 'RS256', account.publicKey, 3_600);
      const { iss, sub, aud, scope } = claims;
      // A token is either for the service, or for what its scopes allow.
      const isFor = aud === undefined ? SCOPES.test(String(scope)) : aud === AUDIENCE && scope === undefined;
      return header['kid'] === keyId && iss === email && sub === email && isFor;
    } catch {
      return false;
    }
  }

  /** https://cloud.google.com/compute/docs/metadata/querying-metadata */
  function metadata({ method, headers }: Asked): Answered {
    if (headers['metadata-flavor'] !== 'Google' || method !== 'GET') {
      return { status: 403, json: 'Missing Metadata-Flavor:Google header.' };
    }
    const token = `ya29.canary-${randomBytes(24).toString('base64url')}`;
    tokens.add(token);
    const json = { access_token: token, expires_in: 3_599, token_type: 'Bearer' };
    return { status: 200, json, headers: { 'metadata-flavor': 'Google' } };
  }

  function answer(asked: Asked): Answered {
    if (asked.url.pathname === '/computeMetadata/v1/instance/service-accounts/default/token') return metadata(asked);
    if (!isLetIn(asked)) return said(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    if (faults.refusal !== undefined) return said(faults.refusal.status, faults.refusal.code, faults.refusal.message);
    const [, path, action] = /^\/v1\/([^:]+?)(\/publicKey|:asymmetricSign)$/.exec(asked.url.pathname) ?? [];
    if (path !== KEY) return said(404, 'NOT_FOUND', `CryptoKeyVersion ${path} not found.`);
    if (action === '/publicKey' && asked.method === 'GET') {
      const text = key.spki.export({ format: 'pem', type: 'spki' });
      const pemCrc32c = String(crc32c(Buffer.from(text)) + (faults.isPemSpoilt === true ? 1 : 0));
      return {
        status: 200,
        json: { pem: text, pemCrc32c, algorithm: ALGORITHMS[curve], name: KEY, protectionLevel: 'HSM' },
      };
    }
    const isJson = asked.method === 'POST' && asked.headers['content-type'] === 'application/json';
    const message = isJson ? messageIn(asked.json ?? {}, curve) : undefined;
    if (message === undefined) return said(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.');
    const signature = curve === 'secp256k1' ? derOf(key.sign(message)) : key.sign(message);
    return { status: 200, json: { signature: signature.toString('base64'), name: KEY, protectionLevel: 'HSM' } };
  }

  const service = await new ServiceDouble(answer).start();
  return {
    type: 'google_cloud_kms',
    curve,
    service,
    key: original,
    publicKey: original.publicKey,
    faults,
    config: googleConfig({ email, keyId, pem, endpoint: service.url }),
    busy: said(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric'),
    secrets: () => [pem, ...pem.split('\n').filter((line) => line.length === 64), keyId, email, ...assertions],
    mixUp: () => {
      key = newServiceKey(curve);
    },
    revoke: () => {
      faults.refusal = { status: 403, code: 'PERMISSION_DENIED', message: `Permission denied on resource '${KEY}'` };
    },
    restore: () => {
      delete faults.refusal;
    },
  };
}

function messageIn(body: Record<string, unknown>, curve: Curve): Buffer | undefined {
  const { digest, data, ...others } = body;
  if (Object.keys(others).length > 0) return undefined;
  const text = curve === 'secp256k1' ? (digest as { sha256?: unknown } | undefined)?.sha256 : data;
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  return bytes.length === 0 || (curve === 'secp256k1' && bytes.length !== 32) ? undefined : bytes;
}

function googleConfig({ email, keyId, pem, endpoint }: Record<string, string>): JsonObject {
  const plain = (value = '') => ({ type: 'plain', value });
  return {
    service_account: {
      project_id: 'project-1',
      private_key_id: plain(keyId),
      private_key: plain(pem?.replaceAll('\n', '\\n')),
      client_email: plain(email),
      client_id: '100',
    },
    key: { location: 'europe-west3', key_ring_id: 'ring-1', key_id: 'key-1', key_version: 2 },
    endpoint: endpoint ?? '',
  };
}

function said(code: number, status: string, message: string): Answered {
  return { status: code, json: { error: { code, message, status } } };
}
