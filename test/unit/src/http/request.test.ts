import { type FastifyRequest, fastify } from 'fastify';
import t, { type Test } from 'tap';
import { toAppError } from '../../../../src/http/errors.ts';
import { pageQuerySchema, pageRequest, partQuerySchema, partRequest } from '../../../../src/http/paging.ts';
import {
  acceptAnythingAsJson,
  acceptJson,
  accessOf,
  bodyOf,
  makeParametersStorable,
  requestIdOf,
} from '../../../../src/http/request.ts';

function post(t: Test, accept: typeof acceptJson) {
  const app = fastify();
  t.teardown(() => app.close());
  app.setErrorHandler((thrown, request, reply) => {
    const error = toAppError(thrown, { contentType: request.headers['content-type'], bodyLimit: 1 });
    return reply.code(error.status).send({ error: error.message });
  });
  accept(app);
  app.post('/', async (request) => ({ body: request.body ?? null, kind: typeof request.body }));
  return async (payload: string | Buffer, headers: Record<string, string>) => {
    const response = await app.inject({ method: 'POST', url: '/', payload, headers });
    return { status: response.statusCode, ...response.json<{ body?: unknown; error?: string; kind?: string }>() };
  };
}

t.test('JSON that says so is read exactly', async (t) => {
  const send = post(t, acceptJson);
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json']) {
    t.match(await send('{"value":12345678901234567890}', { 'content-type': type }), {
      status: 200,
      body: { value: '12345678901234567890' },
    });
  }
  t.match(
    await send('\uFEFF[1]', { 'content-type': 'application/json' }),
    { body: [1] },
    'a byte order mark is ignored',
  );
});

t.test('another type is 415, and so is a compressed body', async (t) => {
  const send = post(t, acceptJson);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense']) {
    t.equal((await send('{}', { 'content-type': type })).status, 415, type);
  }
  const compressed = await send('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  t.match(compressed, { status: 415, error: 'Send application/json, not content-encoding gzip' });
});

t.test('what is not JSON is 400 and says where', async (t) => {
  const send = post(t, acceptJson);
  const json = { 'content-type': 'application/json' };
  t.match(await send('{"a":', json), { status: 400, error: /^Invalid JSON: .* line 1 column 6$/ });
  t.match(await send(' ', json), { status: 400, error: /^Invalid JSON: the text ends/ });
  t.match(
    await send('', json),
    { status: 200, kind: 'undefined' },
    'clients name the type also where they send nothing',
  );
  t.match(await send(Buffer.from([0x22, 0xff, 0x22]), json), {
    status: 400,
    error: 'Invalid JSON: the body is not UTF-8',
  });
  t.match(await send('{"__proto__":1}', json), { status: 400, error: /__proto__/ });
});

t.test('for plugins any type will do, numbers are plain and nothing is nothing', async (t) => {
  const send = post(t, acceptAnythingAsJson);
  for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
    t.match(await send('{"value":12345678901234567890}', headers), { body: { value: 12345678901234567000 } });
  }
  t.match(await send('', { 'content-type': 'application/json' }), { kind: 'undefined' });
  t.match(await send('hello', { 'content-type': 'text/plain' }), { status: 400 });
});

t.test('a missing body is an error of its own', async (t) => {
  t.throws(() => bodyOf({ body: undefined } as never), { message: /body is missing/ });
  t.equal(bodyOf({ body: null } as never), null);
});

t.test("a caller's request id is kept if it can disturb no log and no header", async (t) => {
  const idOf = (given: string | string[] | undefined) =>
    requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } }, () => 'fresh');
  for (const given of ['abc-123', 'x'.repeat(128)]) t.equal(idOf(given), given);
  for (const given of [undefined, '', 'x'.repeat(129), 'a b', 'é', 'a\u0000', ['a', 'b']]) {
    t.equal(idOf(given), 'fresh', JSON.stringify(given));
  }
});

t.test('a parameter has only what a database takes, the tail of a path is left alone', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  makeParametersStorable(app);
  app.get('/things/:id/parts/:part', async (request) => request.params);
  app.get('/things/:id/*', async (request) => request.params);
  app.get('/search', async ({ query }) => query);

  const parts = await app.inject('/things/a%00b/parts/%00%f0%9f%9a%80');
  t.strictSame(parts.json(), { id: 'a\u{fffd}b', part: '\u{fffd}🚀' });
  t.strictSame((await app.inject('/things/a-1_b/parts/é')).json(), { id: 'a-1_b', part: 'é' });
  t.strictSame((await app.inject('/things/%00/tail%00')).json(), { id: '\u{fffd}', '*': 'tail\0' });
  t.strictSame((await app.inject('/search?of=a%00b')).json(), { of: 'a\u{fffd}b' });
  t.equal((await app.inject('/elsewhere/%00')).statusCode, 404);
});

const asked = (query: unknown) => pageRequest(pageQuerySchema.parse(query));

t.test('the values in effect', (t) => {
  t.strictSame(asked({}), { page: 1, perPage: 10 });
  t.strictSame(asked({ page: '0', per_page: '0' }), { page: 1, perPage: 0 });
  t.strictSame(asked({ page: '3', per_page: '500' }), { page: 3, perPage: 500 });
  t.strictSame(asked({ per_page: '501' }), { page: 1, perPage: 500 });
  t.strictSame(asked({ per_page: '99999999999999999999' }), { page: 1, perPage: 500 });
  t.strictSame(asked({ page: '4294967295', other: 'ignored' }), { page: 4294967295, perPage: 10 });
  t.end();
});

t.test('what is not a whole number of at least 0 is refused', (t) => {
  for (const page of ['-1', '1.5', 'abc', '', ' 1', '1e3', '0x1', '4294967296', '9'.repeat(40), ['1', '2']]) {
    t.notOk(pageQuerySchema.safeParse({ page }).success, `page=${page}`);
  }
  for (const per_page of ['-1', '1.5', 'abc', '']) {
    t.notOk(pageQuerySchema.safeParse({ per_page }).success, `per_page=${per_page}`);
  }
  t.end();
});

t.test('a part begins at the latest, or before the place that its cursor tells', (t) => {
  t.strictSame(partRequest(partQuerySchema.parse({})), { before: null, limit: 10 });
  t.strictSame(partRequest(partQuerySchema.parse({ cursor: '7', per_page: '501' })), { before: 7, limit: 500 });
  for (const cursor of ['', '-1', '1.5', 'abc', '9'.repeat(16), ['1', '2']]) {
    t.notOk(partQuerySchema.safeParse({ cursor }).success, `cursor=${cursor}`);
  }
  t.end();
});

t.test('without a key nothing may be done', (t) => {
  const request = { identity: null } as FastifyRequest;
  t.strictSame(accessOf(request).idsOf('relayers'), []);
  t.end();
});
