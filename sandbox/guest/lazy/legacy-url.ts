import * as punycode from 'unenv/node/punycode';
import { format as formatted, Url } from 'unenv/node/url';

// Replaces the package's own functions, which print a warning about themselves, as Node's do. Here mostly other
// packages call them.

/** The fields of a URL, in the order in which Node shows them. */
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

/** The members of Node's module `url` beside the web's classes, and `punycode`. */
export function create(): Record<string, unknown> {
  return { Url, parse, format, resolve, resolveObject, punycode: { ...punycode.default } };
}
