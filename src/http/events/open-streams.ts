import { AppError } from '../../domain/errors.ts';

/**
 * The most open streams of one key. Each stream holds a connection. A console page opens one. The limit stops a program
 * that leaks streams.
 */
const MAX_OF_A_KEY = 50;
const MAX = 500;
const RETRY_AFTER_SECONDS = 5;

/** Counts the streams that are open, by key. */
export class OpenStreams {
  readonly #ofKey = new Map<string, number>();
  #count = 0;

  /**
   * Counts one more stream. Returns a function that ends it; calling the function twice is safe.
   * @throws AppError `TOO_MANY_REQUESTS`
   */
  open(keyId: string): () => void {
    const ofKey = this.#ofKey.get(keyId) ?? 0;
    if (ofKey >= MAX_OF_A_KEY || this.#count >= MAX) {
      throw new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#ofKey.set(keyId, ofKey + 1);
    this.#count += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#count -= 1;
      const left = (this.#ofKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.#ofKey.delete(keyId);
      else this.#ofKey.set(keyId, left);
    };
  }
}
