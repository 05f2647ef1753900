import { Buffer } from 'buffer/index.js';

type ToText = (encoding?: string, start?: number, end?: number) => string;

type From = (value: unknown, encodingOrOffset?: unknown, length?: unknown) => Buffer;

/**
 * Node's Buffer by the package of that name, which browsers' bundles carry too, with the one encoding of Node's that it
 * lacks, base64url (RFC 4648, section 5).
 */
export function createBufferClass(): typeof Buffer {
  const original = {
    from: Buffer.from as From,
    isEncoding: Buffer.isEncoding,
    byteLength: Buffer.byteLength as (value: unknown, encoding?: string) => number,
    toString: Buffer.prototype.toString satisfies ToText,
    write: Buffer.prototype.write as (text: string, ...rest: unknown[]) => number,
  };
  const methods = {
    // It reads both alphabets; only the name is unknown to it.
    from: (value: unknown, encodingOrOffset?: unknown, length?: unknown) =>
      original.from(value, isUrlSafe(encodingOrOffset) ? 'base64' : encodingOrOffset, length),
    isEncoding: (encoding: unknown) => isUrlSafe(encoding) || original.isEncoding(encoding as string),
    byteLength: (value: unknown, encoding?: string) =>
      original.byteLength(value, isUrlSafe(encoding) ? 'base64' : encoding),
  };
  const prototype = {
    toString(this: Buffer, encoding?: string, start?: number, end?: number): string {
      if (!isUrlSafe(encoding)) return Reflect.apply(original.toString, this, [encoding, start, end]);
      const text = Reflect.apply(original.toString, this, ['base64', start, end]);
      return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    },
    write(this: Buffer, text: string, ...rest: unknown[]): number {
      return Reflect.apply(original.write, this, [text, ...rest.map((given) => (isUrlSafe(given) ? 'base64' : given))]);
    },
  };
  // The bundler has more than one of that name.
  Object.defineProperty(Buffer, 'name', { value: 'Buffer', configurable: true });
  define(Buffer, methods);
  define(Buffer.prototype, prototype);
  return Buffer;
}

function isUrlSafe(encoding: unknown): boolean {
  return typeof encoding === 'string' && encoding.toLowerCase() === 'base64url';
}

function define(target: object, methods: object): void {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
  }
}
