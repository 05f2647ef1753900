import { writeSync } from 'node:fs';
import { JOURNAL_BYTES, JOURNAL_HEADER_BYTES } from '../protocol.ts';
import { nodeZlib } from './late-modules.ts';

/** Notes frames that were collected for the channel and have not left yet, see {@link JOURNAL_FD}. */
export class Journal {
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
