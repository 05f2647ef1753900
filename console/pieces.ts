/** Plots show five minutes, in pieces of five seconds. */
export const PIECE_MS = 5_000;
const PIECES = 60;

/** Keeps recent records, in pieces of time. */
export class Pieces<Piece> {
  readonly #make: () => Piece;
  readonly #pieces = new Map<number, Piece>();

  constructor(make: () => Piece) {
    this.#make = make;
  }

  /** The current piece. */
  now(): Piece {
    const number = Math.floor(Date.now() / PIECE_MS);
    const known = this.#pieces.get(number);
    if (known !== undefined) return known;
    for (const old of this.#pieces.keys()) if (old < number - PIECES) this.#pieces.delete(old);
    const made = this.#make();
    this.#pieces.set(number, made);
    return made;
  }

  /** The times of all pieces, in seconds, and the pieces; undefined for a piece without records. */
  all(): [moments: number[], pieces: (Piece | undefined)[]] {
    const last = Math.floor(Date.now() / PIECE_MS);
    const numbers = Array.from({ length: PIECES }, (_, index) => last - PIECES + 1 + index);
    return [numbers.map((number) => (number * PIECE_MS) / 1_000), numbers.map((number) => this.#pieces.get(number))];
  }

  /** The pieces of the last minute. */
  lastMinute(): Piece[] {
    const since = Math.floor((Date.now() - 60_000) / PIECE_MS);
    return [...this.#pieces].flatMap(([number, piece]) => (number < since ? [] : [piece]));
  }
}
