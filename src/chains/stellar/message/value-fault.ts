/** A fault in the argument of a contract, and its place in the argument. */
export class ValueFault extends Error {
  readonly path: readonly PropertyKey[];

  constructor(message: string, path: readonly PropertyKey[] = []) {
    super(message);
    this.name = 'ValueFault';
    this.path = path;
  }
}

/** Reads a part of a value. A fault in the part is thrown with the place of the part. */
export function within<T>(key: PropertyKey, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueFault) throw new ValueFault(error.message, [key, ...error.path]);
    throw error;
  }
}
