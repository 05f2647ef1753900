import { hash } from 'node:crypto';
import { TypedDataEncoder, type TypedDataField } from 'ethers/hash';
import { z } from 'zod';
import { invalidRequest } from '../../../domain/errors.ts';
import { parseRequestForm } from '../../request-form.ts';

const digest = z
  .string()
  .meta({ pattern: '^(0x)?[0-9a-fA-F]{64}$', description: '32 bytes in hexadecimal, 0x optional' });
const digestsSchema = z.strictObject({ domain_separator: digest, hash_struct_message: digest });

const name = z.string().max(256);
const fieldSchema = z.strictObject({ name, type: name });
/** The most fields of a struct. No struct of a contract has so many. */
const MAX_FIELDS = 1_024;

const MAX_TYPES = 24;
/** Ethers follows every path from the primary type into the others. 24 types can have millions of paths. */
const MAX_WAYS = 1_024;
const MAX_DATA = 65_536;
/** Values, structs and lists are hashed one by one, which blocks the thread of all requests. */
const MAX_VALUES = 1_024;

/** The form of `eth_signTypedData_v4`. */
const wholeSchema = z.strictObject({
  domain: z.record(z.string(), z.unknown()).meta({
    description: `Only fields of EIP-712, or those that types.EIP712Domain declares; at most ${MAX_VALUES} structs and lists`,
  }),
  types: z.record(z.string(), z.array(fieldSchema).max(MAX_FIELDS)).meta({
    maxProperties: MAX_TYPES,
    description: `All types that the message uses; at most ${MAX_WAYS} paths lead through them. Domain, types and message have at most ${MAX_DATA} characters`,
  }),
  primaryType: name,
  message: z.record(z.string(), z.unknown()),
});

/** Both forms, for the description of the API. */
export const typedDataSchema: z.ZodType = z.union([digestsSchema, wholeSchema]);

/** The fields that a domain may have, in the order of EIP-712. */
const DOMAIN_TYPES: ReadonlyMap<string, string> = new Map([
  ['name', 'string'],
  ['version', 'string'],
  ['chainId', 'uint256'],
  ['verifyingContract', 'address'],
  ['salt', 'bytes32'],
]);

/** The error for a body with neither form. It begins as the reference's answer does. */
const NEITHER =
  'missing field `domain_separator`: expected domain_separator and hash_struct_message, or domain, types, primaryType ' +
  'and message';

/** How many characters of a client's own text may stand in a reason. */
const MAX_SHOWN = 64;

/**
 * The digest of typed data (EIP-712). It is made from the domain separator and the hash of the message if these are
 * given, else from the whole.
 * @throws AppError `INVALID_REQUEST`, for digests with the reference's texts
 */
export function typedDataDigest(body: unknown): Buffer {
  const [domain, message] = isWhole(body) ? hashesOf(body) : givenHashes(body);
  return hash('keccak-256', Buffer.concat([Buffer.from('1901', 'hex'), domain, message]), 'buffer');
}

/**
 * Whether a body has the whole form: no digest, and some field of that form. A body without any field of either form is
 * refused with the text for both.
 */
function isWhole(body: unknown): body is object {
  if (typeof body !== 'object' || body === null) return false;
  if (Object.keys(digestsSchema.shape).some((key) => key in body)) return false;
  if (Object.keys(wholeSchema.shape).some((key) => key in body)) return true;
  throw invalidRequest(NEITHER);
}

function givenHashes(body: unknown): [Buffer, Buffer] {
  const { domain_separator: domain, hash_struct_message: message } = parseRequestForm(digestsSchema, body);
  return [
    readHash(domain, 'domain separator', 'domain separator'),
    readHash(message, 'hash struct message', 'hash struct'),
  ];
}

/** @param called the name in texts on digits; `measured` is the name in texts on the length, as in the reference */
function readHash(text: string, called: string, measured: string): Buffer {
  const digits = text.replace(/^0x/, '');
  const position = digits.search(/[^0-9a-fA-F]/);
  if (position !== -1) {
    const found = String.fromCodePoint(digits.codePointAt(position) ?? 0);
    const input = `${[...text].slice(0, 16).join('')}...`;
    throw refused(
      `Invalid ${called} hex: non-hexadecimal character '${found}' at position ${position} (input: ${input})`,
    );
  }
  if (digits.length % 2 === 1) throw refused(`Invalid ${called} hex: odd number of digits`);
  const bytes = Buffer.from(digits, 'hex');
  if (bytes.length !== 32) throw refused(`Invalid ${measured} length: expected 32 bytes, got ${bytes.length}`);
  return bytes;
}

function refused(reason: string): Error {
  return invalidRequest(`Failed to sign transaction: ${reason}`);
}

type Types = Record<string, TypedDataField[]>;

function hashesOf(body: object): [Buffer, Buffer] {
  checkExtent(body);
  const { domain, types, primaryType, message } = parseRequestForm(wholeSchema, body);
  const { EIP712Domain: declared, ...others } = types;
  const ofDomain = declared ?? domainFields(domain);
  checkDomainKeys(domain, ofDomain, declared !== undefined);
  return [
    hashOf('domain', 'EIP712Domain', { EIP712Domain: ofDomain }, domain),
    hashOf('message', primaryType, reachable(others, primaryType), message),
  ];
}

