import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { toAppError } from '../../../../src/http/errors.ts';
import { acceptAnythingAsJson, acceptJson, bodyOf } from '../../../../src/http/json-body.ts';

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

t.test('a missing body is an error of its own', (t) => {
  t.throws(() => bodyOf({ body: undefined } as never), { message: /body is missing/ });
  t.equal(bodyOf({ body: null } as never), null);
  t.end();
});
