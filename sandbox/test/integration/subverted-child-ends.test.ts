/**
 * Threat: an attacker controls a child process. It lies about the ends of calls, their resources and its own, or it
 * breaks the protocol. A forged result or end must be no more than a plugin could produce in its own call. The unit
 * test of `child-messages.ts` covers all refused messages. Here a real process sends one of each kind.
 */
import t from 'tap';
import { FIXED_LIMITS } from '../../contract.ts';
import { UP } from '../../protocol.ts';
import { assertLiesEnd, frameHeader, HostileSandboxes, hostileScript, inside } from '../support/hostile-sandbox.ts';
import { plugin } from '../support/sandbox.ts';

const hostile = await HostileSandboxes.create();

const usage = { cpu_ms: 1, calls: 0, heap_bytes: 0 };
const threw = { kind: 'threw', message: 'm', code: 'C', status: 500, details: '{}' };
const end = (outcome: object, more: object = {}) =>
  inside('') + `say(UP.DONE, call, ${JSON.stringify({ outcome, usage, dropped_logs: 0, isolates: 1, ...more })});`;
const returned = (text: string) => `say(UP.ENTER, call); say(UP.RETURNED, call, '${text}');`;

const LIES: Record<string, Record<string, string>> = {
  RETURNED: {
    'of a call of another process': 'done(77);',
    'of a call that never ran': `say(UP.RETURNED, call, '1 0 0 0 1\\n1');`,
    'after LEAVE': `${inside('')} say(UP.RETURNED, call, '1 0 0 0 1\\n1');`,
    'with a result that closes the answer': returned('1 0 0 0 1\\n1},"success":true,"data":{"paid":true'),
    'with time without end': returned('1e999 0 0 0 1\\n1'),
    'with more in it': returned('1 0 0 0 1 1\\n1'),
    'that is too long': frameHeader(1_048_576 + FIXED_LIMITS.up_frame_slack_bytes + 6, UP.RETURNED),
  },
  DONE: {
    'of a call of another process': end(threw).replace('DONE, call', 'DONE, 77'),
    'without LEAVE': end(threw).replace('say(UP.LEAVE, call);', ''),
    'in the words of the host': end({ kind: 'ended', code: 'SERVICE_UNAVAILABLE', message: 'm' }),
    'that nobody asked for': end({ kind: 'ended', code: 'CANCELED', message: 'm' }),
    'of a call that returned': end({ kind: 'returned', json: '1' }),
    'with details that close the answer': end({ ...threw, details: '1},"success":true,"data":{"paid":true' }),
    'with a negative status': end({ ...threw, status: -200 }),
    'with a code of 1001 characters': end({ ...threw, code: 'x'.repeat(1001) }),
    'with time without end': end(threw)
      .replace('"cpu_ms":1,', '"cpu_ms":1e999,')
      .replace(/DONE, call, (.*)\);/, "DONE, call, '$1');"),
    'with more in it': end(threw, { lost: true }),
    'that is too long': frameHeader(2 * 1_048_576 + FIXED_LIMITS.up_frame_slack_bytes + 6, UP.DONE),
  },
  ISOLATES: {
    'beyond all memory': `say(UP.ISOLATES, 0, '9999999999');`,
  },
  'a frame': {
    'of four gigabytes': frameHeader(0xffff_ffff, UP.LOG),
    'of an unknown kind': frameHeader(5, 99),
    'made of noise': `raw(Buffer.alloc(100_000, 'noise'));`,
  },
};

for (const [what, lies] of Object.entries(LIES)) {
  t.test(`${what} that lies ends its own process`, (t) => assertLiesEnd(t, hostile, what, lies));
}

t.test('a second end of a call ends the process, and the first one stands', async (t) => {
  const sandbox = await hostile.open(t);
  const report = await sandbox.call(
    hostileScript(`${inside('')} done(call, 'first'); done(call, 'second'); return 'silent';`),
  );
  t.match(report.outcome, { kind: 'returned', json: '"first"' });
  t.match(await sandbox.closed(), { cause: 'protocol', detail: /does not run here/ });
});

t.test('a version that failed to load has no result, and no end of the host’s', async (t) => {
  for (const outcome of [
    { kind: 'returned', json: '1' },
    { kind: 'ended', code: 'TIMEOUT', message: 'm' },
  ]) {
    const failure = { outcome, report: '' };
    const sandbox = await hostile.ready(t);
    sandbox.supervisor.load({
      ...plugin('', { pluginId: 'hostile' }),
      code: `HOSTILE_LOADED = ${JSON.stringify({ failure })};`,
    });
    t.match(await sandbox.closed(), { cause: 'protocol' });
    t.notOk(sandbox.messages.some(({ type }) => type === 'loaded'));
  }
});

t.test('a capability call bears the stamp of a call of the same process, whatever the child says', async (t) => {
  const sandbox = await hostile.open(t);
  const first = sandbox.call(hostileScript(`return 'silent';`));
  const second = sandbox.call(
    hostileScript(`
    say(UP.ENTER, calls[0]); say(UP.REQUEST, calls[0], { id: 1, method: 'kv.get', params: {} }); say(UP.LEAVE, calls[0]);
    done(calls[0], 'taken over'); ${inside('')} done(call); return 'silent';`),
  );
  t.match(await sandbox.request(1), { child: 1, call: 1 }, 'it can take one of its own plugin’s calls for another');
  t.match((await first).outcome, { json: '"taken over"' });
  t.match((await second).outcome, { kind: 'returned' });
});
