import { FIXED_LIMITS, FRAME_HEADER_BYTES, type Limits, UP } from '../protocol.ts';

/** What a child sent could not have come from our own code: the child is beyond trust and must go. */
export class ProtocolViolation extends Error {
  override name = 'ProtocolViolation';
}

/** One frame from a child; `text` is only valid UTF-8 by way of replacement characters. */
export type OnFrame = (kind: number, call: number, text: string) => void;

const LENGTH_BYTES = 4;
const BODY_BYTES = FRAME_HEADER_BYTES - LENGTH_BYTES;

/** Encodes one frame; see {@link FRAME_HEADER_BYTES}. */
export function encodeFrame(kind: number, call: number, text: string): Buffer {
  const payloadBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payloadBytes);
  frame.writeUInt32BE(BODY_BYTES + payloadBytes, 0);
  frame.writeUInt8(kind, LENGTH_BYTES);
  frame.writeUInt32BE(call, LENGTH_BYTES + 1);
  frame.write(text, FRAME_HEADER_BYTES, 'utf8');
  return frame;
}

/** Longest payload a child may send in a frame of each kind, in bytes. */
export function payloadCaps(limits: Pick<Limits, 'result_bytes'>): ReadonlyMap<number, number> {
  const slack = FIXED_LIMITS.up_frame_slack_bytes;
  return new Map([
    [UP.READY, slack],
    // What was thrown and its stack, of which every character may be escaped.
    [UP.LOADED, 2 * slack],
    [UP.ENTER, 0],
    [UP.LEAVE, 0],
    [UP.SHELF, 10],
    [UP.REQUEST, FIXED_LIMITS.request_bytes],
    [UP.LOG, FIXED_LIMITS.log_bytes],
    // The result is JSON text inside JSON: escaping at most doubles it.
    [UP.DONE, 2 * limits.result_bytes + slack],
  ]);
}

/**
 * Cuts a child's bytes into frames. Never holds more than one frame, and never more of it than its kind may have:
 * a longer one is refused by its header.
 */
export class FrameDecoder {
  caps: ReadonlyMap<number, number>;
  readonly #onFrame: OnFrame;
  /** What has come of a frame that is not whole: room for its header or, once that is known, for all of it. */
  #begun: Buffer | null = null;
  #held = 0;

  constructor(caps: ReadonlyMap<number, number>, onFrame: OnFrame) {
    this.caps = caps;
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
    const call = bytes.readUInt32BE(at + LENGTH_BYTES + 1);
    const text =
      frameBytes === FRAME_HEADER_BYTES ? '' : bytes.toString('utf8', at + FRAME_HEADER_BYTES, at + frameBytes);
    this.#onFrame(kind, call, text);
  }

  #frameBytes(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at);
    const kind = bytes.readUInt8(at + LENGTH_BYTES);
    const cap = this.caps.get(kind);
    if (cap === undefined) throw new ProtocolViolation(`no such frame: ${kind}`);
    if (length < BODY_BYTES || length - BODY_BYTES > cap) {
      throw new ProtocolViolation(`a frame of kind ${kind} announces ${length} bytes`);
    }
    return LENGTH_BYTES + length;
  }
}
