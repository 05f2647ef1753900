import t from 'tap';
import { CallEnd } from '../../../../../sandbox/guest/call-end.ts';
import { createProcess } from '../../../../../sandbox/guest/globals/process.ts';
import { Timers } from '../../../../../sandbox/guest/globals/timers.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { GuestHost } from '../../../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const written: string[] = [];
  const process = createProcess(
    new Timers(link, new CallEnd(link)),
    (text) => written.push(`out ${String(text)}`),
    (text) => written.push(`err ${String(text)}`),
    () => 1234.5,
    { GRANTED: 'yes' },
  ) as unknown as NodeJS.Process;
  return { process, written };
}

t.test('has what libraries look for, and nothing that reaches out', async (t) => {
  const { process, written } = open();
  t.match(process, {
    env: { GRANTED: 'yes' },
    argv: [],
    version: /^v\d+/,
    versions: {},
    platform: 'linux',
    arch: 'x64',
  });
  t.equal(process.versions.node, undefined);
  for (const name of ['exit', 'kill', 'binding', 'dlopen', 'getBuiltinModule', 'send', 'mainModule'])
    t.notOk(name in process);
  t.equal(process.cwd(), '/');
  t.equal(process.uptime(), 1.2345);
  process.env['SET'] = 'by the plugin';
  t.equal(process.env['SET'], 'by the plugin');
  process.stdout.write('line\n');
  process.stderr.write(new Uint8Array([1]));
  process.emitWarning('careful');
  t.strictSame(written, ['out line', 'err 1', 'err careful']);
  t.equal(
    process.on('exit', () => {}),
    process,
  );
  t.equal(process.emit('warning', new Error('w')), false);
  t.strictSame(process.listeners('exit'), []);
  t.equal(process.listenerCount('exit'), 0);
  for (const name of ['once', 'off', 'addListener', 'removeListener', 'removeAllListeners'] as const) {
    t.equal(
      process[name]('exit', () => {}),
      process,
    );
  }
  const ticked = new Promise((resolve) => process.nextTick(resolve, 'tick'));
  t.equal(await ticked, 'tick');
});

t.test('tells passed time', (t) => {
  const { process } = open();
  t.strictSame(process.hrtime(), [1, 234_500_000]);
  t.strictSame(process.hrtime([1, 34_500_000]), [0, 200_000_000]);
  t.equal(process.hrtime.bigint(), 1_234_500_000n);
  t.end();
});
