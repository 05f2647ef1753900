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
import t, { type Test } from 'tap';
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

interface Started {
  /** Of the npm process. */
  pid: number;
  url: string;
  /** What a terminal shows. */
  text: string;
  /** How npm ended. */
  exited: Promise<number | null>;
}

async function npmStart(t: Test, dir: string): Promise<Started> {
  const areDefaultsFree = (await isFree(8080)) && (await isFree(8081));
  const ports = areDefaultsFree ? {} : { APP_PORT: '0', METRICS_PORT: '0' };
  const child = spawn('npm', ['start'], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...ports },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const { pid = 0 } = child;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // All of them are gone.
    }
    await exited;
  });
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    printed.push(line);
    if (line.includes('/call')) break;
  }
  child.stderr.resume();
  const text = printed.join('\n');
  return { pid, url: /ready at (\S+)/.exec(text)?.[1] ?? '', text, exited };
}

/** Nobody answers there any more. */
async function untilGone(url: string): Promise<void> {
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (await answers()) await delay(50);
}

t.test('with no setting it is ready, its curl line runs as pasted, and what ends npm ends it', async (t) => {
  const dir = await shippedCopy(t);
  const begun = performance.now();
  const first = await npmStart(t, dir);
  const seconds = (performance.now() - begun) / 1000;
  t.comment(`ready after ${seconds.toFixed(1)} s, npm included`);

  const apiKey = join(dir, 'data', 'api-key');
  t.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.match(first.text, `The API key lies in ${apiKey}`);
  t.equal((await stat(apiKey)).mode & 0o777, 0o600);

  const pasted = first.text.slice(first.text.indexOf('  curl'));
  const { stdout } = await run('bash', ['-c', `${pasted.replace('curl', 'curl -s')}`], { cwd: '/', timeout: 20_000 });
  t.match(JSON.parse(stdout), { success: true, error: null });
  t.match(stdout, 'Ada');

  process.kill(-first.pid, 'SIGINT');
  t.equal(await first.exited, 0, 'Ctrl-C, which npm passes on to one that has it already, ends it in good order');
  await untilGone(first.url);

  const second = await npmStart(t, dir);
  process.kill(second.pid, 'SIGTERM');
  await untilGone(second.url);
  t.equal(await second.exited, 0, '`kill` of the npm process does');
});
