import type { Clock } from '../../domain/clock.ts';
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
