/** Threat: a worker that reads hostile files sends more data than the server can bear. */
import t from 'tap';
import {
  BUILD,
  BUNDLE_BYTES,
  type BuildJob,
  MAP_BYTES,
  mostReportBytes,
  mostRequestBytes,
  parseBuildJob,
  REPORT,
} from '../../../../../../src/plugin-host/compiler/bundler/worker-messages.ts';

const plugin: BuildJob = { kind: 'plugin', root: '/p', modulesDir: '/m', file: '/p/a.ts' };
const runtime: BuildJob = { kind: 'runtime', base: '/', file: '/boot.ts', exported: 'boot' };
const child: BuildJob = { kind: 'child', base: '/', file: '/main.ts' };

t.test('each kind of job is read as it is', async (t) => {
  for (const job of [plugin, runtime, child]) t.strictSame(parseBuildJob(JSON.stringify(job)), job);
});

t.test('anything else is refused', async (t) => {
  for (const [name, message] of Object.entries({
    text: 'build',
    nothing: null,
    'another kind': { ...plugin, kind: 'other' },
    'a relative path': { ...plugin, file: 'a.ts' },
    'a missing path': { ...plugin, root: undefined },
    'an option of esbuild': { ...plugin, write: true },
    'another export': { ...runtime, exported: 'x' },
  })) {
    t.throws(() => parseBuildJob(JSON.stringify(message)), name);
  }
});

t.test('each kind of frame is bounded, and there are no others', async (t) => {
  t.equal(mostReportBytes(REPORT.CODE), BUNDLE_BYTES);
  t.equal(mostReportBytes(REPORT.MAP), MAP_BYTES);
  t.equal(mostReportBytes(REPORT.READ), 256 * 1024);
  for (const kind of [0, 7, 255]) t.equal(mostReportBytes(kind), undefined);
  t.equal(mostRequestBytes(BUILD), 256 * 1024);
  t.equal(mostRequestBytes(2), undefined);
});
