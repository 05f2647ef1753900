/** Threat: a guest that asks for more than it may, asks late, or asks for what is not there. */
import t from 'tap';
import { DEFAULT_LIMITS, FIXED_LIMITS, type Limits } from '../../../contract.ts';
import type { HostOp } from '../../../guest/host-function.ts';
import { answerUrlQuestion, HostCallBridge, hostFunctionOutsideCalls } from '../../../process/call-bridge.ts';
import { CryptoJobQueue } from '../../../process/crypto/jobs.ts';
import { UP } from '../../../protocol.ts';
import { RecordedChannel } from '../../support/recorded-channel.ts';

function bridged(limits: Partial<Limits> = {}, { seed, leftMs = 500 }: { seed?: string; leftMs?: number } = {}) {
  const channel = new RecordedChannel();
  const fired: number[] = [];
  const done: [reply: string, ms: number][] = [];
  const { cpu_ms: cpuMs } = { ...DEFAULT_LIMITS, ...limits };
  let wake = (): void => {};
  const call = {
    id: 7,
    limits: { ...DEFAULT_LIMITS, ...limits },
    fire(id: number) {
      fired.push(id);
      wake();
    },
    seed,
    leftMs: () => leftMs,
    leftCpuMs: () => cpuMs,
    jobDone(reply: string, ms: number) {
      done.push([reply, ms]);
      wake();
    },
  };
  const bridge = new HostCallBridge(call, channel, new CryptoJobQueue());
  const firing = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  return { bridge, channel, fired, done, firing };
}

const REQUEST = '{"id":1,"method":"kv.get","params":{}}';
const THREW = '{"kind":"threw"}';

t.test('capability calls go up, up to the limit, which ends the call', async (t) => {
  const { bridge, channel } = bridged({ calls: 2 });
  t.equal(bridge.answer('request', REQUEST), '');
  t.equal(bridge.answer('request', REQUEST), '');
  t.match(bridge.answer('request', REQUEST), /limits\.calls/);
  t.match(JSON.parse(bridge.outcome ?? ''), { kind: 'ended', code: 'CALL_LIMIT' });
  t.equal(bridge.requests, 2);
  t.same(channel.texts(UP.REQUEST), [REQUEST, REQUEST]);
  t.match(bridge.answer('request', REQUEST), /over/);
});

t.test('unanswered and oversized capability calls are refused, and the call goes on', async (t) => {
  const { bridge } = bridged();
  t.match(bridge.answer('request', 'x'.repeat(FIXED_LIMITS.request_bytes + 1)), /at most/);
  for (let made = 0; made < FIXED_LIMITS.pending_requests; made += 1) t.equal(bridge.answer('request', REQUEST), '');
  t.match(bridge.answer('request', REQUEST), /waiting/);
  t.equal(bridge.replied('{"id":1,'), true);
  t.equal(bridge.answer('request', REQUEST), '');
  t.equal(bridge.outcome, null);
  t.equal(bridged().bridge.replied('{"id":1,'), false, 'nothing waits');
});

t.test('log lines leave at once, up to the caps', async (t) => {
  const { bridge, channel } = bridged();
  bridge.answer('log', 'log x');
  t.equal(channel.flushes, 1);
  for (let line = 0; line < FIXED_LIMITS.log_lines + 5; line += 1) bridge.answer('log', 'log ');
  t.equal(channel.texts(UP.LOG).length, FIXED_LIMITS.log_lines);
  t.equal(bridge.droppedLogs, 6);
  const { bridge: loud } = bridged();
  loud.answer('log', 'é'.repeat(FIXED_LIMITS.log_bytes / 2 + 1));
  t.equal(loud.droppedLogs, 1, 'counted in bytes');
  loud.answer('log', '\0'.repeat(FIXED_LIMITS.log_bytes / 6 + 1));
  t.equal(loud.droppedLogs, 2, 'as they are in JSON');
});

