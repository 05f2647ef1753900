import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { JOURNAL_BYTES, JOURNAL_HEADER_BYTES } from '../protocol.ts';

/** Notes what was collected for the channel and has not left yet, see {@link JOURNAL_FD}. */
export class Journal {
  readonly #fd: number;
  readonly #record = Buffer.allocUnsafeSlow(JOURNAL_BYTES);
  #noted = 0;
  #at = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Notes what of the first `used` bytes of the outbox is not noted yet.
   * @param sent bytes that have left this process before those
   * @returns false when there is no room for it
   */
  note(sent: number, outbox: Buffer, used: number): boolean {
    const bytes = used - this.#noted;
    const recordBytes = JOURNAL_HEADER_BYTES + bytes;
    if (this.#at + recordBytes > JOURNAL_BYTES) return false;
    const record = this.#record;
    outbox.copy(record, JOURNAL_HEADER_BYTES, this.#noted, used);
    record.writeDoubleBE(sent + this.#noted, 0);
    record.writeUInt32BE(bytes, 8);
    record.writeUInt32BE(crc32(record.subarray(JOURNAL_HEADER_BYTES, recordBytes)), 12);
    // A file in memory takes it whole.
    if (writeSync(this.#fd, record, 0, recordBytes, this.#at) !== recordBytes) return false;
    this.#at += recordBytes;
    this.#noted = used;
    return true;
  }

  /** All that was noted leaves now. */
  clear(): void {
    this.#noted = 0;
    this.#at = 0;
  }
}
