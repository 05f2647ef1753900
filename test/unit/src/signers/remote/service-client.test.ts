import { generateKeyPairSync } from 'node:crypto';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createSignerHttp } from '../../../../../src/egress/signer-http.ts';
import { type AccessToken, createAccessTokens, signedJwt } from '../../../../../src/signers/remote/access-token.ts';
import {
  createServiceClient,
  readTextAtPath,
  ServiceRefusal,
  serviceUrlSchema,
} from '../../../../../src/signers/remote/service-client.ts';
import { readJwt } from '../../../../support/signers/jwt.ts';
import { type Answered, ServiceDouble } from '../../../../support/signers/service-double.ts';

const TOKEN = 'a-token-that-nobody-may-see';
const GOOD: Answered = { status: 200, json: { value: 7 } };

/** A client, and a service that gives these answers in turn. The last answer is repeated. */
async function scene(t: Test, ...answers: [Answered, ...Answered[]]) {
  const service = new ServiceDouble(() => (answers.length > 1 ? answers.shift() : undefined) ?? answers[0]);
  await service.start();
  const http = createSignerHttp();
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs, elapsed: () => 0 };
  t.teardown(async () => {
    await http.close();
    await service.stop();
  });
  const client = createServiceClient('Vault', (body) => readTextAtPath(body, ['errors', 0]), {
    http,
    random: () => 0,
    clock,
  });
  const question = {
    url: new URL(`${service.url}/v1/x`),
    headers: { authorization: `Bearer ${TOKEN}` },
    answer: z.object({ value: z.number() }),
  };
  return { service, client, clock, question, host: new URL(service.url).host };
}

t.test('a question with a body is posted, one without is not', async (t) => {
  const { service, client, question } = await scene(t, GOOD);
  t.same(await client.ask(question), { value: 7 });
  t.same(await client.ask({ ...question, body: '{"a":1}' }), { value: 7 });
  t.strictSame(
    service.asked.map(({ method, bytes }) => `${method} ${bytes.toString()}`),
    ['GET ', 'POST {"a":1}'],
  );
});

t.test('it asks again while the service is busy, three times in all', async (t) => {
  for (const status of [429, 500, 502, 503, 504]) {
    const { service, client, question } = await scene(t, { status, json: {} }, { status, json: {} }, GOOD);
    t.same(await client.ask(question), { value: 7 });
    t.equal(service.asked.length, 3);
  }
  const { service, client, question, host } = await scene(t, { status: 503, json: { errors: ['Vault is\n sealed'] } });
  await t.rejects(client.ask(question), { message: `Vault at ${host} answered 503: Vault is sealed` });
  t.equal(service.asked.length, 3);
});

t.test('a redirect is not followed, and is told with scheme and host of its target', async (t) => {
  const headers = { location: 'https://elsewhere.example/v1/secret?key=secret' };
  const { service, client, question, host } = await scene(t, { status: 308, json: {}, headers });
  const to = 'a redirect to https://elsewhere.example: redirects are not followed, so enter the address itself';
  await t.rejects(client.ask(question), { message: `Vault at ${host} answered 308 (${to}): it gave no reason` });
  t.equal(service.asked.length, 1);
});

t.test('a refusal of a service whose clock is another one says so', async (t) => {
  const { client, clock, question, host } = await scene(t, { status: 401, json: { errors: ['expired'] } });
  const refusal = `Vault at ${host} answered 401: expired`;
  await t.rejects(client.ask(question), { message: refusal });
  for (const [aheadMs, way] of [
    [300_000, 'ahead of'],
    [-300_000, 'behind'],
  ] as const) {
    clock.aheadMs = aheadMs;
    const said = new RegExp(`^${refusal} \\(the clock of this machine is (?:299|300|301) s ${way} the service's\\)$`);
    await t.rejects(client.ask(question), { message: said });
  }
});

t.test('what counts once is made anew for each try', async (t) => {
  const { service, client, question } = await scene(t, { status: 503, json: {} }, GOOD);
  let made = 0;
  await client.ask({ ...question, headers: () => ({ 'x-number': String((made += 1)) }) });
  t.strictSame(
    service.asked.map(({ headers }) => headers['x-number']),
    ['1', '2'],
  );
});

t.test('it waits as it is told, unless that is long', async (t) => {
  const soon = await scene(t, { status: 429, json: {}, headers: { 'retry-after': '0' } }, GOOD);
  t.same(await soon.client.ask(soon.question), { value: 7 });
  const long = await scene(t, { status: 429, json: {}, headers: { 'retry-after': '3' } }, GOOD);
  await t.rejects(long.client.ask(long.question), { status: 429, message: /it gave no reason$/ });
  t.equal(long.service.asked.length, 1);
});

t.test('a refusal says what the service said, without the credential', async (t) => {
  const { service, client, question, host } = await scene(t, { status: 403, json: { errors: [`no ${TOKEN} here`] } });
  const failure: unknown = await client.ask(question).catch((error: unknown) => error);
  t.type(failure, ServiceRefusal);
  t.match(failure, { status: 403, message: `Vault at ${host} answered 403: no *** here` });
  t.equal(service.asked.length, 1, 'it is not asked again');
});

t.test('what is not understood says where, and not what is there', async (t) => {
  const wrong = await scene(t, { status: 200, json: { value: 'a-secret' } });
  await t.rejects(wrong.client.ask(wrong.question), {
    message: `Vault at ${wrong.host} gave an answer that is not understood (value)`,
  });
  const page = await scene(t, { status: 200, json: '<html>' });
  await t.rejects(page.client.ask(page.question), { message: /not understood \(all of it\)$/ });
});

