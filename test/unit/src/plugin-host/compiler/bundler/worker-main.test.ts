/**
 * Threat: a build reads endless files, and each one must be reported before the bundler fails on them. Or a killed
 * server leaves a process behind that builds and takes memory forever.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { duplexPair } from 'node:stream';
import t, { type Test } from 'tap';
import { encodeFrame, FrameDecoder } from '../../../../../../sandbox/frames.ts';
import { serveBuilds } from '../../../../../../src/plugin-host/compiler/bundler/worker-main.ts';
import {
  BUILD,
  type BuildJob,
  mostReportBytes,
  REPORT,
  WORKER_PROTOCOL,
} from '../../../../../../src/plugin-host/compiler/bundler/worker-messages.ts';
import { PluginFolder } from '../../../../../support/plugin-host.ts';
import { descendantsOf, survivors } from '../../../../../support/processes.ts';

type Perform = Parameters<typeof serveBuilds>[1];
type Frame = [kind: number, build: number, text: string];

const sources = resolve(import.meta.dirname, '../../../../../../src/plugin-host/compiler/bundler');
const modulesDir = resolve(sources, '../../../../sandbox/guest/modules');
const job: BuildJob = { kind: 'plugin', root: '/p', modulesDir: '/m', file: '/p/a.ts' };
const ready: Frame = [REPORT.READY, WORKER_PROTOCOL, ''];

function open(t: Test, perform: Perform) {
  const [ours, theirs] = duplexPair();
  const ended = Promise.withResolvers<void>();
  serveBuilds(theirs, perform, () => ended.resolve());
  t.teardown(() => ours.destroy());
  const heard: Frame[] = [];
  let wake = () => {};
  const decoder = new FrameDecoder(mostReportBytes, (...frame) => {
    heard.push(frame);
    wake();
  });
  ours.on('data', (chunk: Buffer) => decoder.push(chunk));
  /** Resolves with the next `count` frames. */
  const next = async (count: number): Promise<Frame[]> => {
    while (heard.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return heard.splice(0, count);
  };
  return { ours, next, ended: ended.promise };
}

t.test('it says that it is ready, what a build reads, and then what it came to', async (t) => {
  const { ours, next } = open(t, async ({ file }, onRead) => {
    onRead(file, 'state');
    return { kind: 'built', code: Buffer.from('code'), map: Buffer.from('map') };
  });
  ours.write(encodeFrame(BUILD, 4, JSON.stringify(job)));
  t.strictSame(await next(4), [
    ready,
    [REPORT.READ, 4, '["/p/a.ts","state"]'],
    [REPORT.MAP, 4, 'map'],
    [REPORT.CODE, 4, 'code'],
  ]);
});

t.test('the files of a build that never ends are told', async (t) => {
  const { ours, next } = open(t, (_, onRead) => {
    for (let file = 0; file < 250; file++) onRead(`/${file}`, '');
    return new Promise(() => {});
  });
  ours.write(encodeFrame(BUILD, 0, JSON.stringify(job)));
  t.strictSame((await next(251)).at(-1), [REPORT.READ, 0, '["/249",""]']);
});

t.test('builds that fail, are too large or have no map are told as such', async (t) => {
  const ends = [
    { kind: 'failed', problems: [], total: 3 },
    { kind: 'oversized', bytes: 11 },
    { kind: 'built', code: Buffer.from('c'), map: null },
  ] as const;
  let builds = 0;
  const { ours, next } = open(t, async () => {
    const end = ends[builds++];
    if (end === undefined) throw new Error('asked once too often');
    return end.kind === 'failed' ? { ...end, problems: [] } : end;
  });
  for (const build of ends.keys()) ours.write(encodeFrame(BUILD, build, JSON.stringify(job)));
  t.strictSame(await next(4), [
    ready,
    [REPORT.FAILED, 0, '{"problems":[],"total":3}'],
    [REPORT.OVERSIZED, 1, '11'],
    [REPORT.CODE, 2, 'c'],
  ]);
});

t.test('it ends with its channel, with a bundler that breaks, and over what is no request', async (t) => {
  const never = () => new Promise<never>(() => {});
  const cut = open(t, never);
  cut.ours.end();
  await cut.ended;
  const broken = open(t, async () => {
    throw new Error('The service was stopped');
  });
  broken.ours.write(encodeFrame(BUILD, 0, JSON.stringify(job)));
  await broken.ended;
  const garbled = open(t, never);
  garbled.ours.write(Buffer.alloc(100, 0xff));
  await garbled.ended;
  const foreign = open(t, never);
  foreign.ours.write(encodeFrame(BUILD, 0, '{"kind":"other"}'));
  await foreign.ended;
  t.pass('each of them ended');
});

t.test('the process and that of esbuild end with the server, however that ends', { timeout: 120_000 }, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const folder = new PluginFolder({ 'a.js': '1;', 'b.js': `import 'hanging';`, 'node_modules/hanging/index.js': '' });
  t.teardown(() => folder.remove());
  folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
  folder.write('node_modules/hanging/inner/index.js', '');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
  const job = (name: string) =>
    JSON.stringify({ kind: 'plugin', root: folder.path, modulesDir, file: join(folder.path, name) });
  folder.write(
    'server.mjs',
    `import { Bundler } from ${JSON.stringify(join(sources, 'bundler.ts'))};
      import { bundlerHolds } from ${JSON.stringify(join(sources, 'launch.ts'))};
      const bundler = new Bundler({ timeoutMs: 100_000, idleMs: 100_000 }, bundlerHolds(2 ** 30, [${JSON.stringify(folder.path)}]));
      await bundler.build(${job('a.js')});
      void bundler.build(${job('b.js')});
      console.log('builds');`,
  );
  const server = spawn(process.execPath, [join(folder.path, 'server.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  const family = await descendantsOf(server.pid ?? 0);
  t.match(
    family.map(({ command }) => command).join('\n'),
    /worker-main[^]*esbuild --service|esbuild --service[^]*worker-main/,
  );
  server.kill('SIGKILL');
  t.same(await survivors(family, 30_000), []);
});
