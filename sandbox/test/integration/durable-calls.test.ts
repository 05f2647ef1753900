/**
 * Durable calls: the guest is a function of its version, its context, a seed, a start and the order of its answers. A
 * host that delivers what it has recorded hears the same requests again, in another process too.
 */
import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { fc, runsOf } from '../../../test/support/properties.ts';
import { type CallOutcome, FIXED_LIMITS, type Json } from '../../contract.ts';
import { type Course, runAgain, runLive, START, sameIn } from '../support/durable-host.ts';
import { guestRuntime, plugin, TestSandbox, version } from '../support/sandbox.ts';

const runtime = await guestRuntime();
const [one, other] = await Promise.all([TestSandbox.open(runtime), TestSandbox.open(runtime)]);
t.teardown(() => Promise.all([one.close(), other.close()]));
/** A key that a signature's drawn number would give away if another run of the call signed other data with it. */
const SECP256K1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'jwk' });
const PATIENT = { slice_ms: 10_000, cpu_ms: 20_000 };
let versions = 0;

/** Loads a version in both processes. */
async function load(given: ReturnType<typeof version>): Promise<string> {
  versions += 1;
  const of = `v${versions}`;
  await Promise.all([one, other].map((sandbox) => sandbox.load({ ...given, version: of })));
  return of;
}

const loaded = (body: string) => load(plugin(body, { limits: PATIENT }));

function returned({ report: { outcome } }: { report: { outcome: CallOutcome } }): unknown {
  return outcome.kind === 'returned' ? JSON.parse(outcome.json) : outcome;
}

const never = () => 0;

/** Runs a handler in both processes, and returns what it returned in both. */
async function twice(of: string, params: Json = {}, draw: (below: number) => number = never): Promise<unknown> {
  const live = await runLive({ sandbox: one, params, of }, draw);
  const again = await runAgain({ sandbox: other, params, of }, live.deliveries);
  t.strictSame(sameIn(again), sameIn(live));
  return returned(live);
}

t.test('time stands still, and moves with an answer to the time that the host gave it', async (t) => {
  const of = await loaded(`
    const { Now } = Temporal;
    const read = () => [Date.now(), +new Date(), Date(), new Date().getTimezoneOffset(), performance.now(),
      performance.timeOrigin, process.uptime(), process.hrtime(), String(process.hrtime.bigint()),
      Now.instant().epochMilliseconds, String(Now.plainDateTimeISO()), String(Now.plainDateISO('Asia/Tokyo')),
      String(Now.plainTimeISO('UTC')), Now.zonedDateTimeISO('Europe/Berlin').epochMilliseconds,
      new Intl.DateTimeFormat('en', { dateStyle: 'short', timeStyle: 'medium' }).format(),
      new Intl.DateTimeFormat('en').formatToParts().length,
      Intl.DateTimeFormat().resolvedOptions().timeZone, new File([], 'f').lastModified];
    const first = read();
    for (let at = 0; at < 1e6; at++);
    const second = read();
    await context.kv.get('a');
    return [first, second, read()];`);
  const [first, second, third] = (await twice(of, {}, (below) => Math.min(below - 1, 21))) as [Json[], Json[], Json[]];
  t.strictSame(first, second);
  const { now } = START;
  const then = now + 21;
  t.strictSame(first.slice(0, 10), [
    now,
    now,
    'Sat Jan 31 2026 23:59:58 GMT+0000 (Coordinated Universal Time)',
    0,
    0,
    now,
    0,
    [0, 0],
    '0',
    now,
  ]);
  t.strictSame(first.slice(10), [
    '2026-01-31T23:59:58',
    '2026-02-01',
    '23:59:58',
    now,
    '1/31/26, 11:59:58 PM',
    5,
    'UTC',
    now,
  ]);
  t.strictSame([third[0], third[4], third[5], third[9], third[10]], [then, 21, now, then, '2026-01-31T23:59:58.021']);
});

