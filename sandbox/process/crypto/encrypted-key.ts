import { Refusal } from './question.ts';

/** Most rounds that a file may ask for. Once started, the rounds cannot be stopped. */
const MAX_ROUNDS = 400_000;
/** Most work that scrypt may take: cost times block size times parallel runs. */
const MAX_SCRYPT = 2 ** 20;

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;
const OBJECT = 0x06;

const OID = {
  pbes2: '2a864886f70d01050d',
  pbkdf2: '2a864886f70d01050c',
  scrypt: '2b06010401da47040b',
};

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/**
 * Checks how an encrypted private key (RFC 5958 EncryptedPrivateKeyInfo with RFC 8018 PBES2) wants its password
 * stretched. Refuses a key that would take long, or whose method is not known.
 */
export function checkEncryptedKey(der: Buffer): void {
  const [algorithm] = elements(only(elements(der), SEQUENCE));
  const [scheme, parameters] = elements(expect(algorithm, SEQUENCE));
  if (expect(scheme, OBJECT).toString('hex') !== OID.pbes2) throw new Refusal('The key is encrypted in no known way');
  const [derivation] = elements(expect(parameters, SEQUENCE));
  const [name, settings] = elements(expect(derivation, SEQUENCE));
  const [salt, ...numbers] = elements(expect(settings, SEQUENCE));
  expect(salt, OCTETS);
  const [first = 0, ...rest] = numbers.filter(({ tag }) => tag === INTEGER).map(({ content }) => whole(content));
  switch (expect(name, OBJECT).toString('hex')) {
    case OID.pbkdf2:
      if (first > MAX_ROUNDS) throw new Refusal(`The key's password is stretched in more than ${MAX_ROUNDS} rounds`);
      return;
    case OID.scrypt:
      if (rest.slice(0, 2).reduce((product, one) => product * one, first) > MAX_SCRYPT)
        throw new Refusal("The key's password is stretched beyond what this process does");
      return;
    default:
      throw new Refusal("The key's password is stretched in no known way");
  }
}

/** Reads consecutive DER elements. Refuses lengths that DER does not allow. */
function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const short = bytes[at + 1] ?? 0x80;
    const more = short < 0x80 ? 0 : short - 0x80;
    if (short >= 0x80 && (more === 0 || more > 3)) throw new Refusal('The key is not in DER');
    const begin = at + 2 + more;
    const length = more === 0 ? short : bytes.subarray(at + 2, begin).reduce((sum, byte) => sum * 256 + byte, 0);
    if (begin + length > bytes.length) throw new Refusal('The key is cut short');
    found.push({ tag, content: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return found;
}

function only(found: readonly Element[], tag: number): Buffer {
  if (found.length !== 1) throw new Refusal('The key is more than one');
  return expect(found[0], tag);
}

function expect(element: Element | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new Refusal('The key is encrypted in no known way');
  return element.content;
}

/** Reads a whole number. One of more than 5 bytes counts as infinite: it exceeds every limit. */
function whole(content: Buffer): number {
  return content.length > 5 ? Number.POSITIVE_INFINITY : content.reduce((sum, byte) => sum * 256 + byte, 0);
}
