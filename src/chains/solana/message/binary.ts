/** The most that a compact-u16 holds. */
const MOST = 0xffff;

/** Reads bytes from the first to the last, and never past the end. Its user chooses the class of its errors. */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #Fault: new (
    text: string,
  ) => Error;
  #place = 0;

  /** @param Fault the class of the error for bytes that do not have the expected form; its text is the reason */
  constructor(bytes: Buffer, Fault: new (text: string) => Error) {
    this.#bytes = bytes;
    this.#Fault = Fault;
  }

  /** The next bytes, not copied. */
  take(count: number): Buffer {
    const left = this.#bytes.length - this.#place;
    if (count > left) throw new this.#Fault(`it ends too early, ${left} bytes are left where ${count} are needed`);
    this.#place += count;
    return this.#bytes.subarray(this.#place - count, this.#place);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  /** Solana's compact-u16: seven bits a byte, the lowest first, in as few bytes as can be. */
  shortvec(): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if ((byte === 0 && shift > 0) || value > MOST) break;
      return value;
    }
    throw new this.#Fault('a length in it is no canonical compact-u16');
  }

  /** Reads this many items, one after the other. */
  list<T>(count: number, read: () => T): T[] {
    const things: T[] = [];
    while (things.length < count) things.push(read());
    return things;
  }

  /** The bytes that are left. */
  rest(): Buffer {
    return this.take(this.#bytes.length - this.#place);
  }

  /** Checks that no bytes are left. */
  end(): void {
    const left = this.#bytes.length - this.#place;
    if (left > 0) throw new this.#Fault(`it goes on after its end, for ${left} bytes`);
  }
}

/** Gathers bytes. @throws RangeError for a number that its form cannot hold */
export class ByteWriter {
  readonly #parts: Uint8Array[] = [];

  byte(value: number): this {
    return this.bytes([within(value, 0xff)]);
  }

  /** The form of {@link ByteReader.shortvec}. */
  shortvec(value: number): this {
    const bytes: number[] = [];
    let rest = within(value, MOST);
    for (; rest >= 0x80; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
    return this.bytes([...bytes, rest]);
  }

  bytes(bytes: Uint8Array | readonly number[]): this {
    this.#parts.push(Uint8Array.from(bytes));
    return this;
  }

  /** Writes the count of the numbers, then each number as one byte. */
  indexes(indexes: readonly number[]): this {
    this.shortvec(indexes.length);
    for (const index of indexes) this.byte(index);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function within(value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new RangeError(`${value} is not within 0 to ${most}`);
  return value;
}