t.test('all chance comes from the seed', async (t) => {
  const of = await load(
    version(
      `const crypto_ = globalThis[Symbol.for('isolayer.module')]('crypto');
      var __isolayer_plugin__ = { handler: async ({ kv }) => {
        const hex = (bytes) => Buffer.from(bytes).toString('hex');
        const { subtle } = crypto;
        const out = [Math.random(), Math.random(), crypto.randomUUID(), hex(crypto.getRandomValues(new Uint8Array(9))),
          hex(crypto_.randomBytes(9)), crypto_.randomInt(1e9), hex(crypto_.randomFillSync(new Uint8Array(3)))];
        const kept = async (key) => hex(await subtle.exportKey(key.type === 'secret' ? 'raw' : 'pkcs8', key));
        out.push(await kept(await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt'])));
        const data = Buffer.from('data');
        const made = [
          ['Ed25519', {}, ['sign', 'verify']],
          ...['P-256', 'P-384', 'P-521'].map((namedCurve) => [{ name: 'ECDSA', namedCurve }, { name: 'ECDSA', hash: 'SHA-256' }, ['sign', 'verify']]),
          [{ name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, { name: 'RSA-PSS', saltLength: 32 }, ['sign', 'verify']],
          [{ name: 'RSASSA-PKCS1-v1_5', modulusLength: 1031, publicExponent: new Uint8Array([3]), hash: 'SHA-1' }, { name: 'RSASSA-PKCS1-v1_5' }, ['sign', 'verify']],
        ];
        for (const [algorithm, form, usages] of made) {
          const pair = await subtle.generateKey(algorithm, true, usages);
          const how = { name: algorithm.name ?? algorithm, ...form };
          const signature = await subtle.sign(how, pair.privateKey, data);
          out.push(await kept(pair.privateKey), hex(signature), await subtle.verify(how, pair.publicKey, signature, data));
        }
        const x = await subtle.generateKey('X25519', true, ['deriveBits']);
        out.push(hex(await subtle.deriveBits({ name: 'X25519', public: x.publicKey }, x.privateKey, 256)));
        const seal = await subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['encrypt', 'decrypt']);
        for (const label of [undefined, data]) {
          const how = label === undefined ? { name: 'RSA-OAEP' } : { name: 'RSA-OAEP', label };
          const sealed = await subtle.encrypt(how, seal.publicKey, data);
          out.push(hex(sealed), hex(await subtle.decrypt(how, seal.privateKey, sealed)) === hex(data));
        }
        const k = crypto_.createPrivateKey({ format: 'jwk', key: ${JSON.stringify(SECP256K1)} });
        for (const dsaEncoding of ['der', 'ieee-p1363']) {
          const signature = crypto_.sign('sha512', data, { key: k, dsaEncoding });
          out.push(hex(signature), crypto_.verify('sha512', data, { key: crypto_.createPublicKey(k), dsaEncoding }, signature));
        }
        const plain = crypto_.sign(null, data, k);
        out.push(hex(plain), crypto_.verify(null, data, crypto_.createPublicKey(k), plain));
        return out;
      } };`,
      { limits: PATIENT },
    ),
  );
  const first = (await twice(of)) as unknown[];
  t.ok(Array.isArray(first), JSON.stringify(first));
  t.ok(first.every((value) => value !== false));
  const run = { sandbox: one, params: {}, of, start: { ...START, seed: '5b'.repeat(32) } };
  const second = returned(await runLive(run, never)) as unknown[];
  t.equal(second.length, first.length);
  for (const [at, value] of second.entries()) if (value !== true) t.not(value, first[at], `value ${at}`);
});

t.test('a module that reads the time or draws numbers is evaluated for the call', async (t) => {
  const of = await load(
    version(
      `const at = Date.now(), id = Math.random(), uuid = crypto.randomUUID(), { now } = Date, { random } = Math;
      let calls = 0;
      var __isolayer_plugin__ = { handler: async ({ kv }) => [at, id, uuid, ++calls, now(), random(), await kv.get('x')] };`,
      { limits: PATIENT },
    ),
  );
  const first = (await twice(of)) as unknown[];
  t.ok(Array.isArray(first), JSON.stringify(first));
  t.strictSame([first[0], first[3], first[4]], [START.now, 1, START.now]);
  t.strictSame(await twice(of), first, 'each call has an isolate of its own');
  const plain = one.call({}, { of });
  await new Promise<void>((resolve) => {
    one.onMessage = (message) => {
      if (message.type !== 'request') return;
      one.supervisor.reply(message.call, { id: message.message.id, reply: { ok: true, value: 1 } });
      resolve();
    };
  });
  const [at, id, , , now] = returned({ report: await plain }) as [number, number, string, number, number];
  t.ok(Math.abs(now - Date.now()) < 10_000, 'a plain call has the real time');
  t.ok(at === START.now || Math.abs(at - now) < 60_000);
  t.type(id, 'number');
});