t.test('nobody there is tried again, and named in the end', async (t) => {
  const { service, client, question, host } = await scene(t, GOOD);
  await service.stop();
  await t.rejects(client.ask(question), { message: `Vault at ${host}: connection failed (ECONNREFUSED)` });
});

t.test('addresses are of http and https', (t) => {
  t.equal(serviceUrlSchema.safeParse('https://vault.example.org:8200').success, true);
  for (const bad of ['vault.example.org', 'ftp://a', '', 7]) t.notOk(serviceUrlSchema.safeParse(bad).success);
  t.end();
});

t.test('the first text among several places', (t) => {
  const body = { error: { message: 'a', code: 1 }, errors: ['b'] };
  t.equal(readTextAtPath(body, ['message'], ['error', 'code'], ['errors', 0]), 'b');
  t.equal(readTextAtPath(undefined, ['message']), undefined);
  t.equal(readTextAtPath('text', ['error', 'message']), undefined);
  t.end();
});

t.test('what was sent and is repeated shows in no form, nor the first half of it', async (t) => {
  const secret = 'first~half-of-it.and+second~half';
  const form = new URLSearchParams({ client_secret: secret }).toString();
  const json = JSON.stringify({ secret_id: secret });
  for (const [body, said] of [
    [form, `What is this: ${form}`],
    [form, `${'x'.repeat(285)} ${secret}`],
    [json, `${'x'.repeat(285)} ${secret}`],
    [json, `What is this: ${json}`],
  ] as const) {
    const { client, question } = await scene(t, { status: 400, json: { errors: [said] } });
    const error = await client.ask({ ...question, body, credentials: [secret] }).catch((failure: unknown) => failure);
    t.match(error, { status: 400, message: /\*\*\*/ });
    t.notMatch(String(error), /first|half/);
  }
});

t.test('access token', async (t) => {
  /** Numbered tokens, with a clock that the test moves. */
  function scene({ lifeMs = 600_000, renews = false } = {}) {
    const clock = { ms: 0, elapsed: () => clock.ms };
    const state = { obtained: 0, renewed: 0, fault: undefined as Error | undefined };
    const token = (text: string): AccessToken => ({
      text,
      lifeMs,
      ...(renews
        ? {
            renew: async () => {
              if (state.fault !== undefined) throw state.fault;
              state.renewed += 1;
              return token(text);
            },
          }
        : {}),
    });
    const tokens = createAccessTokens(async () => {
      if (state.fault !== undefined && !renews) throw state.fault;
      state.obtained += 1;
      return token(`token-${state.obtained}`);
    }, clock);
    return { clock, state, tokens, current: () => tokens.use(async (text) => text) };
  }

  t.test('one token for all who ask at once, and the next one before it ends', async (t) => {
    const { clock, state, current } = scene();
    t.strictSame(await Promise.all([current(), current(), current()]), ['token-1', 'token-1', 'token-1']);
    clock.ms = 539_999;
    t.equal(await current(), 'token-1');
    clock.ms = 540_000;
    t.equal(await current(), 'token-2');
    t.equal(state.obtained, 2);
  });

  t.test('a short one is left alone for its last quarter, an endless one never', async (t) => {
    const short = scene({ lifeMs: 8_000 });
    await short.current();
    short.clock.ms = 6_000;
    t.equal(await short.current(), 'token-2');
    const endless = scene({ lifeMs: Infinity });
    await endless.current();
    endless.clock.ms = 1e12;
    t.equal(await endless.current(), 'token-1');
  });

  t.test(
    'what can be prolonged is prolonged while it counts; when it cannot any more, another one is asked for',
    async (t) => {
      const { clock, state, current } = scene({ renews: true });
      await current();
      clock.ms = 550_000;
      t.equal(await current(), 'token-1');
      t.equal(state.renewed, 1);
      clock.ms += 550_000;
      state.fault = new ServiceRefusal('too old', 403);
      t.equal(await current(), 'token-2');
      clock.ms += 700_000;
      state.fault = undefined;
      t.equal(await current(), 'token-3', 'after its end there is nothing to prolong');
    },
  );

  t.test('while no new one is to be had, the old one serves to its end', async (t) => {
    const { clock, state, current } = scene();
    await current();
    state.fault = new Error('connection failed');
    clock.ms = 599_999;
    t.equal(await current(), 'token-1');
    clock.ms = 600_000;
    await t.rejects(current(), { message: 'connection failed' });
    state.fault = undefined;
    t.equal(await current(), 'token-2');
  });

  t.test('one that is refused is replaced once, by the first who finds out', async (t) => {
    const { state, tokens } = scene();
    const ask = async (token: string) => {
      if (token === 'token-1') throw new ServiceRefusal('expired', 401);
      return token;
    };
    t.strictSame(await Promise.all([tokens.use(ask), tokens.use(ask)]), ['token-2', 'token-2']);
    t.equal(state.obtained, 2);
    const refused = new ServiceRefusal('not yours', 403);
    await t.rejects(
      tokens.use(() => Promise.reject(refused)),
      refused,
    );
    t.equal(state.obtained, 2);
    await t.rejects(
      tokens.use(() => Promise.reject(refused), [403]),
      refused,
    );
    t.equal(state.obtained, 3);
  });
});

t.test('tokens that another reader takes for signed, in each algorithm', (t) => {
  const now = Math.floor(Date.now() / 1_000);
  for (const [algorithm, pair] of [
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const) {
    const token = signedJwt(algorithm, pair.privateKey, { kid: 'k' }, { iat: now, exp: now + 60, text: 'ü' });
    t.match(readJwt(token, algorithm, pair.publicKey, 60), {
      header: { alg: algorithm, typ: 'JWT', kid: 'k' },
      claims: { text: 'ü' },
    });
    t.notMatch(token, /[+/=]/);
  }
  t.end();
});
