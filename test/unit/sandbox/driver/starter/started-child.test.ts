/** Threat: an end that is told twice, too early, or never. */
import { once } from 'node:events';
import { Socket } from 'node:net';
import t from 'tap';
import { StartedChild } from '../../../../../sandbox/driver/starter/started-child.ts';

function told(child: StartedChild): string[] {
  const events: string[] = [];
  child.on('spawn', () => events.push('spawn'));
  child.on('error', ({ message }) => events.push(`error ${message}`));
  child.on('exit', (code, signal) => events.push(`exit ${code} ${signal}`));
  child.on('close', (code, signal) => events.push(`close ${code} ${signal}`));
  return events;
}

t.test('it says what a process of our own would say, and its end after the last bytes', async (t) => {
  const child = new StartedChild(() => undefined);
  const events = told(child);
  t.equal(child.pid, undefined);
  child.started(7);
  t.equal(child.pid, 7);
  t.same(events, []);
  const channel = new Socket();
  child.connected(channel);
  t.equal(child.stdio[3], channel);
  child.exited(3, null);
  child.exited(null, 'SIGKILL');
  t.same(events, ['spawn', 'exit 3 null']);

  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.closed('last words');
  await once(child.stderr, 'close');
  t.same(events, ['spawn', 'exit 3 null'], 'its channel may have more');
  channel.destroy();
  await once(child, 'close');
  t.same(events, ['spawn', 'exit 3 null', 'close 3 null']);
  t.equal(stderr, 'last words');
});

t.test('one that never had a channel ends as well', async (t) => {
  const child = new StartedChild(() => undefined);
  const events = told(child);
  child.stderr.resume();
  child.exited(null, 'SIGKILL');
  child.closed('');
  await once(child, 'close');
  t.same(events, ['exit null SIGKILL', 'close null SIGKILL']);
});

t.test('a channel that is closed already is not waited for', async (t) => {
  const child = new StartedChild(() => undefined);
  const channel = new Socket();
  child.connected(channel);
  channel.destroy();
  await once(channel, 'close');
  child.stderr.resume();
  child.exited(0, null);
  child.closed('');
  t.same(await once(child, 'close'), [0, null]);
});

t.test('a kill holds before the start, and what is over is not killed', async (t) => {
  let kills = 0;
  const child = new StartedChild(() => {
    kills += 1;
  });
  const events = told(child);
  child.kill();
  t.equal(kills, 1);
  t.notOk(child.over);
  child.failed('no such program');
  t.ok(child.over);
  child.kill();
  child.exited(null, 'SIGKILL');
  t.equal(kills, 1);
  t.same(events, ['error no such program']);
});
