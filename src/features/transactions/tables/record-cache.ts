import { randomInt } from 'node:crypto';

/** How many records are remembered. The least recently read are forgotten first. */
const MAX = 1_000;
/** Rows with more text than this are parsed each time, so that the memory for records stays small. */
const MAX_TEXT = 16_384;

/**
 * Reads rows into records, and returns the same record again while its row is unchanged. Clients ask for one
 * transaction until it ends, and each request asks for its relayer. Callers must not change such a record.
 */
export class RecordCache<Row extends { id: string }, Rec> {
  readonly #read: (row: Row) => Rec;
  /** Least recently read first. */
  readonly #known = new Map<string, { row: Row; record: Rec }>();

  constructor(read: (row: Row) => Rec) {
    this.#read = read;
  }

  record(row: Row): Rec {
    const known = this.known(row);
    if (known !== undefined) return known;
    this.#known.delete(row.id);
    const record = this.#read(row);
    if (textOf(row) > MAX_TEXT) return record;
    this.#known.set(row.id, { row, record });
    const [oldest] = this.#known.size > MAX ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return record;
  }

  /**
   * Reads the record with this id. While its row is unchanged, that takes only its mark: columns of which one changes
   * with each write of the row. Each function returns one row or none.
   */
  async find(
    id: string,
    readMark: () => Promise<(Pick<Row, 'id'> & Partial<Row>)[]>,
    readRow: () => Promise<Row[]>,
  ): Promise<Rec | undefined> {
    if (this.#known.has(id)) {
      const [mark] = await readMark();
      const known = mark && this.known(mark);
      if (known !== undefined || mark === undefined) return known;
    }
    const [row] = await readRow();
    return row && this.record(row);
  }

  /**
   * Returns the remembered record of a row if these columns are unchanged. With only some of the columns, the record is
   * right only if one of them changes with each write of the row.
   */
  known(columns: Pick<Row, 'id'> & Partial<Row>): Rec | undefined {
    const known = this.#known.get(columns.id);
    if (known === undefined || !isSame(known.row, columns)) return undefined;
    this.#known.delete(columns.id);
    this.#known.set(columns.id, known);
    return known.record;
  }
}

/**
 * A new random revision of a row, so that no two writes share one. With a counter, a write could get the number of an
 * earlier write that was rolled back.
 */
export function newRevision(): number {
  return randomInt(2 ** 48 - 1);
}

function isSame(one: object, other: object): boolean {
  const [before, now] = [one, other] as Record<string, unknown>[];
  return Object.keys(other).every((column) => before?.[column] === now?.[column]);
}

/** Length of a row's texts, in UTF-16 code units. */
function textOf(row: object): number {
  return Object.values(row).reduce((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
