import * as punycode from 'unenv/node/punycode';
import { format as formatted, Url } from 'unenv/node/url';

// The package's own functions warn of themselves, as Node does; but who calls them here is another package, mostly.

/** In the order in which Node shows them. */
const FIELDS = 'protocol slashes auth host port hostname hash search query pathname path href'.split(' ');

function parse(url: unknown, parseQuery: unknown = false, slashesDenoteHost: unknown = false): Url {
  if (url instanceof Url) return url;
  const parsed = new Url().parse(url, parseQuery, slashesDenoteHost) as Url & Record<string, unknown>;
  for (const field of FIELDS) {
    const value = parsed[field];
    Reflect.deleteProperty(parsed, field);
    parsed[field] = value;
  }
  return parsed;
}

function resolveObject(from: unknown, to: unknown): unknown {
  return from ? parse(from, false, true).resolveObject(to) : to;
}

const resolve = (from: unknown, to: unknown): string => parse(from, false, true).resolveObject(to).format();

function format(url: unknown, options?: unknown): string {
  return typeof url === 'string' ? parse(url).format() : formatted(url, options);
}

Url.prototype.resolve = function (to) {
  return this.resolveObject(to).format();
};

/** What Node's module `url` has beside the web's classes, and `punycode`. */
export function part(): Record<string, unknown> {
  return { Url, parse, format, resolve, resolveObject, punycode: { ...punycode.default } };
}
