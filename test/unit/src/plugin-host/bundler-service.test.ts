/** Threat: files without number, of which each is to be told before the bundler breaks over them. */
import { duplexPair } from 'node:stream';
import t, { type Test } from 'tap';
import type { BuildJob } from '../../../../src/plugin-host/build-request.ts';
import { encodeFrame, type Frame, FrameReader } from '../../../../src/plugin-host/bundler-frames.ts';
import { serveBuilds } from '../../../../src/plugin-host/bundler-service.ts';

type Perform = Parameters<typeof serveBuilds>[1];

const job: BuildJob = { kind: 'plugin', root: '/p', modulesDir: '/m', file: '/p/a.ts' };

function open(t: Test, perform: Perform) {
  const [ours, theirs] = duplexPair();
  const ended = Promise.withResolvers<void>();
  serveBuilds(theirs, perform, () => ended.resolve());
  t.teardown(() => ours.destroy());
  const reader = new FrameReader({ message: 1_048_576, bytes: 1_048_576 });
  const heard: Frame[] = [];
  let wake = () => {};
  ours.on('data', (chunk: Buffer) => {
    heard.push(...reader.push(chunk));
    wake();
  });
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
  ours.write(encodeFrame({ build: 4, job }));
  const [ready, read, built] = await next(3);
  t.strictSame(ready?.message, { kind: 'ready', version: 1 });
  t.strictSame(read?.message, { kind: 'read', build: 4, files: [['/p/a.ts', 'state']] });
  t.strictSame(built?.message, { kind: 'built', build: 4, code: 4, map: 3 });
  t.equal(built?.bytes.toString(), 'codemap');
});

t.test('the files of a build that never ends are told, a hundred at a time', async (t) => {
  const { ours, next } = open(t, (_, onRead) => {
    for (let file = 0; file < 250; file++) onRead(`/${file}`, '');
    return new Promise(() => {});
  });
  ours.write(encodeFrame({ build: 0, job }));
  const [, ...reads] = await next(4);
  const lengths = reads.map(({ message }) => (message as { files: unknown[] }).files.length);
  t.strictSame(lengths, [100, 100, 50]);
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
  for (const build of ends.keys()) ours.write(encodeFrame({ build, job }));
  const [, ...said] = await next(4);
  t.strictSame(
    said.map(({ message }) => message),
    [
      { kind: 'failed', build: 0, problems: [], total: 3 },
      { kind: 'oversized', build: 1, bytes: 11 },
      { kind: 'built', build: 2, code: 1, map: null },
    ],
  );
});

t.test('it ends with its channel, with a bundler that breaks, and over what is no request', async (t) => {
  const never = () => new Promise<never>(() => {});
  const cut = open(t, never);
  cut.ours.end();
  await cut.ended;
  const broken = open(t, async () => {
    throw new Error('The service was stopped');
  });
  broken.ours.write(encodeFrame({ build: 0, job }));
  await broken.ended;
  const garbled = open(t, never);
  garbled.ours.write(Buffer.alloc(100, 0xff));
  await garbled.ended;
  const foreign = open(t, never);
  foreign.ours.write(encodeFrame({ build: 0, job: { kind: 'other' } }));
  await foreign.ended;
  t.pass('each of them ended');
});
