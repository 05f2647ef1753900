/** Names with a legacy code (Web IDL 2.8.1). */
const CODES: Readonly<Record<string, number>> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25,
};

/** The error class of the web APIs (Web IDL 2.8). */
export class DOMException extends Error {
  readonly #name: string;

  constructor(message = '', nameOrOptions: string | { name?: string; cause?: unknown } = 'Error') {
    const options = typeof nameOrOptions === 'object' ? nameOrOptions : { name: nameOrOptions };
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.#name = String(options.name ?? 'Error');
  }

  override get name(): string {
    return this.#name;
  }

  get code(): number {
    return CODES[this.#name] ?? 0;
  }

  get [Symbol.toStringTag](): string {
    return 'DOMException';
  }
}
