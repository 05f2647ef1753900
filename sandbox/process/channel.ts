import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { FIXED_LIMITS } from '../contract.ts';
import { FRAME_HEADER_BYTES, FrameDecoder, type FrameListener, writeFrameHeader } from '../frames.ts';
import { JOURNAL_BYTES, JOURNAL_HEADER_BYTES, UP } from '../protocol.ts';
import { nodeZlib } from './node-builtins.ts';

const OUTBOX_BYTES = 65_536;
/** How long the first collected frame may wait for others, in milliseconds. */
const MAX_DELAY_MS = 1;

/**
 * The child's end of the framed channel.
 *
 * Frames are collected and leave together. Some frames must survive a guest that never returns. Such a frame is noted
 * in the journal, or sent before the guest is entered. The journal is cheaper: a frame that arrives wakes the
 * host, a note does not.
 */
export class Channel {
  readonly #fd: number;
  readonly #now: () => number;
  readonly #outbox = Buffer.allocUnsafe(OUTBOX_BYTES);
  #used = 0;
  /** When the first frame was put into the outbox, in milliseconds. */
  #since = 0;
  /** Bytes that have left this process. */
  #sent = 0;
  #journal: JournalWriter | undefined;
  #inBatch = false;

  /** @param now milliseconds of a clock that never goes back */
  constructor(fd: number, now: () => number = () => performance.now()) {
    this.#fd = fd;
    this.#now = now;
  }

  /** Starts the journal {@link JOURNAL_FD} in the file `fd`. */
  keepJournal(fd: number): void {
    this.#journal = new JournalWriter(fd);
  }

  /** Passes every frame to `onFrame` and flushes after each batch. Calls `onClose` when the host is gone. */
  listen(onFrame: FrameListener, onClose: () => void): void {
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

  /** Tells the host that guest code of this call runs from now on. `quick`: it will probably return very soon. */
  enter(call: number, quick = false): void {
    this.send(UP.ENTER, call, '');
    if (quick) this.save();
    else this.flush();
  }

  /** Makes everything sent so far survive the end of this process: notes it in the journal, or flushes. */
  save(): void {
    const journal = this.#journal;
    const mayStay = this.#inBatch && this.#now() - this.#since < MAX_DELAY_MS;
    if (journal === undefined || !mayStay || !journal.note(this.#sent, this.#outbox, this.#used)) this.flush();
  }

  /** Writes everything sent so far to the channel before it returns. */
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
        // The host reads too slowly, or makes a flood wait. This process serves only one plugin, so it can wait.
        Atomics.wait(PAUSE, 0, 0, 1);
      }
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Notes frames that were collected for the channel and have not left yet, see {@link JOURNAL_FD}. */
export class JournalWriter {
  readonly #fd: number;
  readonly #record = Buffer.allocUnsafeSlow(JOURNAL_BYTES);
  #noted = 0;
  #at = 0;
  #failed = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Notes the part of the outbox's first `used` bytes that is not noted yet.
   * @param sent bytes that left this process before those of the outbox
   * @returns false when there is no room for it, or when a write to the file has failed once
   */
  note(sent: number, outbox: Buffer, used: number): boolean {
    const bytes = used - this.#noted;
    const recordBytes = JOURNAL_HEADER_BYTES + bytes;
    if (this.#failed || this.#at + recordBytes > JOURNAL_BYTES) return false;
    const record = this.#record;
    outbox.copy(record, JOURNAL_HEADER_BYTES, this.#noted, used);
    record.writeDoubleBE(sent + this.#noted, 0);
    record.writeUInt32BE(bytes, 8);
    record.writeUInt32BE(nodeZlib().crc32(record.subarray(JOURNAL_HEADER_BYTES, recordBytes)), 12);
    if (!this.#write(recordBytes)) return false;
    this.#at += recordBytes;
    this.#noted = used;
    return true;
  }

  /**
   * Writes the whole record, or stops using the file: frames can leave at once instead. The guest must not see the
   * failure.
   */
  #write(bytes: number): boolean {
    try {
      this.#failed = writeSync(this.#fd, this.#record, 0, bytes, this.#at) !== bytes;
    } catch {
      this.#failed = true;
    }
    return !this.#failed;
  }

  /** Forgets all notes, because the noted frames leave now. */
  clear(): void {
    this.#noted = 0;
    this.#at = 0;
  }
}
