/**
 * Threat: an attacker controls a child process, and sends messages in the name of guests: forged and replayed ids,
 * requests and log lines that no guest made, too many or too long ones. The host must accept what an honest child
 * could have sent, and end the process for anything else. The unit test of `child-messages.ts` covers all refused
 * messages. Here a real process sends one of each kind.
 */
import t from 'tap';
import { FIXED_LIMITS } from '../../contract.ts';
import { UP } from '../../protocol.ts';
import { assertLiesEnd, frameHeader, HostileSandboxes, inside } from '../support/hostile-sandbox.ts';

const hostile = await HostileSandboxes.create();

const ask = (fields: object) =>
  inside(`say(UP.REQUEST, call, ${JSON.stringify({ id: 1, method: 'kv.get', params: { key: 'k' }, ...fields })})`);

const LIES: Record<string, Record<string, string>> = {
  READY: {
    'a second one': `say(UP.READY, 0, { protocol: 1, node: 'x' });`,
  },
  LOADED: {
    'without LOAD': `say(UP.LOADED, 0, { version: 'v1', isolate_bytes: 1, failure: null });`,
    'of another version': `say(UP.LOADED, 0, { version: 'v2', isolate_bytes: 1, failure: null });`,
  },
  ENTER: {
    'for a call of another process': 'say(UP.ENTER, 4_000_000_000);',
    'within ENTER': 'say(UP.ENTER, call); say(UP.ENTER, call);',
    'for a call that is over': 'done(0); say(UP.ENTER, call);',
    'with a payload': `say(UP.ENTER, call, 'x');`,
    'and LEAVE, for ever': 'for (;;) { channel.send(UP.ENTER, call, ""); channel.send(UP.LEAVE, call, ""); }',
  },
  LEAVE: {
    'without ENTER': 'say(UP.LEAVE, call);',
    'of another call': 'say(UP.ENTER, call); say(UP.LEAVE, call + 1);',
  },
  REQUEST: {
    'from outside of the guest': `say(UP.REQUEST, call, { id: 1, method: 'kv.get', params: {} });`,
    'in the name of a call of another process': inside(`say(UP.REQUEST, 77, { id: 1, method: 'kv.get', params: {} })`),
    'with the same id again': ask({}) + ask({}),
    'with an id that counts down': ask({ id: 7 }) + ask({ id: 6 }),
    'with id 0': ask({ id: 0 }),
    'with an id beyond all whole numbers': ask({ id: 2 ** 60 }),
    'with a method of 101 characters': ask({ method: 'x'.repeat(101) }),
    'with an identity of its own': ask({ pluginId: 'other', call: 1 }),
    'with a value that is not JSON': inside(
      `say(UP.REQUEST, call, '{"id":1,"method":"kv.set","params":{"key":"k"}}\\n1,"x":2')`,
    ),
    'that is too long': frameHeader(FIXED_LIMITS.request_bytes + 6, UP.REQUEST),
    'of too many values, without an id to refuse': inside(
      `say(UP.REQUEST, call, '{"method":"x","id":1,"params":[' + '[],'.repeat(100_000) + '1]}')`,
    ),
    'that never waits for an answer': inside(
      `for (let id = 1; id < 1000; id += 1) channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'm', params: 0 }))`,
    ),
  },
  LOG: {
    'from outside of the guest': `say(UP.LOG, call, 'log x');`,
    'with a level of its own': inside(`say(UP.LOG, call, '\\u001b[2J x')`),
    'that is too long': frameHeader(FIXED_LIMITS.log_bytes + 6, UP.LOG),
    'more lines than there may be': inside(`for (;;) channel.send(UP.LOG, call, 'log ')`),
    'more bytes than there may be': inside(`for (;;) channel.send(UP.LOG, call, 'log ' + 'x'.repeat(100_000))`),
  },
};

for (const [what, lies] of Object.entries(LIES)) {
  t.test(`${what} that lies ends its own process`, (t) => assertLiesEnd(t, hostile, what, lies));
}
