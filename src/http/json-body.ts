import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { type IntegerReading, parseJson } from '../domain/json/json-text.ts';

const BYTE_ORDER_MARK = '\u{feff}';
/** A value costs the main loop as much as many bytes do. No request that a chain takes has as many. */
const MOST_VALUES = 20_000;
/** Of a plugin call, whose body is only handed on. */
const MOST_PLUGIN_VALUES = 100_000;
const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:$|[\s;])/i;

/**
 * Reads bodies as JSON, and only such as say that they are: another content type is 415. An empty body is `undefined`,
 * since clients name the type also where they send nothing.
 */
export function acceptJson(app: FastifyInstance): void {
  accept(app, [JSON_TYPES], (body) => readJson(body, 'exact', MOST_VALUES));
}

/**
 * Reads every body as JSON, whatever it says it is, with numbers as guest code will see them. An empty body is
 * `undefined`.
 */
export function acceptAnythingAsJson(app: FastifyInstance): void {
  // Fastify finds a type's own parser at once, and takes the type apart each time before it takes that of all others.
  accept(app, ['application/json', '*'], (body) => readJson(body, 'plain', MOST_PLUGIN_VALUES));
}

function accept(app: FastifyInstance, types: readonly (RegExp | string)[], read: (body: Buffer) => unknown): void {
  app.removeAllContentTypeParsers();
  for (const type of types) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body: Buffer, done) => done(null, read(body)));
  }
  // A compressed body would otherwise be refused as malformed JSON, which tells its sender nothing.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') done(null);
    else done(new AppError('UNSUPPORTED_MEDIA_TYPE', { type: `content-encoding ${encoding}` }));
  });
}

/** RFC 8259, section 8.1: JSON on the wire is UTF-8; a byte order mark is ignored. Nothing is `undefined`. */
function readJson(body: Buffer, integers: IntegerReading, mostValues: number): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw invalidRequest('Invalid JSON: the body is not UTF-8');
  const text = body.toString('utf8');
  return parseJson(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, integers, mostValues);
}

/** The parsed body of a request that needs one. */
export function bodyOf(request: FastifyRequest): unknown {
  if (request.body === undefined) throw invalidRequest('The body is missing: send a JSON object');
  return request.body;
}

/** For what takes no body: whoever sends one means it to narrow down what happens, and it would not. */
export function assertNoBody({ body }: FastifyRequest): void {
  if (body == null || (typeof body === 'object' && Object.keys(body).length === 0)) return;
  throw invalidRequest('This takes no body, and what the one that came says would not be heeded: send none');
}
