import { AppError, messageOf } from '../domain/errors.ts';
import { Turns } from '../domain/turns.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import type { Curve, Signer, SignerKind, SignerTools } from './signer.ts';

/** What the guard of a signer needs, and the secrets that the signer read. */
export interface SignerGuard extends Pick<SignerTools, 'clock' | 'metrics'> {
  kind: Pick<SignerKind, 'type' | 'curves' | 'limitMs'>;
  /** In clear. No error may show one of them. */
  secrets: ReadonlySet<string>;
}

/**
 * The most requests that a signer sends to its service at once. With more, a service slows down, and others get no
 * connection.
 */
const MAX_AT_ONCE = 32;

/**
 * Adds what every kind of signer needs. Refuses curves that the kind does not have. Asks for each public key once.
 * Limits how many requests a service gets at once, and waits no longer than the kind allows. Counts. Lets no credential
 * into an error.
 */
export function guardedSigner(inner: Signer, { kind, clock, metrics, secrets }: SignerGuard): Signer {
  const { id, signText } = inner;
  const publicKeys = new Map<Curve, Promise<Uint8Array>>();
  const turns = new Turns(MAX_AT_ONCE);
  let isClosed = false;

  async function counted<T>(curve: Curve, ask: () => Promise<T>): Promise<T> {
    if (isClosed) throw failed('it is closed');
    if (!kind.curves.includes(curve)) throw failed(`a signer of type ${kind.type} has no key on ${curve}`);
    const began = clock.elapsed();
    let outcome: 'ok' | 'failed' = 'failed';
    try {
      const answer = kind.limitMs === null ? await ask() : await inTurn(kind.limitMs, ask);
      outcome = 'ok';
      return answer;
    } catch (error) {
      throw error instanceof AppError && isClean(error, secrets) ? error : failed(messageOf(error), error);
    } finally {
      // One thread has all keys of this process, so how long it takes says nothing of one key. Each would add 17 lines.
      const isOfProcess = kind.limitMs === null && outcome === 'ok';
      const labels = { signer: isOfProcess ? '' : id, type: kind.type, outcome };
      metrics.observe('signer_request_duration', labels, (clock.elapsed() - began) / 1000);
    }
  }

  /**
   * The limit includes the wait for a turn. A request that is still under way at twice the limit will not end at all,
   * so it gives its turn back. Otherwise 32 such requests would block the signer forever.
   */
  async function inTurn<T>(limitMs: number, ask: () => Promise<T>): Promise<T> {
    let isOver = false;
    const late = () => new Error(`no answer within ${limitMs / 1000} s`);
    const answer = await withTimeout(
      limitMs,
      turns.take(() => (isOver ? Promise.reject(late()) : withTimeout(2 * limitMs, ask()))),
    );
    isOver = true;
    if (answer === undefined) throw late();
    return answer;
  }

  function failed(reason: string, cause?: unknown): AppError {
    const options = cause === undefined ? {} : { cause: withoutSecrets(cause, secrets) };
    return new AppError('SIGNER_FAILED', { id, reason: masked(reason, secrets) }, options);
  }

  return {
    id,
    async publicKey(curve) {
      let known = publicKeys.get(curve);
      if (known === undefined) {
        known = counted(curve, () => inner.publicKey(curve));
        publicKeys.set(curve, known);
        known.catch(() => publicKeys.delete(curve));
      }
      return Uint8Array.from(await known);
    },
    sign: (curve, payload) => counted(curve, () => inner.sign(curve, payload)),
    ...(signText === undefined ? {} : { signText: (text: string) => counted('ed25519', () => signText(text)) }),
    async close() {
      isClosed = true;
      await inner.close();
    },
  };
}

/** The shortest secret that is masked, in characters. Shorter ones protect nothing, and occur in any text. */
const MIN_SECRET = 4;

/** Masks secrets in a text. Error messages of libraries may repeat their input. */
function masked(text: string, secrets: ReadonlySet<string>): string {
  // The longest secret first: one secret may begin with another.
  return [...secrets]
    .filter(({ length }) => length >= MIN_SECRET)
    .toSorted((one, other) => other.length - one.length)
    .reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
}

/** A copy of an error with only its name, message and stack. Other properties may hold a request with its headers. */
export function withoutSecrets(error: unknown, secrets: ReadonlySet<string>): Error {
  const bare = new Error(masked(messageOf(error), secrets));
  if (error instanceof Error) {
    bare.name = error.name;
    bare.stack = masked(error.stack ?? '', secrets);
  }
  return bare;
}

/** Whether an error of the service shows no secret, so that it can be passed on as it is. */
function isClean(error: AppError, secrets: ReadonlySet<string>): boolean {
  const texts = [error.message, error.stack ?? '', ...(error.cause === undefined ? [] : [messageOf(error.cause)])];
  return texts.every((text) => masked(text, secrets) === text);
}
