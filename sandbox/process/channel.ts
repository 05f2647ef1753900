import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { FRAME_HEADER_BYTES, FrameDecoder, type OnFrame, writeFrameHeader } from '../frames.ts';
import { FIXED_LIMITS, UP } from '../protocol.ts';
import { Journal } from './journal.ts';

const OUTBOX_BYTES = 65_536;
/** How long the first of the collected frames may wait for the others. */
const MOST_DELAY_MS = 1;

/**
 * The child's end of the framed channel.
 *
 * Frames are collected and leave together. What must be known even if the guest that is entered next never returns is
 * noted in the journal, or leaves before: a frame that arrives wakes a thread over there, a note does not.
 */
export class Channel {
  readonly #fd: number;
  readonly #now: () => number;
  readonly #outbox = Buffer.allocUnsafe(OUTBOX_BYTES);
  #used = 0;
  /** When the first of them was put there, in milliseconds. */
  #since = 0;
  /** Bytes that have left this process. */
  #sent = 0;
  #journal: Journal | undefined;
  #inBatch = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(fd: number, now: () => number = () => performance.now()) {
    this.#fd = fd;
    this.#now = now;
  }

  /** Notes from now on in the file `fd` what {@link JOURNAL_FD} says. */
  keepJournal(fd: number): void {
    this.#journal = new Journal(fd);
  }

  /** Hands every frame to `onFrame`, flushes after each batch, and calls `onClose` when the driver is gone. */
  listen(onFrame: OnFrame, onClose: () => void): void {
    const socket = new Socket({ fd: this.#fd, readable: true, writable: false });
    const decoder = new FrameDecoder(() => FIXED_LIMITS.down_frame_bytes, onFrame);
    socket.on('data', (chunk: Buffer) => {
      this.#inBatch = true;
      decoder.push(chunk);
      this.#inBatch = false;
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

  /** Says that guest code of this call runs from now on; `quick` when it will probably be back in no time. */
  enter(call: number, quick = false): void {
    this.send(UP.ENTER, call, '');
    if (quick) this.save();
    else this.flush();
  }

  /** Returns when everything sent so far would survive this process. */
  save(): void {
    const journal = this.#journal;
    const mayStay = this.#inBatch && this.#now() - this.#since < MOST_DELAY_MS;
    if (journal === undefined || !mayStay || !journal.note(this.#sent, this.#outbox, this.#used)) this.flush();
  }

  /** Returns when everything sent so far has left this process. */
  flush(): void {
    const bytes = this.#used;
    if (bytes === 0) return;
    this.#used = 0;
    this.#journal?.clear();
    this.#write(this.#outbox, bytes);
  }

  #header(kind: number, call: number, payloadBytes: number): void {
    const at = this.#used;
    if (at === 0) this.#since = this.#now();
    writeFrameHeader(this.#outbox, at, kind, call, payloadBytes);
    this.#used = at + FRAME_HEADER_BYTES;
  }

  #write(buffer: Buffer, bytes: number): void {
    for (let offset = 0; offset < bytes; ) {
      try {
        const written = writeSync(this.#fd, buffer, offset, bytes - offset);
        offset += written;
        this.#sent += written;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        // The driver is behind. This process serves one plugin, so it may as well wait.
        Atomics.wait(PAUSE, 0, 0, 1);
      }
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
