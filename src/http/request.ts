import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { type IntegerReading, parseJson } from '../domain/json/json-text.ts';
import { Access } from '../features/api-keys/records/access.ts';
import { configOf } from './routing.ts';

/** Returns the access of the request's key. */
export function accessOf({ identity }: FastifyRequest): Access {
  return identity?.access ?? NO_ACCESS;
}

const NO_ACCESS = new Access([]);

const SHORT_PRINTABLE = /^[\x21-\x7e]{1,128}$/;

/**
 * Returns the caller's `x-request-id` if it is short printable ASCII and so can be logged. Otherwise returns a new id.
 */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SHORT_PRINTABLE.test(given) ? given : newId();
}

/** The rest of a plugin's path. It is left unchanged for the plugin. */
const TAIL = '*';

/**
 * Replaces NUL and lone surrogates in the parameters of path and query with U+FFFD, because no database stores them as
 * text. No id contains these characters, so they are answered like any unknown id. A plugin gets its query unchanged.
 */
export function makeParametersStorable(app: FastifyInstance): void {
  app.addHook<{ Params: Parameters; Querystring: Parameters }>('preValidation', (request, _reply, done) => {
    makeStorable(request.params);
    if (configOf(request).runsPlugin !== true) makeStorable(request.query);
    done();
  });
}

type Parameters = Record<string, unknown>;

function makeStorable(parameters: Parameters): void {
  for (const name in parameters) {
    const value = parameters[name];
    if (name === TAIL || typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))) continue;
    parameters[name] = value.toWellFormed().replaceAll('\0', '\u{fffd}');
  }
}

const BYTE_ORDER_MARK = '\u{feff}';

/**
 * The most JSON values in a body. Parsing a value takes the main loop as long as many bytes do. No request that a chain
 * accepts has this many values.
 */
export const MAX_VALUES = 20_000;

/** The most JSON values in the body of a plugin call. The service does not process this body, it only passes it on. */
export const MAX_PLUGIN_VALUES = 100_000;

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:$|[\s;])/i;

/**
 * Reads bodies whose content type is JSON. Any other content type is 415. An empty body is `undefined`, because some
 * clients send the content type without a body.
 */
export function acceptJson(app: FastifyInstance): void {
  accept(app, [JSON_TYPES], (body) => readJson(body, 'exact', MAX_VALUES));
}

/**
 * Reads every body as JSON, whatever its content type. Numbers are read the way guest code sees them. An empty body is
 * `undefined`.
 */
export function acceptAnythingAsJson(app: FastifyInstance): void {
  // `application/json` is listed for speed. Fastify finds a parser of the exact type at once. Before it falls back to
  // `*`, it parses the content type of each request.
  accept(app, ['application/json', '*'], (body) => readJson(body, 'plain', MAX_PLUGIN_VALUES));
}

function accept(app: FastifyInstance, types: readonly (RegExp | string)[], read: (body: Buffer) => unknown): void {
  app.removeAllContentTypeParsers();
  for (const type of types) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body: Buffer, done) => done(null, read(body)));
  }
  // Refuses compressed bodies by name. As JSON they would be refused as malformed, which does not help the sender.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') done(null);
    else done(new AppError('UNSUPPORTED_MEDIA_TYPE', { type: `content-encoding ${encoding}` }));
  });
}

/** Leaves every body as the bytes that arrived, which are what is signed. */
export function acceptBytes(app: FastifyInstance, mostBytes: number): void {
  app.removeAllContentTypeParsers();
  const asIs = { parseAs: 'buffer', bodyLimit: mostBytes } as const;
  app.addContentTypeParser('*', asIs, (_request, body: Buffer, done) => done(null, body));
}

/** Reads JSON as UTF-8 and ignores a byte order mark (RFC 8259, section 8.1). An empty body is `undefined`. */
function readJson(body: Buffer, integers: IntegerReading, mostValues: number): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw invalidRequest('Invalid JSON: the body is not UTF-8');
  const text = body.toString('utf8');
  return parseJson(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, integers, mostValues);
}

/**
 * Returns the parsed body of a request.
 * @throws AppError `INVALID_REQUEST` when there is no body
 */
export function bodyOf(request: FastifyRequest): unknown {
  if (request.body === undefined) throw invalidRequest('The body is missing: send a JSON object');
  return request.body;
}

/**
 * Refuses a body on a route that takes none. The caller would expect the body to limit what the route does, and it
 * would not.
 */
export function assertNoBody({ body }: FastifyRequest): void {
  if (body == null || (typeof body === 'object' && Object.keys(body).length === 0)) return;
  throw invalidRequest('This request takes no body, and the one that was sent would be ignored: send none');
}
