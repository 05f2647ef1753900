import vm from 'node:vm';
import t from 'tap';
import { boot } from '../../../../sandbox/guest/boot.ts';
import { GuestHost, replyText } from '../../../support/guest-host.ts';

function open(
  script: string,
  setup = { env: { A: '1' }, reused: false, mentioned: [], limits: { result_bytes: 1000, calls: 10 } },
) {
  const context = vm.createContext();
  const global = vm.runInContext('globalThis', context) as typeof globalThis;
  const host = new GuestHost();
  const entries = boot(host.call, global);
  entries.setup(JSON.stringify(setup));
  vm.runInContext(script, context);
  const failure = entries.seal();
  return { host, entries, global, failure };
}

const invocation = JSON.stringify({
  params: {},
  headers: {},
  route: '',
  method: 'POST',
  query: {},
  caller: { keyId: 'k' },
});
const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('a call from beginning to end', async (t) => {
  const { host, entries, global } = open(`__isolayer_plugin__ = { handler: async (context) => {
    console.log(process.env.A);
    const value = await context.kv.get('k');
    await new Promise((resolve) => setTimeout(resolve, 20));
    return value;
  } };`);
  t.notOk('__isolayer_plugin__' in global);
  entries.invoke(invocation);
  t.strictSame(host.lines, ['log: 1']);
  entries.reply(replyText(1, { ok: true, value: 7 }));
  await turn();
  t.strictSame([...host.timers], [[1, 20]]);
  entries.fire(1);
  await turn();
  t.strictSame(host.outcome, { kind: 'returned', json: '7' });
});

t.test('a module without a handler, and one that throws, are told as they are sealed', (t) => {
  t.equal(open('__isolayer_plugin__ = { handler() {} };').failure, '');
  t.match(JSON.parse(open('__isolayer_plugin__ = {};').failure), { outcome: { message: /must export a handler/ } });
  const thrown = open('__isolayer_threw__ = { error: { name: "RangeError", message: "no price" } };');
  t.match(JSON.parse(thrown.failure), { outcome: { message: 'no price' }, report: /^Uncaught {.*no price/ });
  t.notOk('__isolayer_threw__' in thrown.global);
  t.notOk('WebAssembly' in thrown.global);
  t.end();
});