t.test('a durable call gets an isolate that has served no call, and leaves it to plain calls', async (t) => {
  const of = await loaded(
    'kept.calls = (kept.calls ?? 0) + 1; return [kept.calls, Date.now() === 1769903998000, Math.random() === Math.random()];',
  );
  for (let call = 1; call <= 3; call += 1)
    t.strictSame(returned({ report: await one.call({}, { of }) }), [call, false, false]);
  for (let call = 1; call <= 3; call += 1) t.strictSame(await twice(of), [1, true, false]);
  t.strictSame(returned({ report: await one.call({}, { of }) }), [4, false, false]);
});

/** What durable calls may leave behind in their isolate. */
const LEFTOVERS = [
  'kept.context = context; kept.calls = 5',
  "kept.promise = new Promise(() => {}).then(() => context.kv.set('left', 1))",
  "setTimeout(() => context.kv.set('left', 1), 1).unref(); clearTimeout(setTimeout(() => {}, 1))",
  "/(sec)ret/.exec('secret'); console.count(); console.group(); console.time()",
  'void process.env.UNGRANTED; void process.env.OTHER',
  "const { inspect } = node('util'); inspect.defaultOptions.depth = 9",
  "const target = new AbortController(); target.signal.onabort = () => context.kv.set('left', 1); kept.abort = target",
  "await crypto.subtle.digest('SHA-256', new Uint8Array(9)); Math.random(); crypto.randomUUID(); new TextDecoder()",
  "fetch('https://a.example').then(() => context.kv.set('left', 1), () => {})",
  "await (await fetch('https://a.example/')).bytes()",
  "const c = new AbortController(); fetch('https://a.example', c).catch(() => {}); for (let at = 0; at < 9; at++) await null; c.abort()",
  "node('util').deprecate(() => {}, 'old', 'OLD')()",
  'const { env } = process; const { A } = env; delete env.A; env.A = A',
  "for (const [of, name] of shared()) for (const one of Object.values(Object.getOwnPropertyDescriptor(of, name))) if (typeof one === 'function') try { one.left = 1; } catch {}",
  'globalThis.left = 1',
  "const one = new (node('events'))(); one.on('a', () => context.kv.set('left', 1)); kept.one = one",
  "throw new Error('mine')",
  'while (true);',
  'const all = []; while (true) all.push(new Array(1e5).fill(all));',
];

t.test('a durable call is the same whatever calls its isolate has served', async (t) => {
  const of = await load(
    version(
      `const node = globalThis[Symbol.for('isolayer.module')];
      const kept = {};
      const born = (async () => Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(2))).toString('hex'))();
      const shared = () => [[new Error('a'), 'stack'], [new Event('a'), 'isTrusted'], [new (node('stream').PassThrough)()._events, 'prefinish'],
        [{ size: new CountQueuingStrategy({ highWaterMark: 1 }).size }, 'size'], [{ size: new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size }, 'size']];
      node('util').inspect.defaultOptions.depth += 1;
      var __isolayer_plugin__ = { handler: async (context) => {
        if (context.params.leave !== undefined) return await eval('(async () => {' + context.params.leave + '})()');
        const timer = setTimeout(() => {}, 5);
        clearTimeout(timer);
        const seen = [await born, Object.keys(kept), typeof left, +timer, RegExp.lastMatch, RegExp.$1, node('util').inspect.defaultOptions.depth,
          performance.now(), Date.now(), Math.random(), new Error('here').stack];
        console.count();
        seen.push(await context.kv.get('k'), Object.keys(process.env), shared().flatMap(([of, name]) => Object.values(Object.getOwnPropertyDescriptor(of, name)).map((one) => one?.left)));
        seen.push((await (await fetch('https://a.example/')).bytes()).length);
        const { warn } = console;
        console.warn = (text) => seen.push(text);
        node('util').deprecate(() => {}, 'old', 'OLD')();
        console.warn = warn;
        const aborted = new AbortController();
        const exchange = fetch('https://a.example/', aborted).catch(({ name }) => name);
        for (let at = 0; at < 9; at++) await null;
        aborted.abort();
        seen.push(await exchange);
        return process.env.UNGRANTED === 'x' ? seen : Promise.reject(new Error('UNGRANTED OTHER ' + JSON.stringify(seen)));
      } };`,
      { limits: { ...PATIENT, slice_ms: 1_500, memory_mb: 32 }, env: { A: '1', B: '2' } },
    ),
  );
  const probe = async () => {
    const live = await runLive({ sandbox: one, params: {}, of }, never);
    const again = await runAgain({ sandbox: other, params: {}, of }, live.deliveries);
    t.strictSame(sameIn(again), sameIn(live));
    return sameIn(live);
  };
  const first = await probe();
  t.match(first, {
    outcome: { kind: 'threw', message: /UNGRANTED.*process.env.UNGRANTED is not granted/s },
    requests: { 3: { method: 'fetch.read', params: { key: 1 } }, 5: { method: 'fetch.abort', params: { key: 2 } } },
  });
  for (const leave of LEFTOVERS) {
    await runLive({ sandbox: one, params: { leave }, of }, never);
    t.strictSame(await probe(), first, leave);
    await one.call({ leave }, { of });
    t.strictSame(await probe(), first, leave);
  }
});

