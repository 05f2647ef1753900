import { createHmac, type KeyObject } from 'node:crypto';
import type { AddressGuard } from './address-guard.ts';
import { createHttpClient } from './http-client.ts';
import { HttpFailure } from './http-failure.ts';

/** One delivery. */
export interface WebhookPost {
  url: string;
  /** Of the event, the same in every delivery of it. */
  id: string;
  /** Signed and sent byte for byte. */
  body: string;
  /** When it leaves, in milliseconds since the epoch. */
  at: number;
  /** The first is the one that the reference's receivers check by; none: not signed. */
  signingKeys: readonly KeyObject[];
  /** The operator wrote this address into the configuration, so it may lie inside. */
  isDeclared: boolean;
}

/** What came of a delivery. A reason names host at most, never a path or a credential. */
export type WebhookAnswer =
  /** Any status from 200 to 299. */
  | { kind: 'delivered'; status: number }
  | { kind: 'rejected'; status: number }
  /** `blocked`: the address is refused, nothing left. Otherwise the receiver may have it. */
  | { kind: 'blocked' | 'timeout' | 'transport'; reason: string };

/** Posts to webhook receivers, once per call: no retries, no redirects. */
export interface WebhookClient {
  /** Never throws for what the receiver does. */
  post(delivery: WebhookPost): Promise<WebhookAnswer>;
  /**
   * Judges an address as far as it can be told without asking for names.
   * @throws BlockedAddressError when no delivery will ever leave for it
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

/** Of an answer's body, which nobody looks at, so much is read to keep the connection. */
const MOST_ANSWER_BYTES = 4_096;

/**
 * Opens the connections to receivers. Those of addresses in the configuration and all others never share one, so that
 * what was opened under one guard is not used past the other.
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
        const { status } = await (isDeclared ? declared : others).post(new URL(url), {
          headers: {
            'content-type': 'application/json',
            'user-agent': 'isolayer',
            ...signatures(delivery),
          },
          body: delivery.body,
          timeoutMs: limits.totalMs,
          maxBytes: MOST_ANSWER_BYTES,
          reads: 'status',
        });
        return { kind: status < 300 ? 'delivered' : 'rejected', status };
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
 * Two forms beside each other: `x-signature` over the body alone, as the reference's receivers check it, and that of
 * Standard Webhooks 1.0, over id, time and body and by each key, so that nobody can deliver an old one again later.
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
