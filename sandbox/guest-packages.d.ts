/** Types for packages that have none, or that use Node's types. */

declare module 'readable-stream/lib/stream.js' {
  const Stream: Record<string, unknown>;
  export default Stream;
}

declare module 'node-inspect-extracted' {
  export function inspect(value: unknown, options?: unknown): string;
  export function format(...values: unknown[]): string;
  export function formatWithOptions(options: unknown, ...values: unknown[]): string;
  export function stripVTControlCharacters(text: string): string;
}

declare module 'unenv/node/url' {
  export class Url {
    parse(url: unknown, parseQuery: unknown, slashesDenoteHost: unknown): this;
    resolve(to: unknown): string;
    resolveObject(to: unknown): Url;
    format(): string;
  }
  export function format(url: unknown, options: unknown): string;
}

declare module 'unenv/node/querystring' {
  const querystring: Record<string, unknown>;
  export default querystring;
}

declare module 'unenv/node/punycode' {
  const punycode: Record<string, unknown>;
  export default punycode;
}