t.test('answers that come together are delivered one by one, in their order', async (t) => {
  const of = await loaded(`
    const seen = [];
    const follow = async (key) => {
      const value = await context.kv.get(key);
      seen.push(key, Date.now());
      for (let at = 0; at < 20; at++) await null;
      seen.push(key + '!', value);
    };
    await Promise.all(['a', 'b', 'c'].map(follow));
    return seen;`);
  const open = [2, 0, 1];
  const run = one.call({}, { of, durable: START });
  const call = one.lastCall;
  for (const id of [1, 2, 3]) await one.request(id, call);
  for (const at of open)
    one.supervisor.reply(call, { id: at + 1, reply: { ok: true, value: at, at: START.now + 5 - at } });
  t.strictSame(
    returned({ report: await run }),
    [2, 0, 1].flatMap((at) => {
      const key = 'abc'[at] ?? '';
      // A clock never goes back.
      return [key, START.now + (at === 2 ? 3 : 5), `${key}!`, at];
    }),
  );
});

t.test('timers are requests: with their delay, cleared ones too, and no capability calls', async (t) => {
  const of = await load(
    plugin(
      `const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      clearTimeout(setTimeout(() => { throw new Error('cleared'); }, 7));
      const timeout = AbortSignal.timeout(40);
      await sleep(100);
      let runs = 0;
      await new Promise((resolve) => { const every = setInterval(() => { if (++runs === 3) { clearInterval(every); resolve(); } }, 250); });
      await new Promise(setImmediate);
      setTimeout(() => {}, 1e9).unref();
      return [runs, timeout.aborted, Date.now()];`,
      { limits: { ...PATIENT, calls: 1 } },
    ),
  );
  const live = await runLive({ sandbox: one, params: {}, of }, never);
  t.strictSame(
    live.requests.map(({ id, method, params }) => [id, method, params]),
    [7, 40, 100, 250, 250, 250, 1, 1e9].map((ms, at) => [at + 1, 'timer', { ms }]),
  );
  t.strictSame(returned(live), [3, true, START.now + 7 + 40 + 100 + 750 + 1]);
  t.equal(live.report.usage.calls, 0);
  t.strictSame(live.report.logs, [], 'nothing was left behind');
  const again = await runAgain({ sandbox: other, params: {}, of }, live.deliveries);
  t.strictSame(sameIn(again), sameIn(live));
});

t.test('timers have a limit of their own', async (t) => {
  const of = await loaded('for (let at = 0; at < 20_000; at++) clearTimeout(setTimeout(() => {}, 1)); return 1;');
  const { outcome } = (await runLive({ sandbox: one, params: {}, of }, never)).report;
  t.match(outcome, { kind: 'ended', code: 'CALL_LIMIT', message: new RegExp(`${FIXED_LIMITS.durable_timers} timers`) });
});

t.test('what the host would refuse ends a durable call', async (t) => {
  const of = await loaded(`let deep = 1; for (let at = 0; at < 80; at++) deep = [deep];
    try { await context.api.useRelayer('r').rpc({ method: 'm', params: deep }); } catch (error) { return error.message; }`);
  t.match(returned({ report: await one.call({}, { of }) }), /nested 64 levels/);
  const { outcome } = (await runLive({ sandbox: one, params: {}, of }, never)).report;
  t.match(outcome, { kind: 'ended', code: 'CALL_LIMIT', message: /nested 64 levels/ });
});

