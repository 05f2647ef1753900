/** There is no answer, or the answer is too large. The message names the reason, never the address. */
export class HttpFailure extends Error {
  /**
   * `blocked`: the address guard refused the request, and nothing was sent. Otherwise the other side may have acted.
   */
  readonly kind: 'blocked' | 'timeout' | 'transport' | 'too-large';

  constructor(kind: HttpFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpFailure';
    this.kind = kind;
  }
}
