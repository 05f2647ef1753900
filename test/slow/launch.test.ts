/**
 * `npm start` takes the bundle of an earlier start only while nothing that it was made from is edited. A line at the end
 * of `src/main.ts` tells what runs.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { shippedCopy } from '../support/shipped-copy.ts';

const run = promisify(execFile);

const dir = await shippedCopy(t);
const main = join(dir, 'src', 'main.ts');
const lines = (await readFile(main, 'utf8')).split('\n').length;
await appendFile(main, 'process.stderr.write(`told: ${typeof __dirname} ${new Error("v1").stack}\\n`);\n');

/** Starts the service until it has told what runs, or another line, or has ended. Returns what it said. */
async function start(t: Test, last = /^ {4}at /): Promise<string> {
  const service = spawn(process.execPath, [join(dir, 'bin', 'launch.mjs')], {
    cwd: dir,
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', APP_PORT: '0', METRICS_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => service.kill('SIGKILL'));
  const exited = once(service, 'exit');
  let said = '';
  for await (const line of createInterface({ input: service.stderr })) {
    said += `${line}\n`;
    if (last.test(line)) break;
  }
  service.kill('SIGKILL');
  await exited;
  return said;
}

const bundle = () => run(process.execPath, [join(dir, 'bin', 'bundle.ts')], { cwd: dir });

t.test('without a bundle it starts the sources', async (t) => {
  t.match(await start(t), 'told: undefined Error: v1');
});

t.test('a bundle is started with what was compiled, and its stacks name the sources', async (t) => {
  await bundle();
  t.ok((await readdir(join(dir, 'dist'), { recursive: true })).some((name) => name.endsWith('.compiled')));
  const told = await start(t);
  t.match(told, 'told: string Error: v1');
  t.match(told, `${main}:${lines}`);
});

t.test('an edit counts at once, also one that keeps size and time of the file', async (t) => {
  const { atime, mtime } = await stat(main);
  await writeFile(main, (await readFile(main, 'utf8')).replace('"v1"', '"v2"'));
  await utimes(main, atime, mtime);
  t.match(await start(t), 'told: undefined Error: v2');
});

t.test('so does an edit of a package', async (t) => {
  await bundle();
  t.match(await start(t), 'told: string Error: v2');
  const file = join(dir, 'node_modules', 'pino', 'pino.js');
  const text = await readFile(file, 'utf8');
  // The copy may share the file with the repository's packages.
  await rm(file);
  await writeFile(file, text);
  t.match(await start(t), 'told: undefined Error: v2');
});

t.test('a source that is broken is named, also by the bundler', async (t) => {
  const broken = join(dir, 'src', 'app', 'compose.ts');
  await appendFile(broken, 'const = 1;\n');
  t.match(await start(t, /const = 1/), `${broken}:`);
  await t.rejects(bundle(), { message: /compose\.ts:\d+/ });
  t.ok(existsSync(join(dir, 'dist', 'bundle.json')));
});