t.test('why a call failed has room when the console has none left', async (t) => {
  const { bridge, channel } = bridged();
  for (let line = 0; line <= FIXED_LIMITS.log_lines; line += 1) bridge.answer('log', 'log ');
  const uncaught = 'uncaught Uncaught';
  for (let line = 0; line <= FIXED_LIMITS.uncaught_lines; line += 1) bridge.answer('log', uncaught);
  t.equal(channel.texts(UP.LOG).filter((text) => text === uncaught).length, FIXED_LIMITS.uncaught_lines);
  t.equal(bridge.droppedLogs, 2);
  const { bridge: loud } = bridged();
  loud.answer('log', uncaught + 'é'.repeat(FIXED_LIMITS.uncaught_bytes / 2));
  t.equal(loud.droppedLogs, 1, 'counted in bytes');
});

t.test('the first outcome stands, and nothing is asked after it', async (t) => {
  for (const [op, text] of [
    ['returned', '1'],
    ['done', THREW],
  ] as const) {
    const { bridge } = bridged();
    bridge.answer(op, text);
    bridge.answer('returned', '2');
    bridge.answer('done', '{"kind":"ended"}');
    bridge.end({ kind: 'ended', code: 'TIMEOUT', message: '' });
    t.same([bridge.result, bridge.outcome], op === 'returned' ? ['1', null] : [null, THREW]);
    t.ok(bridge.hasEnded);
    t.match(bridge.answer('request', REQUEST), /over/);
    t.match(bridge.answer('timer', '1 1'), /over/);
  }
});

t.test('a result that no frame could carry is too large', async (t) => {
  const texts = { returned: '"123456789"', done: 'x'.repeat(FIXED_LIMITS.up_frame_slack_bytes) };
  for (const op of ['returned', 'done'] as const) {
    const { bridge } = bridged({ result_bytes: 10 });
    bridge.answer(op, texts[op]);
    t.match(JSON.parse(bridge.outcome ?? ''), { code: 'RESULT_TOO_LARGE' });
  }
});

t.test('timers fire, can be cleared and replaced, and are counted', async (t) => {
  const { bridge, fired, firing } = bridged();
  t.equal(bridge.answer('timer', '1 1'), '');
  t.equal(bridge.answer('timer', '2 NaN'), '');
  t.equal(bridge.answer('timer', '3 5'), '');
  t.equal(bridge.answer('timer', '3 100000'), '', 'a timer that is set anew');
  bridge.answer('clear', '2');
  bridge.answer('clear', '99');
  t.equal(bridge.idle, false);
  await firing();
  t.same(fired, [1]);
  t.equal(bridge.idle, false, 'the guest has not ended the call');
  bridge.answer('returned', '1');
  bridge.close();
  bridge.close();
  t.equal(bridge.idle, true);
  t.match(bridge.answer('timer', '4 1'), /over/);
  t.match(bridged().bridge.answer('timer', 'x 1'), /whole number/);
});

t.test('too many timers are refused', async (t) => {
  const { bridge } = bridged();
  for (let id = 0; id < FIXED_LIMITS.timers; id += 1) bridge.answer('timer', `${id} 60000`);
  t.match(bridge.answer('timer', '5000 60000'), /armed/);
  bridge.close();
});

t.test('randomness comes in the amount that was asked for, and no more than allowed', async (t) => {
  const { bridge } = bridged();
  const random = bridge.answer('random', '65536');
  t.equal(random.length, 65_536);
  t.ok([...random].every((character) => character.charCodeAt(0) < 256));
  t.not(random, bridge.answer('random', '65536'));
  for (const amount of ['0', '-1', '65537', 'x', 'Infinity']) t.equal(bridge.answer('random', amount), '', amount);
});

t.test('outside of a call there are no capabilities and no timers', async (t) => {
  const outside = hostFunctionOutsideCalls();
  t.match(outside('request', REQUEST), /while a call runs/);
  t.match(outside('timer', '1 1'), /while a call runs/);
  for (const op of ['log', 'returned', 'done', 'clear'] as const) t.equal(outside(op, '{}'), '');
  t.equal(outside('random', '3').length, 3);
  t.match(outside('url', '{"url":"https://a.example/"}'), /a\.example/);
  t.match(outside('other' as HostOp, ''), /no such operation/);
});

