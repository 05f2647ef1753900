/**
 * Length-prefixed frames: `uint32 length | uint8 kind | uint32 number | payload`, big-endian. `length` counts the bytes
 * after it. The number is that of the call or build that the frame is about. This file is shared by a watched process
 * and the process that watches it, so both read frames alike.
 */
export const FRAME_HEADER_BYTES = 9;

/** The other end sent something that our own code never sends. The other end cannot be trusted and must be ended. */
export class ProtocolViolation extends Error {
  override name = 'ProtocolViolation';
}

/** Receives one frame. In `text`, replacement characters stand for invalid UTF-8. */
export type FrameListener = (kind: number, number: number, text: string) => void;

/** Receives the bytes of one frame that is not to become a text here. They are a copy. */
export type LargeFrameListener = (kind: number, number: number, payload: Uint8Array) => void;

/** Longest payload of a frame of this kind, in bytes; undefined for an unknown kind. */
export type FramePayloadLimit = (kind: number) => number | undefined;

const LENGTH_BYTES = 4;
const BODY_BYTES = FRAME_HEADER_BYTES - LENGTH_BYTES;

/** Writes the header, {@link FRAME_HEADER_BYTES} bytes, of a frame with a payload of this length. */
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
 * Cuts bytes into frames. Holds at most one frame, and no more bytes than its kind may have: the header of a longer
 * frame is refused. A listener may call {@link hold}: then the decoder keeps the rest of the chunk, and gives no frame
 * until {@link release}.
 */
export class FrameDecoder {
  mostBytes: FramePayloadLimit;
  readonly #onFrame: FrameListener;
  readonly #onLargeFrame: LargeFrameListener | undefined;
  readonly #largeBytes: number;
  #isHeld = false;
  #rest: Buffer | null = null;
  /** The incomplete frame. It has room for the header or, once the length is known, for the whole frame. */
  #begun: Buffer | null = null;
  #held = 0;

  /** @param large gets each frame with a payload of more than `bytes`, in place of `onFrame` */
  constructor(
    mostBytes: FramePayloadLimit,
    onFrame: FrameListener,
    large?: { bytes: number; onFrame: LargeFrameListener },
  ) {
    this.mostBytes = mostBytes;
    this.#onFrame = onFrame;
    this.#onLargeFrame = large?.onFrame;
    this.#largeBytes = large?.bytes ?? Number.POSITIVE_INFINITY;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Gives no further frame until {@link release}. */
  hold(): void {
    this.#isHeld = true;
  }

  /** @throws ProtocolViolation, like {@link push} */
  release(): void {
    this.#isHeld = false;
    const rest = this.#rest;
    this.#rest = null;
    if (rest !== null) this.push(rest);
  }

  /** True while a frame is incomplete. */
  get holding(): boolean {
    return this.#begun !== null;
  }

  /** @throws ProtocolViolation, after which the decoder must not be used again */
  push(chunk: Buffer): void {
    if (this.#isHeld) {
      this.#rest = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
      return;
    }
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
    while (!this.#isHeld && chunk.length - at >= FRAME_HEADER_BYTES) {
      const frameBytes = this.#frameBytes(chunk, at);
      if (chunk.length - at < frameBytes) return this.#keep(chunk, at, frameBytes);
      this.#emit(chunk, at, frameBytes);
      at += frameBytes;
    }
    if (at === chunk.length) return;
    if (this.#isHeld) this.#rest = chunk.subarray(at);
    else this.#keep(chunk, at, FRAME_HEADER_BYTES);
  }

  /**
   * Copies the begun frame, so that its few bytes do not keep the whole chunk in memory. Allocates once, so that a
   * frame that comes byte by byte does not cost an object for each byte.
   */
  #keep(bytes: Buffer, at: number, size: number): void {
    this.#begun = Buffer.allocUnsafeSlow(size);
    this.#held = bytes.copy(this.#begun, 0, at);
  }

  #emit(bytes: Buffer, at: number, frameBytes: number): void {
    const kind = bytes.readUInt8(at + LENGTH_BYTES);
    const number = bytes.readUInt32BE(at + LENGTH_BYTES + 1);
    if (this.#onLargeFrame !== undefined && frameBytes - FRAME_HEADER_BYTES > this.#largeBytes) {
      return this.#onLargeFrame(kind, number, new Uint8Array(bytes.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)));
    }
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
