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

/** The plugin's own ethers, which the compiler finds: version 5 before 6, or the one that the plugin itself imports. */
declare module 'isolayer:ethers-5' {
  /** 0 where the plugin has none. */
  export const version: 0 | 5 | 6;
}

declare module 'isolayer:ethers' {
  export const version: 0 | 5 | 6;
}
