import { FIXED_LIMITS, FRAME_HEADER_BYTES, type Limits, UP } from '../protocol.ts';

/** What a child sent could not have come from our own code: the child is beyond trust and must go. */
export class ProtocolViolation extends Error {
  override name = 'ProtocolViolation';
}

/** One frame from a child; `text` is only valid UTF-8 by way of replacement characters. */
export type OnFrame = (kind: number, call: number, text: string) => void;

const LENGTH_BYTES = 4;
const BODY_BYTES = FRAME_HEADER_BYTES - LENGTH_BYTES;
const EMPTY = Buffer.alloc(0);

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
    [UP.LOADED, slack],
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
  #parts: Buffer[] = [];
  #held = 0;
  #wanted = FRAME_HEADER_BYTES;

  constructor(caps: ReadonlyMap<number, number>, onFrame: OnFrame) {
    this.caps = caps;
    this.#onFrame = onFrame;
  }

  /** @throws ProtocolViolation, after which the decoder must not be used again */
  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#held);

    let at = 0;
    let wanted = FRAME_HEADER_BYTES;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const frameBytes = this.#frameBytes(bytes, at);
      if (bytes.length - at < frameBytes) {
        wanted = frameBytes;
        break;
      }
      const kind = bytes.readUInt8(at + LENGTH_BYTES);
      const call = bytes.readUInt32BE(at + LENGTH_BYTES + 1);
      const text =
        frameBytes === FRAME_HEADER_BYTES ? '' : bytes.toString('utf8', at + FRAME_HEADER_BYTES, at + frameBytes);
      at += frameBytes;
      this.#onFrame(kind, call, text);
    }
    // Copied, so that a few bytes of a frame do not keep a whole chunk alive.
    const rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#held = rest.length;
    this.#wanted = wanted;
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
