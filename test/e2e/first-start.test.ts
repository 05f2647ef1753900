/**
 * `npm start` as a newcomer types it, in a copy of the repository with nothing set: what it prints works as pasted.
 */
import { execFile, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { shippedCopy } from '../support/shipped-copy.ts';

const run = promisify(execFile);

/** Other tests, or another Isolayer, may have the ports of the defaults. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return await promise;
}

t.test('with no setting it is ready, and its curl line runs as pasted', async (t) => {
  const dir = await shippedCopy(t);
  const areDefaultsFree = (await isFree(8080)) && (await isFree(8081));
  const ports = areDefaultsFree ? {} : { APP_PORT: '0', METRICS_PORT: '0' };

  const begun = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...ports },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
    await exited;
  });
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    printed.push(line);
    if (line.includes('/call')) break;
  }
  child.stderr.resume();
  const seconds = (performance.now() - begun) / 1000;
  t.comment(`ready after ${seconds.toFixed(1)} s, npm included`);
  t.ok(seconds < 20, 'bounded even beside other tests');

  const text = printed.join('\n');
  const apiKey = join(dir, 'data', 'api-key');
  t.match(text, /Isolayer is ready at http:\/\/127\.0\.0\.1:\d+/);
  t.match(text, `The API key lies in ${apiKey}`);
  t.equal((await stat(apiKey)).mode & 0o777, 0o600);

  const pasted = text.slice(text.indexOf('  curl'));
  const { stdout } = await run('bash', ['-c', `${pasted.replace('curl', 'curl -s')}`], { cwd: '/', timeout: 20_000 });
  t.match(JSON.parse(stdout), { success: true, error: null });
  t.match(stdout, 'Ada');

  const url = /ready at (\S+)/.exec(text)?.[1] ?? '';
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  await exited;
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  let isThere = await answers();
  for (let tries = 0; isThere && tries < 200; tries += 1) {
    await delay(50);
    isThere = await answers();
  }
  t.notOk(isThere, 'Ctrl+C ends it');
});
