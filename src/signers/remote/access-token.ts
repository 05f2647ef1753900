import { type KeyObject, sign } from 'node:crypto';
import type { Clock } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { ServiceRefusal } from './service-client.ts';

/** A token that a service accepts for a while. */
export interface AccessToken {
  readonly text: string;
  /** How long it is valid from the request for it, in milliseconds; Infinity when it does not expire. */
  readonly lifeMs: number;
  /** Present when the token can be renewed. Returns the next token, or the same one with a longer life. */
  renew?(): Promise<AccessToken>;
}

/** Keeps one token, and asks for the next one before it ends. */
export interface AccessTokens {
  /**
   * Calls `ask` with the token. When the service no longer accepts the token, calls it once more with a new one.
   * @param lost the statuses with which a lost token is refused
   */
  use<T>(ask: (token: string) => Promise<T>, lost?: readonly number[]): Promise<T>;
}

/** How long before its end a token is replaced, in ms. A quarter of its life where that is shorter. */
const SPARE_MS = 60_000;

/** @param obtain asks for a token with the credentials of the configuration */
export function createAccessTokens(obtain: () => Promise<AccessToken>, clock: Pick<Clock, 'elapsed'>): AccessTokens {
  let held: { token: AccessToken; spareAt: number; endsAt: number } | undefined;
  let asking: Promise<string> | undefined;

  async function next(): Promise<string> {
    const began = clock.elapsed();
    const before = held !== undefined && began < held.endsAt ? held.token : undefined;
    try {
      const token = await (before?.renew === undefined ? obtain() : renewed(before.renew));
      const spareMs = Math.min(SPARE_MS, token.lifeMs / 4);
      held = { token, endsAt: began + token.lifeMs, spareAt: began + token.lifeMs - spareMs };
      return token.text;
    } catch (error) {
      // The token service may be down while the other service is not. Uses the old token until it ends.
      if (before === undefined || held?.token !== before) throw error;
      return before.text;
    }
  }

  async function renewed(renew: () => Promise<AccessToken>): Promise<AccessToken> {
    try {
      return await renew();
    } catch (error) {
      // The token may have no renewal left.
      if (!(error instanceof ServiceRefusal)) throw error;
      return await obtain();
    }
  }

  function current(): Promise<string> {
    if (held !== undefined && clock.elapsed() < held.spareAt) return Promise.resolve(held.token.text);
    asking ??= next().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    async use(ask, lost = [401]) {
      const token = await current();
      try {
        return await ask(token);
      } catch (error) {
        if (!(error instanceof ServiceRefusal) || !lost.includes(error.status)) throw error;
        // Many requests may be refused at once. Drops the token only if it is still the current one.
        if (held?.token.text === token) held = undefined;
        return await ask(await current());
      }
    },
  };
}

/** The algorithms of RFC 7518 and RFC 8037 that services ask for. */
export type JwtAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** A signed JSON Web Token in its compact form (RFC 7519). */
export function signedJwt(algorithm: JwtAlgorithm, key: KeyObject, header: JsonObject, claims: JsonObject): string {
  const parts = [{ alg: algorithm, typ: 'JWT', ...header }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  // EdDSA has its own hash. ES256 has r ‖ s instead of DER.
  const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', Buffer.from(text), {
    key,
    dsaEncoding: 'ieee-p1363',
  });
  return `${text}.${signature.toString('base64url')}`;
}
