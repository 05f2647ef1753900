import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { FIXED_LIMITS, FRAME_HEADER_BYTES, UP } from '../protocol.ts';

/** One frame as it came; `text` is its payload. */
export type FrameHandler = (kind: number, call: number, text: string) => void;

const OUTBOX_BYTES = 65_536;
const LENGTH_BYTES = 4;

/**
 * The child's end of the framed channel.
 *
 * Writing is synchronous in effect: what was flushed has left this process, even when the guest that is entered next
 * never comes back. Frames are collected until then, so that a call costs one system call per entry.
 */
export class Channel {
  readonly #fd: number;
  readonly #outbox = Buffer.allocUnsafe(OUTBOX_BYTES);
  #used = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Hands every frame to `onFrame`, flushes after each batch, and calls `onClose` when the driver is gone. */
  listen(onFrame: FrameHandler, onClose: () => void): void {
    const socket = new Socket({ fd: this.#fd, readable: true, writable: false });
    const reader = new FrameReader(onFrame);
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      this.flush();
    });
    socket.on('error', onClose);
    socket.on('close', onClose);
  }

  /** Puts a frame into the outbox. */
  send(kind: number, call: number, text: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    const most = FRAME_HEADER_BYTES + text.length * 3;
    if (most > OUTBOX_BYTES - this.#used) this.flush();
    if (most > OUTBOX_BYTES) {
      const payload = Buffer.from(text);
      this.#header(kind, call, payload.length);
      this.flush();
      this.#write(payload, payload.length);
      return;
    }
    const bytes = text === '' ? 0 : this.#outbox.write(text, this.#used + FRAME_HEADER_BYTES, 'utf8');
    this.#header(kind, call, bytes);
    this.#used += bytes;
  }

  /** Says that guest code of this call runs from now on; whatever was sent before leaves with it. */
  enter(call: number): void {
    this.send(UP.ENTER, call, '');
    this.flush();
  }

  /** Returns when everything sent so far has left this process. */
  flush(): void {
    const bytes = this.#used;
    if (bytes === 0) return;
    this.#used = 0;
    this.#write(this.#outbox, bytes);
  }

  #header(kind: number, call: number, payloadBytes: number): void {
    const at = this.#used;
    this.#outbox.writeUInt32BE(FRAME_HEADER_BYTES - LENGTH_BYTES + payloadBytes, at);
    this.#outbox.writeUInt8(kind, at + LENGTH_BYTES);
    this.#outbox.writeUInt32BE(call, at + LENGTH_BYTES + 1);
    this.#used = at + FRAME_HEADER_BYTES;
  }

  #write(buffer: Buffer, bytes: number): void {
    for (let offset = 0; offset < bytes; ) {
      try {
        offset += writeSync(this.#fd, buffer, offset, bytes - offset);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        // The driver is behind. This process serves one plugin, so it may as well wait.
        Atomics.wait(PAUSE, 0, 0, 1);
      }
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Cuts the driver's stream into frames. */
export class FrameReader {
  readonly #onFrame: FrameHandler;
  #parts: Buffer[] = [];
  #held = 0;
  #wanted = FRAME_HEADER_BYTES;

  constructor(onFrame: FrameHandler) {
    this.#onFrame = onFrame;
  }

  /** @throws Error when a frame is longer than {@link FIXED_LIMITS} allows */
  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;

    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#held);
    let at = 0;
    this.#wanted = FRAME_HEADER_BYTES;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const length = bytes.readUInt32BE(at);
      if (length > FIXED_LIMITS.down_frame_bytes) throw new Error(`a frame of ${length} bytes is too long`);
      const end = at + LENGTH_BYTES + length;
      if (end > bytes.length) {
        this.#wanted = end - at;
        break;
      }
      const kind = bytes.readUInt8(at + LENGTH_BYTES);
      const call = bytes.readUInt32BE(at + LENGTH_BYTES + 1);
      this.#onFrame(kind, call, bytes.toString('utf8', at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    const rest = bytes.subarray(at);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#held = rest.length;
  }
}
