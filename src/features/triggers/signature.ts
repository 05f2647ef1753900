import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How far the time of a signed webhook may be off, in milliseconds: later, nobody can deliver it again. */
const TOLERANCE_MS = 300_000;
const MAX_DELIVERY_ID = 200;

/** A webhook as it arrived. */
export interface IncomingWebhook {
  body: Uint8Array;
  /** The value of a header; undefined when it is missing or was sent twice. */
  header(name: string): string | undefined;
}

/** The marks by which a delivery is known again. Each makes at most one call. */
export type DeliveryMarks = readonly [string, ...string[]];

/**
 * Verifies the HMAC-SHA256 of a webhook over its raw bytes. The first header that is there decides:
 *
 * - `webhook-signature` (Standard Webhooks, and our own): `v1,` and base64, over `<webhook-id>.<webhook-timestamp>.<body>`
 * - `stripe-signature`: `t=<seconds>,v1=<hex>`, over `<t>.<body>`; also in `x-signature`
 * - `x-hub-signature-256`: `sha256=<hex>`, over the body
 * - `x-signature` beside `x-timestamp` in milliseconds (OpenZeppelin Monitor): hex, over the body and the timestamp
 * - `x-signature`: hex or base64, over the body
 *
 * @returns undefined when the signature is not right, or too old
 */
export function verifyWebhook(hook: IncomingWebhook, secret: string, now: number): DeliveryMarks | undefined {
  const signed = signedTextOf(hook);
  if (signed === undefined) return undefined;
  const { before = '', after = '', digests, at, identity = '', isStandard = false } = signed;
  if (at === undefined && isTimed(hook.body)) return undefined;
  const isRight = (isStandard ? standardKeys(secret) : [secret])
    .map((key) => createHmac('sha256', key).update(before).update(hook.body).update(after).digest())
    .flatMap((expected) => digests.map((digest) => isSame(digest, expected)))
    .includes(true);
  if (!isRight || (at !== undefined && !(Math.abs(now - at) <= TOLERANCE_MS))) return undefined;
  const mark = `content:${createHash('sha256').update(`${identity}\n`).update(hook.body).digest('hex')}`;
  const id = deliveryIdOf(hook);
  return id === undefined ? [mark] : [mark, `id:${id}`];
}

/**
 * Standard Webhooks writes the bytes of a key as base64, behind `whsec_` or without it. Without it the secret may as
 * well be the key itself, as in this service's own webhooks.
 */
function standardKeys(secret: string): (string | Buffer)[] {
  if (secret.startsWith('whsec_')) return [Buffer.from(secret.slice(6), 'base64')];
  return /^[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret) ? [secret, Buffer.from(secret, 'base64')] : [secret];
}

interface SignedText {
  /** What is signed before and after the body. */
  before?: string;
  after?: string;
  digests: readonly (Buffer | undefined)[];
  /** In milliseconds since the epoch; absent where no time is signed. */
  at?: number;
  isStandard?: boolean;
  /**
   * What is signed beside the body and stays the same when the sender repeats a delivery. The time does not, but where
   * it alone tells two events with the same body apart.
   */
  identity?: string;
}

function signedTextOf({ header }: IncomingWebhook): SignedText | undefined {
  const standard = header('webhook-signature');
  if (standard !== undefined) {
    const [id, seconds] = [header('webhook-id'), header('webhook-timestamp')];
    if (id === undefined || seconds === undefined) return undefined;
    const digests = standard.split(' ', 8).map((one) => (one.startsWith('v1,') ? base64(one.slice(3)) : undefined));
    return { before: `${id}.${seconds}.`, digests, at: millisecondsOf(seconds, 1000), identity: id, isStandard: true };
  }
  const plain = header('x-signature');
  const timed = header('stripe-signature') ?? (plain?.includes('v1=') === true ? plain : undefined);
  if (timed !== undefined) {
    const parts = timed.split(',', 16).map((part) => part.trim());
    const seconds = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
    const digests = parts.flatMap((part) => (part.startsWith('v1=') ? [hex(part.slice(3))] : []));
    return { before: `${seconds}.`, digests, at: millisecondsOf(seconds, 1000) };
  }
  const hub = header('x-hub-signature-256');
  if (hub !== undefined) return { digests: [hub.startsWith('sha256=') ? hex(hub.slice(7)) : undefined] };
  if (plain === undefined) return undefined;
  const time = header('x-timestamp');
  if (time !== undefined) return { after: time, digests: [hex(plain)], at: millisecondsOf(time, 1), identity: time };
  return { digests: [hex(plain.replace(/^sha256=/, '')) ?? base64(plain)] };
}

/**
 * Whether a body reads like what a scheme with a time signs. Whoever has captured such a delivery could send it again for
 * ever as one of a scheme without a time: the signature is the same.
 */
function isTimed(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString('latin1');
  return /^(?:[!-~]{1,200}\.)?\d{9,15}\./.test(text) || /[}\]]\d{13}$/.test(text);
}

/** The sender's name of a delivery. It is not signed, so it only adds to what the signed content tells. */
function deliveryIdOf({ header }: IncomingWebhook): string | undefined {
  const id = header('webhook-id') ?? header('x-github-delivery') ?? header('x-delivery-id');
  return id === undefined || id.length > MAX_DELIVERY_ID || !/^[\x21-\x7e]+$/.test(id) ? undefined : id;
}

function isSame(digest: Buffer | undefined, expected: Buffer): boolean {
  return digest?.length === expected.length && timingSafeEqual(digest, expected);
}

function hex(text: string): Buffer | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : undefined;
}

function base64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function millisecondsOf(digits: string, factor: number): number {
  return /^\d{1,15}$/.test(digits) ? Number(digits) * factor : Number.NaN;
}
