import type { Clock } from '../../domain/clock.ts';
import { ServiceRefusal } from './service-client.ts';

/** What a service lets in with, for a while. */
export interface AccessToken {
  readonly text: string;
  /** How long it counts from when it was asked for, in milliseconds; Infinity where it does not end. */
  readonly lifeMs: number;
  /** Where it can be prolonged: gives the next one, or the same for longer. */
  renew?(): Promise<AccessToken>;
}

/** Keeps one token, and asks for the next one before it ends. */
export interface AccessTokens {
  /**
   * Does something with the token; once more with another one when the service does not know it any more.
   * @param lost the statuses that a lost token is refused with
   */
  use<T>(ask: (token: string) => Promise<T>, lost?: readonly number[]): Promise<T>;
}

/** Before its end a token is left alone for so long, or for a quarter of its life where that is shorter. */
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
      // Who gives out tokens may be away while who takes them is not.
      if (before === undefined || held?.token !== before) throw error;
      return before.text;
    }
  }

  async function renewed(renew: () => Promise<AccessToken>): Promise<AccessToken> {
    try {
      return await renew();
    } catch (error) {
      // It may be at the end of all its renewals.
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
        // Many may find out at once; only who still holds it throws it away.
        if (held?.token.text === token) held = undefined;
        return await ask(await current());
      }
    },
  };
}
