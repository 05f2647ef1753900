import t from 'tap';
import { type AccessToken, createAccessTokens } from '../../../../../src/signers/remote/access-token.ts';
import { ServiceRefusal } from '../../../../../src/signers/remote/service-client.ts';

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