const PROGRAM = `
const crypto_ = globalThis[Symbol.for('isolayer.module')]('crypto');
const seen = [];
let kv;
const note = (...what) => { seen.push(what.join()); };
const run = async (steps) => { for (const step of steps) await acts[step.op](step); };
const acts = {
  clock: () => note('clock', Date.now(), performance.now(), new Date().toISOString()),
  chance: () => note('chance', Math.random(), crypto.randomUUID(), crypto_.randomInt(1000)),
  get: async ({ key }) => {
    try { note(key, await kv.get(key + ':' + seen.length + ':' + Math.random() + ':' + Date.now())); }
    catch (error) { note(key, error.code, error.message); }
  },
  sleep: ({ ms }) => new Promise((resolve) => setTimeout(() => { note('slept', ms, Date.now()); resolve(); }, ms)),
  later: ({ ms, steps }) => { setTimeout(() => { run(steps).catch(note); }, ms); },
  every: ({ ms, times }) => new Promise((resolve) => {
    let left = times;
    const timer = setInterval(() => { note('every', left); if (--left <= 0) { clearInterval(timer); resolve(); } }, ms);
  }),
  cleared: ({ ms, steps }) => { const timer = setTimeout(() => note('never'), ms); return run(steps).finally(() => clearTimeout(timer)); },
  all: ({ branches }) => Promise.all(branches.map(run)),
  race: async ({ branches }) => { await Promise.race(branches.map(async (steps, at) => { await run(steps); note('first?', at); })); note('raced'); },
  timeout: ({ ms, steps }) => {
    const signal = AbortSignal.timeout(ms);
    signal.addEventListener('abort', () => note('aborted', Date.now()));
    return run(steps);
  },
  turns: async ({ times }) => { for (let at = 0; at < times; at++) await null; note('turns', times); },
  job: ({ times }) => new Promise((resolve) => crypto_.pbkdf2('p', Math.random() + '', times, 8, 'sha256', (error, key) => {
    note('job', error, key?.toString('hex')); resolve();
  })),
  fetch: async () => {
    try { note('fetched', (await (await fetch('https://a.example/' + seen.length)).bytes()).join(' ')); }
    catch (error) { note(error.message); }
  },
  abort: async ({ steps }) => {
    const aborted = new AbortController();
    const exchange = fetch('https://a.example/', aborted).then(() => note('whole'), (error) => note(error.name));
    await run(steps);
    aborted.abort();
    await exchange;
  },
  key: async () => {
    const pair = await crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 512, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1' }, true, ['sign', 'verify']);
    note('key', (await crypto.subtle.exportKey('jwk', pair.privateKey)).n);
  },
};
var __isolayer_plugin__ = { handler: async (context) => { kv = context.kv; await run(context.params); console.log('ran', seen.length); return seen; } };`;

t.test('programs of clocks, chance, timers, races and jobs run again alike in another process', async (t) => {
  const of = await load(version(PROGRAM, { limits: PATIENT }));
  const ms = fc.nat({ max: 50 });
  const { steps } = fc.letrec<{ steps: Json[]; step: Json; branches: Json[] }>((tie) => ({
    steps: fc.array(tie('step'), { maxLength: 4 }),
    branches: fc.array(tie('steps'), { minLength: 1, maxLength: 4 }),
    step: fc.oneof(
      { maxDepth: 4 },
      fc.record({ op: fc.constant('clock') }),
      fc.record({ op: fc.constant('chance') }),
      fc.record({ op: fc.constant('get'), key: fc.constantFrom('a', 'b') }),
      fc.record({ op: fc.constant('sleep'), ms }),
      fc.record({ op: fc.constant('every'), ms, times: fc.nat({ max: 3 }) }),
      fc.record({ op: fc.constant('turns'), times: fc.nat({ max: 9 }) }),
      fc.record({ op: fc.constant('job'), times: fc.integer({ min: 1, max: 3000 }) }),
      fc.record({ op: fc.constantFrom('key', 'fetch') }),
      fc.record({ op: fc.constantFrom('later', 'cleared', 'timeout', 'abort'), ms, steps: tie('steps') }),
      fc.record({ op: fc.constantFrom('all', 'race'), branches: tie('branches') }),
      fc.record({ op: fc.constantFrom('all', 'race'), branches: tie('branches') }),
    ),
  }));
  let made = 0;
  const check = async (program: Json[], seed: number) => {
    let state = seed;
    const draw = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    // So that the isolates of the two processes have served differently.
    if (draw(2) === 1) await runLive({ sandbox: one, params: [{ op: 'fetch' }, { op: 'fetch' }], of }, draw);
    const live: Course = await runLive({ sandbox: one, params: program, of }, draw);
    const again = await runAgain({ sandbox: other, params: program, of }, live.deliveries);
    made += live.requests.length;
    t.strictSame(sameIn(again), sameIn(live));
  };
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 4 }), fc.nat(), async (program, seed) => {
      await check(program.flat(), seed);
    }),
    { numRuns: runsOf(60) },
  );
  t.ok(made > 100, `${made} requests`);
});