/** Checks the size before the form, because reading the form of large data takes long. */
function checkExtent(body: object): void {
  const { domain, types, message }: { domain?: unknown; types?: unknown; message?: unknown } = body;
  if (typeof types === 'object' && types !== null && Object.keys(types).length > MAX_TYPES) {
    throw invalidRequest(`\`types\` has more than ${MAX_TYPES} types`);
  }
  if (JSON.stringify([domain, types, message]).length > MAX_DATA) {
    throw invalidRequest(`The typed data are longer than ${MAX_DATA} characters`);
  }
  for (const [place, value] of Object.entries({ domain, message })) {
    if (groupsIn(value) > MAX_VALUES) {
      throw invalidRequest(`\`${place}\` has more than ${MAX_VALUES} structs and lists`);
    }
  }
}

/** How many objects and lists a value has. */
function groupsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, inner) => count + groupsIn(inner), 1);
}

/** The fields that a domain has, in the order of EIP-712. */
function domainFields(domain: Record<string, unknown>): TypedDataField[] {
  return [...DOMAIN_TYPES].filter(([name]) => domain[name] !== undefined).map(([name, type]) => ({ name, type }));
}

/**
 * Refuses unknown keys. A misspelt key would be left out of what is signed, and the signature would hold elsewhere too.
 */
function checkDomainKeys(domain: object, fields: readonly TypedDataField[], isDeclared: boolean): void {
  const known = new Set(isDeclared ? fields.map(({ name }) => name) : DOMAIN_TYPES.keys());
  const key = Object.keys(domain).find((one) => !known.has(one));
  if (key === undefined) return;
  const place = `\`domain\` has the unknown key \`${key.slice(0, MAX_SHOWN)}\``;
  throw invalidRequest(
    isDeclared
      ? `${place}; types.EIP712Domain does not name it`
      : `${place}; EIP-712 knows ${[...DOMAIN_TYPES.keys()].join(', ')} (or declare it in types.EIP712Domain)`,
  );
}

/** The types that a type is made of. Unused types are left out: EIP-712 allows them, but ethers refuses them. */
function reachable(types: Types, primaryType: string): Types {
  const found: Types = {};
  const waysThrough = new Map<string, number>();
  /** Returns how many paths lead on from a type. Cycles need no check here: ethers refuses them at once. */
  const add = (name: string): number => {
    const known = waysThrough.get(name);
    if (known !== undefined) return known;
    const fields = Object.hasOwn(types, name) ? types[name] : undefined;
    if (fields === undefined) throw invalidRequest(`\`types\` has no \`${name.slice(0, MAX_SHOWN)}\``);
    found[name] = fields;
    waysThrough.set(name, 1);
    const elements = new Set(fields.map(({ type }) => type.replace(/\[.*$/, '')));
    let ways = 1;
    for (const element of elements) {
      if (Object.hasOwn(types, element) || !ELEMENTARY.test(element)) ways += add(element);
    }
    if (ways > MAX_WAYS) throw invalidRequest('`types` refer to each other in too many ways');
    waysThrough.set(name, ways);
    return ways;
  };
  add(primaryType);
  return found;
}

/** Reads the types once. Ethers itself would read them from text for every struct. */
class Encoder extends TypedDataEncoder {
  #read: Types | undefined;

  override get types(): Types {
    this.#read ??= super.types;
    return this.#read;
  }

  /** Refuses a value that is no object for a struct: a struct without fields would take anything. */
  override _visit(...[type, value, look]: Parameters<TypedDataEncoder['_visit']>): unknown {
    if (Object.hasOwn(this.types, type) && (typeof value !== 'object' || value === null))
      throw new Unfit('a struct is of another kind');
    return super._visit(type, value, look);
  }
}

/** Matches any width. Ethers checks which widths exist. */
const ELEMENTARY = /^(address|bool|string|bytes\d*|u?int\d*)$/;

function hashOf(place: string, name: string, types: Types, value: Record<string, unknown>): Buffer {
  try {
    const encoder = new Encoder(types);
    encoder.visit(value, counting(assertNoGuess));
    return Buffer.from(encoder.hashStruct(name, value).slice(2), 'hex');
  } catch (error) {
    throw invalidRequest(`\`${place}\` does not fit its type: ${reasonOf(error)}`, error);
  }
}

/** A reason of our own why a value is not what its type says. */
class Unfit extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof Unfit) return error.message;
  // The long message of ethers has the whole value in it.
  const short = error instanceof Error && 'shortMessage' in error ? error.shortMessage : undefined;
  return typeof short === 'string' ? short.slice(0, 200) : 'a list or a struct is of another kind';
}

function counting(look: (type: string, value: unknown) => unknown): (type: string, value: unknown) => unknown {
  let count = 0;
  return (type, value) => {
    count += 1;
    if (count > MAX_VALUES) throw new Unfit(`it has more than ${MAX_VALUES} values`);
    return look(type, value);
  };
}

/**
 * Refuses values that ethers would guess: it takes an absent bool for false, and the text "false" for true. So only
 * what was sent is signed.
 */
function assertNoGuess(type: string, value: unknown): unknown {
  if (value === undefined || value === null) throw new Unfit(`a ${type} is missing`);
  if (type === 'bool' && typeof value !== 'boolean') throw new Unfit('a bool is neither true nor false');
  return value;
}
