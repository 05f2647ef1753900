import t from 'tap';
import { type BuildJob, parseBuildRequest } from '../../../../src/plugin-host/build-request.ts';

const plugin: BuildJob = { kind: 'plugin', root: '/p', modulesDir: '/m', file: '/p/a.ts' };
const runtime: BuildJob = { kind: 'runtime', base: '/', file: '/boot.ts', exported: 'boot' };
const child: BuildJob = { kind: 'child', base: '/', file: '/main.ts' };

t.test('a request for each kind of build is read as it is', async (t) => {
  for (const job of [plugin, runtime, child]) t.strictSame(parseBuildRequest({ build: 3, job }), { build: 3, job });
});

t.test('anything else is refused', async (t) => {
  const job = (more: object) => ({ build: 1, job: { ...plugin, ...more } });
  for (const [name, message] of Object.entries({
    text: 'build',
    nothing: null,
    'no number': { job: plugin },
    'another key': { build: 1, job: plugin, more: 1 },
    'another kind': job({ kind: 'other' }),
    'a relative path': job({ file: 'a.ts' }),
    'a missing path': job({ root: undefined }),
    'an option of esbuild': job({ write: true }),
    'a child with an export': { build: 1, job: { ...child, exported: 'boot' } },
    'another export': { build: 1, job: { ...runtime, exported: 'x' } },
  })) {
    t.throws(() => parseBuildRequest(message), name);
  }
});
