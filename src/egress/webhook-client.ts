import { createHmac, type KeyObject } from 'node:crypto';
import type { AddressGuard } from './address-guard.ts';
import { createHttpClient } from './http-client.ts';
import { HttpFailure } from './http-failure.ts';

/** One delivery. */
export interface WebhookPost {
  url: string;
  /** The id of the event, the same in every delivery of the event. */
  id: string;
  /** Signed and sent byte for byte. */
  body: string;
  /** When the delivery is sent, in milliseconds since the epoch. */
  at: number;
  /** The reference's receivers check the signature by the first key. Without keys, the delivery is not signed. */
  signingKeys: readonly KeyObject[];
  /** Whether the operator wrote this address into the configuration. Such an address may be private. */
  isDeclared: boolean;
}

/** The outcome of a delivery. A reason names the host at most, never a path or a credential. */
export type WebhookAnswer =
  /** Any status from 200 to 299. */
  | { kind: 'delivered'; status: number }
  /** `redirect` as in {@link import('./http-client.ts').HttpAnswer}. */
  | { kind: 'rejected'; status: number; redirect?: string }
  /** `blocked`: the address is refused, and nothing was sent. Otherwise the receiver may have the delivery. */
  | { kind: 'blocked' | 'timeout' | 'transport'; reason: string };

/** Posts to webhook receivers, once per call: no retries, no redirects. */
export interface WebhookClient {
  /** Never throws for what the receiver does. */
  post(delivery: WebhookPost): Promise<WebhookAnswer>;
  /**
   * Checks an address as far as that is possible without resolving names.
   * @throws BlockedAddressError when no delivery can ever be sent there
   */
  check(target: Pick<WebhookPost, 'url' | 'isDeclared'>): void;
  close(): Promise<void>;
}

/** The limits of one delivery, in milliseconds. */
export interface WebhookLimits {
  connectMs: number;
  /** From the call to the receiver's status, connecting included. */
  totalMs: number;
}

const DEFAULT_WEBHOOK_LIMITS: WebhookLimits = { connectMs: 3_000, totalMs: 10_000 };

/** How much of an answer's body is read to keep the connection. The body itself is not used. */
const MAX_ANSWER_BYTES = 4_096;

/**
 * Opens the connections to receivers. Addresses in the configuration never share a connection with others. So a
 * connection that was opened under one guard does not get past the other.
 */
export function createWebhookClient(
  guards: { declared: AddressGuard; others: AddressGuard },
  limits = DEFAULT_WEBHOOK_LIMITS,
): WebhookClient {
  const declared = createHttpClient(guards.declared, limits.connectMs);
  const others = createHttpClient(guards.others, limits.connectMs);

  return {
    check: ({ url, isDeclared }) => (isDeclared ? guards.declared : guards.others).checkUrl(new URL(url)),
    async post({ url, isDeclared, ...delivery }) {
      try {
        const { status, redirect } = await (isDeclared ? declared : others).post(new URL(url), {
          headers: {
            'content-type': 'application/json',
            'user-agent': 'isolayer',
            ...signatures(delivery),
          },
          body: delivery.body,
          timeoutMs: limits.totalMs,
          maxBytes: MAX_ANSWER_BYTES,
          reads: 'status',
        });
        if (status < 300) return { kind: 'delivered', status };
        return { kind: 'rejected', status, ...(redirect !== '' && { redirect }) };
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        return { kind: error.kind === 'too-large' ? 'transport' : error.kind, reason: error.message };
      }
    },
    async close() {
      await Promise.all([declared.close(), others.close()]);
    },
  };
}

/**
 * Signs a delivery in two forms. `x-signature` covers the body alone, as the reference's receivers check it. The form
 * of Standard Webhooks 1.0 covers id, time and body, once for each key. It keeps anybody from delivering an old event
 * again later.
 */
function signatures({ id, body, at, signingKeys }: Omit<WebhookPost, 'url' | 'isDeclared'>): Record<string, string> {
  const [first] = signingKeys;
  if (first === undefined) return {};
  const seconds = String(Math.floor(at / 1000));
  const timed = signingKeys.map((key) => `v1,${signatureOf(`${id}.${seconds}.${body}`, key)}`);
  return {
    'x-signature': signatureOf(body, first),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': timed.join(' '),
  };
}

/** Padded base64 of HMAC-SHA256 over the text's bytes. */
function signatureOf(text: string, key: KeyObject): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('base64');
}
