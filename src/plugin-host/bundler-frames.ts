/** A message and the bytes that belong to it. */
export interface Frame {
  message: unknown;
  bytes: Buffer;
}

const HEAD_BYTES = 8;

/** The message as JSON text between its length, that of the bytes, and the bytes: numbers of 32 bits, big-endian. */
export function encodeFrame(message: unknown, ...bytes: readonly Uint8Array[]): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(text.length, 0);
  head.writeUInt32BE(
    bytes.reduce((sum, part) => sum + part.length, 0),
    4,
  );
  return Buffer.concat([head, text, ...bytes]);
}

/** Puts together what arrives in pieces of any size, and never holds more than one frame may have. */
export class FrameReader {
  readonly #most: { message: number; bytes: number };
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes that the next step needs: a head, or a whole frame. */
  #needed = HEAD_BYTES;

  /** @param most largest message and most bytes beside it, in bytes */
  constructor(most: { message: number; bytes: number }) {
    this.#most = most;
  }

  /**
   * The frames that a piece completes.
   * @throws Error when a frame is larger than it may be, or its message is no JSON
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    const frames: Frame[] = [];
    while (this.#held >= this.#needed) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      const text = all.readUInt32BE(0);
      const bytes = all.readUInt32BE(4);
      if (text > this.#most.message || bytes > this.#most.bytes) throw new Error('the frame is too large');
      const end = HEAD_BYTES + text + bytes;
      let rest = all;
      if (all.length >= end) {
        const message: unknown = JSON.parse(all.toString('utf8', HEAD_BYTES, HEAD_BYTES + text));
        frames.push({ message, bytes: all.subarray(HEAD_BYTES + text, end) });
        rest = all.subarray(end);
      }
      this.#needed = all.length >= end ? HEAD_BYTES : end;
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#held = rest.length;
    }
    return frames;
  }
}
