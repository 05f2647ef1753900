import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { createRemoteSigner } from './remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, readTextAtPath, serviceUrlSchema } from './remote/service-client.ts';
import { publicKeyOfPoint } from './remote/signature.ts';
import { type Curve, type SignerKind, secretSchema } from './signer.ts';

const API = 'https://api.turnkey.com';
/** How long to wait before an unfinished activity is looked at again, in ms. The wait doubles each time. */
const FIRST_LOOK_MS = 50;
const LOOKS = 7;

const configSchema = z.strictObject({
  api_public_key: z
    .string()
    .regex(/^(?:0x)?0[23][0-9a-fA-F]{64}$/, 'not a compressed point of P-256 in hexadecimal')
    .describe('Public key of the API key, in hexadecimal'),
  api_private_key: secretSchema.describe('Private key of the API key'),
  organization_id: z.string().min(1).describe('Id of the organization that has the key'),
  private_key_id: z.string().min(1).describe('Id of the private key, or address of the wallet account, that signs'),
  public_key: z
    .string()
    .regex(/^(?:0x)?(?:[0-9a-fA-F]{64}|0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$/, 'not a public key in hexadecimal')
    .describe('Public key in hexadecimal: 33 or 65 bytes on secp256k1, 32 on Ed25519'),
  endpoint: serviceUrlSchema.optional().describe(`Base URL of the API. Default: ${API}`),
});

/** How a payload is hashed, by curve. A digest is signed as it is; a message is hashed by the curve itself. */
const HASH_FUNCTIONS: Record<Curve, string> = {
  secp256k1: 'HASH_FUNCTION_NO_OP',
  ed25519: 'HASH_FUNCTION_NOT_APPLICABLE',
};

const half = z.string().regex(/^(?:0x)?[0-9a-fA-F]{1,64}$/);
const activitySchema = z.object({
  activity: z.object({
    id: z.string(),
    status: z.string(),
    result: z.object({ signRawPayloadResult: z.object({ r: half, s: half }).optional() }).nullish(),
    failure: z.object({ message: z.string().optional() }).nullish(),
  }),
});
type Activity = z.output<typeof activitySchema>['activity'];

/** `turnkey`: a key in Turnkey's enclaves. An API key stamps the requests. */
export const turnkeySignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'turnkey',
  curves: ['secp256k1', 'ed25519'],
  curvesOf: ({ public_key }) => [curveOf(bytesOf(public_key))],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const client = createServiceClient('Turnkey', (body) => readTextAtPath(body, ['message']), tools);
    const stamped = stamper(config.api_public_key, tools.secrets(config.api_private_key));
    const base = (config.endpoint ?? API).replace(/\/+$/, '');
    const { organization_id: organizationId, private_key_id: signWith } = config;

    async function ask(path: string, question: object): Promise<Activity> {
      const body = JSON.stringify({ organizationId, ...question });
      const headers = { 'content-type': 'application/json', 'x-stamp': stamped(body) };
      const url = new URL(`${base}/public/v1/${path}`);
      return (await client.ask({ url, headers, body, answer: activitySchema })).activity;
    }

    async function done(activity: Activity, looks = 0): Promise<Activity> {
      const { id: activityId, status, failure } = activity;
      if (status === 'ACTIVITY_STATUS_COMPLETED') return activity;
      const isUnderWay = status === 'ACTIVITY_STATUS_PENDING' || status === 'ACTIVITY_STATUS_CREATED';
      if (!isUnderWay || looks === LOOKS)
        throw new Error(`Turnkey has not signed: ${meaningOf(status, failure?.message)}`);
      await pause(FIRST_LOOK_MS * 2 ** looks);
      return await done(await ask('query/get_activity', { activityId }), looks + 1);
    }

    return createRemoteSigner(id, async (curve) => ({
      publicKey: publicKeyOn(curve, config.public_key),
      async sign(payload) {
        const parameters = {
          signWith,
          payload: Buffer.from(payload).toString('hex'),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: HASH_FUNCTIONS[curve],
        };
        // Turnkey takes a request with the same time for the same activity. So a retry does not sign again.
        const timestampMs = String(tools.clock.now());
        const type = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2';
        const { result } = await done(await ask('submit/sign_raw_payload', { type, timestampMs, parameters }));
        const { r, s } = result?.signRawPayloadResult ?? {};
        if (r === undefined || s === undefined) throw new Error('Turnkey gave no signature');
        return Buffer.concat([r, s].map((part) => Buffer.from(part.replace(/^0x/, '').padStart(64, '0'), 'hex')));
      },
    }));
  },
};

function publicKeyOn(curve: Curve, text: string): Uint8Array {
  const key = bytesOf(text);
  const actual = curveOf(key);
  if (actual !== curve) throw new Error(`its key is on ${actual}, and is asked to sign on ${curve}`);
  return actual === 'ed25519' ? key : publicKeyOfPoint(key);
}

function bytesOf(publicKey: string): Buffer {
  return Buffer.from(publicKey.replace(/^0x/, ''), 'hex');
}

function curveOf(publicKey: Buffer): Curve {
  return publicKey.length === 32 ? 'ed25519' : 'secp256k1';
}

/** Signs the body of a request; https://docs.turnkey.com/developer-reference/api-overview/stamps */
function stamper(publicKey: string, privateKey: string): (body: string) => string {
  const key = readApiKey(publicKey.replace(/^0x/, '').toLowerCase(), privateKey);
  return (body) => {
    const signature = sign('sha256', Buffer.from(body), key).toString('hex');
    const stamp = { publicKey, signature, scheme: 'SIGNATURE_SCHEME_TK_API_P256' };
    return Buffer.from(JSON.stringify(stamp)).toString('base64url');
  };
}

function readApiKey(publicKey: string, privateKey: string): KeyObject {
  const pair = createECDH('prime256v1');
  const digits = privateKey.replace(/^0x/, '');
  try {
    if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new Error('not 32 bytes');
    pair.setPrivateKey(digits, 'hex');
  } catch {
    throw new Error('api_private_key is not a private key of P-256: 64 hexadecimal digits');
  }
  if (pair.getPublicKey('hex', 'compressed') !== publicKey) {
    throw new Error('api_public_key is not that of api_private_key');
  }
  const point = pair.getPublicKey();
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  // Uses the digits as given. OpenSSL leaves out leading zeros, but a JWK needs them.
  const d = Buffer.from(digits, 'hex').toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', d, x, y };
  return createPrivateKey({ key, format: 'jwk' });
}

function meaningOf(status: string, failure: string | undefined): string {
  if (status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return 'its policies ask for the consent of others';
  if (status === 'ACTIVITY_STATUS_REJECTED') return 'somebody has rejected it';
  const name = status.replace('ACTIVITY_STATUS_', '').toLowerCase();
  return failure === undefined ? `it is ${name}` : `it is ${name}: ${failure}`;
}
