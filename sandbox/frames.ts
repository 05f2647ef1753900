/**
 * Length-prefixed frames: `uint32 length | uint8 kind | uint32 number | payload`, big-endian, where `length` counts what
 * follows it and the number is that of the call or build that the frame is about. Stands alone: a process that is
 * watched, and whoever watches it, read frames alike.
 */
export const FRAME_HEADER_BYTES = 9;

/** What the other end sent could not have come from our own code: it is beyond trust and must go. */
export class ProtocolViolation extends Error {
  override name = 'ProtocolViolation';
}

/** One frame; `text` is only valid UTF-8 by way of replacement characters. */
export type OnFrame = (kind: number, number: number, text: string) => void;

/** Most bytes that the payload of a frame of this kind may have; undefined when there is no such kind. */
export type MostBytes = (kind: number) => number | undefined;

const LENGTH_BYTES = 4;
const BODY_BYTES = FRAME_HEADER_BYTES - LENGTH_BYTES;

/** Writes the {@link FRAME_HEADER_BYTES} bytes that a payload of this length follows. */
export function writeFrameHeader(target: Buffer, at: number, kind: number, number: number, payloadBytes: number): void {
  target.writeUInt32BE(BODY_BYTES + payloadBytes, at);
  target.writeUInt8(kind, at + LENGTH_BYTES);
  target.writeUInt32BE(number, at + LENGTH_BYTES + 1);
}

/** Encodes one frame. */
export function encodeFrame(kind: number, number: number, text: string): Buffer {
  const payloadBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payloadBytes);
  writeFrameHeader(frame, 0, kind, number, payloadBytes);
  frame.write(text, FRAME_HEADER_BYTES, 'utf8');
  return frame;
}

/**
 * Cuts bytes into frames. Never holds more than one frame, and never more of it than its kind may have:
 * a longer one is refused by its header.
 */
export class FrameDecoder {
  mostBytes: MostBytes;
  readonly #onFrame: OnFrame;
  /** What has come of a frame that is not whole: room for its header or, once that is known, for all of it. */
  #begun: Buffer | null = null;
  #held = 0;

  constructor(mostBytes: MostBytes, onFrame: OnFrame) {
    this.mostBytes = mostBytes;
    this.#onFrame = onFrame;
  }

  /** True while the end of a frame is missing. */
  get holding(): boolean {
    return this.#begun !== null;
  }

  /** @throws ProtocolViolation, after which the decoder must not be used again */
  push(chunk: Buffer): void {
    let at = 0;
    while (this.#begun !== null) {
      const begun = this.#begun;
      const copied = chunk.copy(begun, this.#held, at);
      at += copied;
      this.#held += copied;
      if (this.#held < begun.length) return;
      const frameBytes = begun.length > FRAME_HEADER_BYTES ? begun.length : this.#frameBytes(begun, 0);
      this.#begun = null;
      if (frameBytes === begun.length) this.#emit(begun, 0, frameBytes);
      else this.#keep(begun, 0, frameBytes);
    }
    while (chunk.length - at >= FRAME_HEADER_BYTES) {
      const frameBytes = this.#frameBytes(chunk, at);
      if (chunk.length - at < frameBytes) return this.#keep(chunk, at, frameBytes);
      this.#emit(chunk, at, frameBytes);
      at += frameBytes;
    }
    if (at < chunk.length) this.#keep(chunk, at, FRAME_HEADER_BYTES);
  }

  /**
   * Copied, so that a few bytes of a frame keep no chunk alive; and to one place, so that a frame which comes byte by
   * byte costs no object for each.
   */
  #keep(bytes: Buffer, at: number, size: number): void {
    this.#begun = Buffer.allocUnsafeSlow(size);
    this.#held = bytes.copy(this.#begun, 0, at);
  }

  #emit(bytes: Buffer, at: number, frameBytes: number): void {
    const kind = bytes.readUInt8(at + LENGTH_BYTES);
    const number = bytes.readUInt32BE(at + LENGTH_BYTES + 1);
    const text =
      frameBytes === FRAME_HEADER_BYTES ? '' : bytes.toString('utf8', at + FRAME_HEADER_BYTES, at + frameBytes);
    this.#onFrame(kind, number, text);
  }

  #frameBytes(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at);
    const kind = bytes.readUInt8(at + LENGTH_BYTES);
    const cap = this.mostBytes(kind);
    if (cap === undefined) throw new ProtocolViolation(`no such frame: ${kind}`);
    if (length < BODY_BYTES || length - BODY_BYTES > cap) {
      throw new ProtocolViolation(`a frame of kind ${kind} announces ${length} bytes`);
    }
    return LENGTH_BYTES + length;
  }
}
