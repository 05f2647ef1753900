import { hash, timingSafeEqual } from 'node:crypto';

/** How long a code can be exchanged. */
const LIFE_MS = 10 * 60_000;

export interface SignInCodeParts {
  /** What a code is exchanged for. */
  key: string;
  /** On the clock that never goes back, in milliseconds. */
  elapsed: () => number;
  randomBytes: (size: number) => Buffer;
}

/**
 * Spares who sits at the machine the key's first typing: a code that is exchanged for the key once, within ten minutes.
 * Only its hash is kept. There is at most one; a new one ends the one before it.
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

  /** The key; undefined for what is no code, was exchanged before, or is too old. */
  exchange(code: string): string | undefined {
    const made = this.#made;
    if (made === undefined || !timingSafeEqual(hash('sha256', code, 'buffer'), made.digest)) return undefined;
    this.#made = undefined;
    return this.#parts.elapsed() <= made.until ? this.#parts.key : undefined;
  }
}
