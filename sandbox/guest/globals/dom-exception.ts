import { conformToWebIdl } from './web-idl.ts';

/**
 * The constants of the legacy codes, each with its error name if it has one. The codes count from one (Web IDL 2.8.1
 * and 3.14.1).
 */
const CONSTANTS = [
  ['INDEX_SIZE_ERR', 'IndexSizeError'],
  ['DOMSTRING_SIZE_ERR', ''],
  ['HIERARCHY_REQUEST_ERR', 'HierarchyRequestError'],
  ['WRONG_DOCUMENT_ERR', 'WrongDocumentError'],
  ['INVALID_CHARACTER_ERR', 'InvalidCharacterError'],
  ['NO_DATA_ALLOWED_ERR', ''],
  ['NO_MODIFICATION_ALLOWED_ERR', 'NoModificationAllowedError'],
  ['NOT_FOUND_ERR', 'NotFoundError'],
  ['NOT_SUPPORTED_ERR', 'NotSupportedError'],
  ['INUSE_ATTRIBUTE_ERR', 'InUseAttributeError'],
  ['INVALID_STATE_ERR', 'InvalidStateError'],
  ['SYNTAX_ERR', 'SyntaxError'],
  ['INVALID_MODIFICATION_ERR', 'InvalidModificationError'],
  ['NAMESPACE_ERR', 'NamespaceError'],
  ['INVALID_ACCESS_ERR', 'InvalidAccessError'],
  ['VALIDATION_ERR', ''],
  ['TYPE_MISMATCH_ERR', 'TypeMismatchError'],
  ['SECURITY_ERR', 'SecurityError'],
  ['NETWORK_ERR', 'NetworkError'],
  ['ABORT_ERR', 'AbortError'],
  ['URL_MISMATCH_ERR', 'URLMismatchError'],
  ['QUOTA_EXCEEDED_ERR', 'QuotaExceededError'],
  ['TIMEOUT_ERR', 'TimeoutError'],
  ['INVALID_NODE_TYPE_ERR', 'InvalidNodeTypeError'],
  ['DATA_CLONE_ERR', 'DataCloneError'],
] as const;
const CODES: ReadonlyMap<string, number> = new Map(CONSTANTS.map(([, name], index) => [name, index + 1]));

interface Fields {
  readonly name: string;
  readonly message: string;
}

const FIELDS = new WeakMap<object, Fields>();

function fieldsOf(exception: object): Fields {
  const fields = FIELDS.get(exception);
  if (fields === undefined) throw new TypeError('Illegal invocation');
  return fields;
}

/**
 * The class DOMException. Its objects are errors to the engine, but the class itself inherits from nothing, as in Web
 * IDL.
 */
class Exception {
  constructor(message: unknown = '', nameOrOptions: unknown = 'Error') {
    const isOptions = typeof nameOrOptions === 'object' && nameOrOptions !== null;
    const options: { name?: unknown; cause?: unknown } = isOptions ? nameOrOptions : { name: nameOrOptions };
    const fields = {
      name: options.name === undefined ? 'Error' : `${options.name as string}`,
      message: `${message as string}`,
    };
    // The engine writes the message into the stack. After that, the prototype's getter gives the message.
    const cause = 'cause' in options ? { cause: options.cause } : undefined;
    const error = Reflect.construct(Error, [fields.message, cause], new.target) as Exception;
    Reflect.deleteProperty(error, 'message');
    FIELDS.set(error, fields);
    // oxlint-disable-next-line no-constructor-return -- only the engine makes an error
    return error;
  }

  get name(): string {
    return fieldsOf(this).name;
  }

  get message(): string {
    return fieldsOf(this).message;
  }

  get code(): number {
    const { name } = fieldsOf(this);
    return name === '' ? 0 : (CODES.get(name) ?? 0);
  }

  static {
    for (const [index, [name]] of CONSTANTS.entries()) {
      const constant = { value: index + 1, enumerable: true };
      Object.defineProperty(this, name, constant);
      Object.defineProperty(this.prototype, name, constant);
    }
  }
}

Object.setPrototypeOf(Exception.prototype, Error.prototype);
Object.defineProperty(Exception, 'name', { value: 'DOMException', configurable: true });
Object.defineProperty(Exception, 'length', { value: 0, configurable: true });
conformToWebIdl(Exception);

/** An object of {@link DOMException}. */
export type DOMException = Error & { readonly code: number };

/** The error class of the web APIs (Web IDL 2.8). */
export const DOMException = Exception as unknown as {
  readonly prototype: DOMException;
  new (message?: unknown, nameOrOptions?: unknown): DOMException;
};
