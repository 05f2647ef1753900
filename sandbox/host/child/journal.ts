import { closeSync, mkdtempSync, openSync, readSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { Confinement } from '../../contract.ts';
import { JOURNAL_BYTES, JOURNAL_HEADER_BYTES } from '../../protocol.ts';

/** A folder of files in memory, where Linux has one. A disk would retain what plugins say. */
const MEMORY_FOLDER = '/dev/shm';

/**
 * Opens a journal for a child whose file size can be limited. Returns undefined where this system has no place for it.
 */
export function openJournal(confinement: Confinement): JournalReader | undefined {
  if (!confinement.core_dumps_off) return undefined;
  try {
    return new JournalReader(MEMORY_FOLDER);
  } catch {
    return undefined;
  }
}

/**
 * The file in which one child notes what it has not sent yet, see {@link JOURNAL_FD}. Tracks how far the channel was
 * read, so that bytes read from the channel or the journal are not read again from the other. The journal is trusted no
 * more than the channel.
 */
export class JournalReader {
  readonly #buffer = Buffer.allocUnsafeSlow(JOURNAL_BYTES);
  #fd: number | undefined;
  /** Bytes received over the channel, and bytes passed on from the channel or the journal. */
  #received = 0;
  #taken = 0;

  /**
   * Creates a file in `place` and removes its name.
   * @throws Error when there is no room for all that the child may write
   */
  constructor(place: string) {
    const folder = mkdtempSync(path.join(place, 'isolayer-'));
    const file = path.join(folder, 'journal');
    try {
      this.#fd = openSync(file, 'wx+', 0o600);
      this.#takePlace(this.#fd);
    } catch (error) {
      this.close();
      throw error;
    } finally {
      // Removes the file and then the folder: a recursive removal takes a descriptor, and there may be none left.
      rmSync(file, { force: true });
      rmdirSync(folder);
    }
  }

  /** The descriptor that the child gets as its {@link JOURNAL_FD}. */
  get fd(): number {
    if (this.#fd === undefined) throw new Error('the journal is closed');
    return this.#fd;
  }

  /** Returns the part of the channel's next bytes that was not read from the journal before. */
  unread(chunk: Buffer): Buffer {
    const known = Math.min(this.#taken - this.#received, chunk.length);
    this.#received += chunk.length;
    this.#taken += chunk.length - known;
    return known === 0 ? chunk : chunk.subarray(known);
  }

  /** Passes on, in order, what the child has noted beyond what it has sent. */
  read(onBytes: (bytes: Buffer) => void): void {
    if (this.#fd === undefined) return;
    const length = readSync(this.#fd, this.#buffer, 0, JOURNAL_BYTES, 0);
    let next = Number.NaN;
    for (let at = 0; at + JOURNAL_HEADER_BYTES <= length; ) {
      const offset = this.#buffer.readDoubleBE(at);
      const begin = at + JOURNAL_HEADER_BYTES;
      const end = begin + this.#buffer.readUInt32BE(at + 8);
      const follows = Number.isNaN(next) ? offset <= this.#taken : offset === next;
      if (!follows || !Number.isSafeInteger(offset) || end > length) return;
      const bytes = this.#buffer.subarray(begin, end);
      if (crc32(bytes) !== this.#buffer.readUInt32BE(at + 12)) return;
      next = offset + bytes.length;
      at = end;
      const known = this.#taken - offset;
      if (known >= bytes.length) continue;
      this.#taken = next;
      onBytes(Buffer.from(bytes.subarray(Math.max(0, known))));
    }
  }

  /**
   * Reserves the file's memory now: later, when the child writes, other users may have filled it. The bytes written
   * here are not a valid record.
   */
  #takePlace(fd: number): void {
    const written = writeSync(fd, this.#buffer.fill(255), 0, JOURNAL_BYTES, 0);
    if (written !== JOURNAL_BYTES) throw new Error('there is no room for a journal');
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
