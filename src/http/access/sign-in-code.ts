import { hash, timingSafeEqual } from 'node:crypto';

/** How long a code is valid. */
const LIFE_MS = 10 * 60_000;

export interface SignInCodeParts {
  /** The API key that a code is exchanged for. */
  key: string;
  /** A monotonic clock, in milliseconds. */
  elapsed: () => number;
  randomBytes: (size: number) => Buffer;
}

/**
 * A one-time code that a user at the machine signs in with instead of the API key. It is exchanged for the key once,
 * within ten minutes. Only the code's hash is stored. At most one code is valid; making a code ends the one before it.
 */
export class SignInCode {
  readonly #parts: SignInCodeParts;
  #made: { digest: Buffer; until: number } | undefined;

  constructor(parts: SignInCodeParts) {
    this.#parts = parts;
  }

  make(): string {
    const code = this.#parts.randomBytes(32).toString('base64url');
    this.#made = { digest: hash('sha256', code, 'buffer'), until: this.#parts.elapsed() + LIFE_MS };
    return code;
  }

  /** Returns the key; undefined when the code is wrong, used or expired. */
  exchange(code: string): string | undefined {
    const made = this.#made;
    if (made === undefined || !timingSafeEqual(hash('sha256', code, 'buffer'), made.digest)) return undefined;
    this.#made = undefined;
    return this.#parts.elapsed() <= made.until ? this.#parts.key : undefined;
  }
}
