import { createECDH, createPublicKey, randomUUID, verify } from 'node:crypto';
import type { Curve } from '../../../src/signers/signer.ts';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { newServiceKey, type ServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';

/** The age up to which requests are valid: an hour. */
const WITHIN_MS = 3_600_000;

/** The organization of one API key and one private key. https://docs.turnkey.com/api-reference */
export class TurnkeyDouble {
  readonly service = new ServiceDouble((asked) => this.#answer(asked));
  organizationId: string = randomUUID();
  privateKeyId: string = randomUUID();
  /** The clock for the age of activities, in milliseconds. */
  now = Date.now;
  readonly apiKey = createECDH('prime256v1');
  readonly curve: Curve;
  key: ServiceKey;
  isAllowed = true;
  /** The statuses of new activities, in order. The last one applies to all further activities. */
  statuses: string[] = ['COMPLETED'];
  readonly #activities = new Map<string, { id: string; payload: Buffer; looks: number }>();

  constructor(curve: Curve) {
    this.curve = curve;
    this.key = newServiceKey(curve);
    this.apiKey.generateKeys();
  }

  /** The key as the service shows it: 32 bytes in hexadecimal, with leading zeros. */
  get apiPrivateKey(): string {
    return this.apiKey.getPrivateKey('hex').padStart(64, '0');
  }

  get activities(): number {
    return this.#activities.size;
  }

  #answer(asked: Asked): Answered {
    const { method, url, headers, json = {} } = asked;
    if (method !== 'POST' || headers['content-type'] !== 'application/json') return said(404, 5, 'Not Found');
    if (!this.#isStamped(asked)) return said(401, 16, 'Turnkey error 16: no valid authentication signature found');
    if (json['organizationId'] !== this.organizationId) return said(404, 5, 'organization not found');
    if (url.pathname === '/public/v1/query/get_activity') return this.#looked(json);
    if (url.pathname !== '/public/v1/submit/sign_raw_payload') return said(404, 5, 'Not Found');
    if (!this.isAllowed) return said(403, 7, 'Turnkey error 7: you are not authorized to perform this activity');
    return this.#submitted(asked);
  }

  #isStamped({ headers, bytes }: Asked): boolean {
    const stamp = JSON.parse(Buffer.from(String(headers['x-stamp'] ?? 'e30'), 'base64url').toString('utf8')) as {
      publicKey?: string;
      public_key?: string;
      signature?: string;
      scheme?: string;
    };
    const known = this.apiKey.getPublicKey('hex', 'compressed');
    if ((stamp.publicKey ?? stamp.public_key) !== known || stamp.scheme !== 'SIGNATURE_SCHEME_TK_API_P256')
      return false;
    const point = this.apiKey.getPublicKey();
    const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    return verify('sha256', bytes, key, Buffer.from(stamp.signature ?? '', 'hex'));
  }

  #submitted({ bytes, json = {} }: Asked): Answered {
    const { type, timestampMs, parameters } = json;
    const { signWith, payload, encoding, hashFunction } = (parameters ?? {}) as Record<string, unknown>;
    const isTimely = typeof timestampMs === 'string' && Math.abs(this.now() - Number(timestampMs)) < WITHIN_MS;
    const isHex =
      encoding === 'PAYLOAD_ENCODING_HEXADECIMAL' && typeof payload === 'string' && /^([0-9a-f]{2})+$/.test(payload);
    if (type !== 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' || !isTimely || !isHex) return said(400, 3, 'invalid request');
    if (signWith !== this.privateKeyId) return said(404, 5, `could not find private key ${String(signWith)}`);
    const wanted = this.curve === 'ed25519' ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_NO_OP';
    const isWhole = this.curve === 'ed25519' || payload.length === 64;
    if (hashFunction !== wanted || !isWhole) return said(400, 3, 'invalid hash function for the curve of the key');
    // An equal body means the same activity.
    const fingerprint = bytes.toString('utf8');
    const known = this.#activities.get(fingerprint);
    const activity = known ?? { id: randomUUID(), payload: Buffer.from(payload, 'hex'), looks: 0 };
    this.#activities.set(fingerprint, activity);
    return this.#shown(activity);
  }

  #looked({ activityId }: Record<string, unknown>): Answered {
    const activity = [...this.#activities.values()].find(({ id }) => id === activityId);
    return activity === undefined ? said(404, 5, 'activity not found') : this.#shown(activity);
  }

  #shown(activity: { id: string; payload: Buffer; looks: number }): Answered {
    const status = this.statuses[Math.min(activity.looks, this.statuses.length - 1)] ?? '';
    activity.looks += 1;
    const common = { id: activity.id, organizationId: this.organizationId, status: `ACTIVITY_STATUS_${status}` };
    if (status === 'FAILED')
      return { status: 200, json: { activity: { ...common, result: {}, failure: { code: 13, message: 'enclave' } } } };
    if (status !== 'COMPLETED') return { status: 200, json: { activity: { ...common, result: {} } } };
    const signature = this.key.sign(activity.payload);
    const [r, s] = [signature.toString('hex', 0, 32), signature.toString('hex', 32)];
    return { status: 200, json: { activity: { ...common, result: { signRawPayloadResult: { r, s, v: '00' } } } } };
  }
}

/** A `turnkey` signer's key. */
export async function startTurnkey(curve: Curve): Promise<SignerDouble & { turnkey: TurnkeyDouble }> {
  const turnkey = new TurnkeyDouble(curve);
  await turnkey.service.start();
  const { key, apiKey, service } = turnkey;
  return {
    type: 'turnkey',
    curve,
    turnkey,
    service,
    key,
    publicKey: key.publicKey,
    config: {
      api_public_key: apiKey.getPublicKey('hex', 'compressed'),
      api_private_key: { type: 'plain', value: turnkey.apiPrivateKey },
      organization_id: turnkey.organizationId,
      private_key_id: turnkey.privateKeyId,
      public_key: key.publicKey.toString('hex'),
      endpoint: service.url,
    },
    busy: said(429, 8, 'too many requests'),
    secrets: () => [turnkey.apiPrivateKey],
    mixUp: () => {
      turnkey.key = newServiceKey(curve);
    },
    revoke: () => {
      turnkey.isAllowed = false;
    },
    restore: () => {
      turnkey.isAllowed = true;
    },
  };
}

function said(status: number, code: number, message: string): Answered {
  return { status, json: { code, message, details: [] } };
}
