/** Threat: a child that lives on after its kill, drowns the thread in its last words, or takes it along by an error. */
import t from 'tap';
import { FIXED_LIMITS } from '../../../contract.ts';
import { ChildConnection, type ChildExit } from '../../../driver/child.ts';
import { probeLauncher } from '../../../driver/confinement.ts';
import { start } from '../../../driver/launch.ts';
import { encodeFrame } from '../../../frames.ts';
import { runs } from '../../support/sandbox.ts';

const launcher = await probeLauncher('darwin', '');

/** A child that runs a script instead of our own. */
function scripted(script: string, onBytes: (chunk: Buffer, child: ChildConnection) => void = () => {}) {
  const gone = Promise.withResolvers<ChildExit>();
  const errors: Error[] = [];
  const child: ChildConnection = new ChildConnection(start([process.execPath, '-e', script]), launcher, {
    onBytes: (chunk) => onBytes(chunk, child),
    onError: (error) => errors.push(error),
    onGone: gone.resolve,
  });
  return { child, errors, gone: gone.promise };
}

t.test('frames go down, bytes come up, and a kill ends it', async (t) => {
  const echo = "const s = new (require('net').Socket)({ fd: 3 }); s.on('data', (d) => s.write(d));";
  const echoed = Promise.withResolvers<Buffer>();
  const { child, gone } = scripted(echo, (chunk) => echoed.resolve(chunk));
  child.send(3, 9, 'text');
  t.same(await echoed.promise, encodeFrame(3, 9, 'text'));
  const [pid = 0] = child.pids;
  t.equal(child.memoryPid, pid);
  child.kill();
  child.kill();
  t.match(await gone, { signal: 'SIGKILL' });
  t.notOk(runs(pid));
  child.kill();
  child.send(3, 9, 'late');
});

t.test('the last words are kept, and only the last', async (t) => {
  const { gone } = scripted("process.stderr.write('x'.repeat(100000)); process.stderr.write('the end')");
  const { stderr, code } = await gone;
  t.equal(code, 0);
  t.equal(stderr.length, FIXED_LIMITS.stderr_bytes);
  t.ok(stderr.endsWith('the end'));
});

t.test('what the owner cannot bear comes back to it as an error', async (t) => {
  const { child, errors, gone } = scripted("require('fs').writeSync(3, 'noise'); setInterval(() => {}, 1000)", () => {
    queueMicrotask(() => child.kill());
    throw new Error('unbearable');
  });
  await gone;
  t.match(errors, [{ message: 'unbearable' }]);
});

t.test('a command that does not exist is an error and an end', async (t) => {
  const gone = Promise.withResolvers<ChildExit>();
  const errors: Error[] = [];
  const child = new ChildConnection(start(['/nonexistent/program']), launcher, {
    onBytes: () => {},
    onError: (error) => errors.push(error),
    onGone: gone.resolve,
  });
  await gone.promise;
  t.match(errors, [{ code: 'ENOENT' }]);
  t.same(child.pids, []);
  child.kill();
});

t.test('what a child does not read is counted', async (t) => {
  const { child, gone } = scripted('setInterval(() => {}, 1000)');
  child.send(3, 1, 'x'.repeat(4_000_000));
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(child.backlogBytes > 1_000_000, `${child.backlogBytes}`);
  child.kill();
  await gone;
});