t.test('what a call leaves behind is counted for its author', async (t) => {
  const { bridge, channel } = bridged();
  bridge.answer('returned', '1');
  bridge.logLeftBehind();
  t.same(channel.texts(UP.LOG), [], 'nothing is left');
  const other = bridged();
  for (const id of [1, 2, 3]) other.bridge.answer('timer', `${id} 60000`);
  other.bridge.answer('ref', '3 0');
  other.bridge.answer('request', REQUEST);
  other.bridge.answer('returned', '1');
  other.bridge.logLeftBehind();
  t.match(other.channel.texts(UP.LOG), [/^warn .*left 2 timers behind, which the call's end has stopped/]);
  t.notOk(other.bridge.idle);
  other.bridge.close();
});

t.test('a timer that was unref’d keeps no call going', async (t) => {
  const { bridge, channel } = bridged();
  bridge.answer('timer', '1 60000');
  bridge.answer('ref', '1 0');
  bridge.answer('ref', '9 0');
  bridge.answer('returned', '1');
  t.ok(bridge.idle);
  bridge.logLeftBehind();
  t.same(channel.texts(UP.LOG), []);
  bridge.answer('ref', '1 1');
  t.notOk(bridge.idle);
  bridge.close();
});

/** Threat: a guest whose URL means one host to it and another to who checks it. */
t.test('url parts', async (t) => {
  const ask = (question: unknown): Record<string, string> | '' => {
    const text = answerUrlQuestion(JSON.stringify(question));
    return text === '' ? '' : (JSON.parse(text) as Record<string, string>);
  };

  t.test('a URL is taken apart as the standard says', async (t) => {
    t.same(ask({ url: '../b?c#d', base: 'https://user:pw@EXAMPLE.com:8443/a/x' }), {
      href: 'https://user:pw@example.com:8443/b?c#d',
      origin: 'https://example.com:8443',
      protocol: 'https:',
      username: 'user',
      password: 'pw',
      host: 'example.com:8443',
      hostname: 'example.com',
      port: '8443',
      pathname: '/b',
      search: '?c',
      hash: '#d',
    });
    t.match(ask({ url: 'http://0x7f.1/' }), { hostname: '127.0.0.1' });
  });

  t.test('a part is set as the standard says', async (t) => {
    t.match(ask({ href: 'https://a.example/', set: 'pathname', value: 'x y' }), { href: 'https://a.example/x%20y' });
    t.match(ask({ href: 'https://a.example/', set: 'protocol', value: 'data' }), { href: 'https://a.example/' });
    t.match(ask({ href: 'https://a.example/', set: 'origin', value: 'https://b.example' }), { host: 'a.example' });
  });

  t.test('what is no URL, no part or no question has no answer', async (t) => {
    t.equal(ask({ url: 'nowhere' }), '');
    t.equal(ask({ href: 'https://a.example/', set: 'href', value: 'nowhere' }), '');
    t.match(ask({ href: 'https://a.example/', set: 'constructor', value: 'x' }), { href: 'https://a.example/' });
    t.equal(ask(null), '');
    t.equal(answerUrlQuestion('{'), '');
  });
});

/** Threat: a durable call that goes on by how quick its machine is. */
t.test('work that any machine may try, but this one has no time for, ends a durable call', async (t) => {
  const seed = 'cd'.repeat(32);
  const ask = (bridge: HostCallBridge, ms: number) => {
    const iterations = Math.round(ms / 0.0008);
    const question = { op: 'pbkdf2', password: '', salt: '', iterations, length: 8, hash: 'sha256' };
    return bridge.answer('crypto', JSON.stringify(question));
  };
  for (const ms of [3.2, 4]) {
    const { bridge } = bridged({}, { seed, leftMs: 3.5 });
    t.match(ask(bridge, ms), /^=/);
    t.match(JSON.parse(bridge.outcome ?? ''), { kind: 'ended', code: 'CPU_LIMIT' });
  }
  const answers = [3.5, 300.5].map((leftMs) => {
    const { bridge } = bridged({}, { seed, leftMs });
    t.match(ask(bridge, 1), /^=/);
    const answer = ask(bridge, DEFAULT_LIMITS.slice_ms + 1);
    t.equal(bridge.outcome, null);
    return answer;
  });
  t.match(answers, [/limits\.slice_ms/, answers[0]]);
  t.match(ask(bridged({}, { leftMs: 3.5 }).bridge, 4), /3 ms are left/, 'a plain call may know');
});
