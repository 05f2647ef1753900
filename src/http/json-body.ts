import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { type IntegerReading, parseJson } from '../domain/json-text.ts';

const JSON_TYPES = /^application\/(?:[\w.-]+\+)?json(?:$|[\s;])/i;

/**
 * Reads bodies as JSON, and only such as say that they are: another content type is 415. An empty body is `undefined`,
 * since clients name the type also where they send nothing.
 */
export function acceptJson(app: FastifyInstance): void {
  accept(app, JSON_TYPES, (body) => (body.length === 0 ? undefined : readJson(body, 'exact')));
}

/**
 * Reads every body as JSON, whatever it says it is, with numbers as guest code will see them. An empty body is
 * `undefined`.
 */
export function acceptAnythingAsJson(app: FastifyInstance): void {
  accept(app, '*', (body) => (body.length === 0 ? undefined : readJson(body, 'plain')));
}

function accept(app: FastifyInstance, types: RegExp | '*', read: (body: Buffer) => unknown): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body: Buffer, done) => done(null, read(body)));
  // A compressed body would otherwise be refused as malformed JSON, which tells its sender nothing.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (encoding === 'identity') done(null);
    else done(new AppError('UNSUPPORTED_MEDIA_TYPE', { type: `content-encoding ${encoding}` }));
  });
}

/** RFC 8259, section 8.1: JSON on the wire is UTF-8; a byte order mark is ignored. */
function readJson(body: Buffer, integers: IntegerReading): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw invalidRequest('Invalid JSON: the body is not UTF-8', error);
  }
  return parseJson(text, integers);
}

/** The parsed body of a request that needs one. */
export function bodyOf(request: FastifyRequest): unknown {
  if (request.body === undefined) throw invalidRequest('The body is missing: send a JSON object');
  return request.body;
}
