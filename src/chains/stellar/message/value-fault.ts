/** What is wrong with a value that a contract is to be given, and where in it. */
export class ValueFault extends Error {
  readonly path: readonly PropertyKey[];

  constructor(message: string, path: readonly PropertyKey[] = []) {
    super(message);
    this.name = 'ValueFault';
    this.path = path;
  }
}

/** Reads a part of a value; what is wrong in it is told with its place. */
export function within<T>(key: PropertyKey, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueFault) throw new ValueFault(error.message, [key, ...error.path]);
    throw error;
  }
}
