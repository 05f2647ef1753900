import t from 'tap';
import { DEFAULT_LIMITS, type PluginVersion } from '../../../../../sandbox/protocol.ts';
import { hasRoom, isIdle, newSandboxProcess } from '../../../../../src/plugin-host/processes/sandbox-process.ts';

const MIB = 1_048_576;
const version: PluginVersion = {
  pluginId: 'p',
  version: 'v1',
  code: '',
  filename: 'plugins/p.ts',
  env: {},
  limits: { ...DEFAULT_LIMITS, process_mb: 200 },
  isolation: 'plugin',
};
const owned = () => ({
  ...newSandboxProcess(1, 7, 0),
  state: 'owned' as const,
  pluginId: 'p',
  version: 'v1' as string | undefined,
  isolateBytes: 10 * MIB,
});

t.test('a child that is not loaded with the version, or gives way, has no room', async (t) => {
  t.equal(hasRoom(newSandboxProcess(1, 7, 0), version), false);
  t.equal(hasRoom({ ...owned(), version: 'v0' }, version), false);
  t.equal(hasRoom({ ...owned(), draining: true }, version), false);
  t.equal(hasRoom(owned(), version), true);
});

t.test('measured memory and the isolate to come must stay below process_mb', async (t) => {
  const child = { ...owned(), running: 3, isolates: 3, rssBytes: 170 * MIB };
  t.equal(hasRoom(child, version), true, 'one more fits');
  t.equal(hasRoom({ ...child, running: 4 }, version), false, 'two more do not');
  t.equal(
    hasRoom({ ...child, rssBytes: 174 * MIB }, version),
    false,
    'nor one that would leave those that run no room to grow',
  );
  t.equal(hasRoom({ ...child, isolates: 5, rssBytes: 199 * MIB }, version), true, 'a waiting isolate costs nothing');
  t.equal(hasRoom({ ...child, running: 0, rssBytes: 500 * MIB }, version), true, 'the first call always may run');
});

t.test(
  'where many isolates are, what each takes by measure counts, if it is less than a new one was said to take',
  async (t) => {
    const child = { ...owned(), running: 60, isolates: 50, rssBytes: 125 * MIB };
    t.equal(hasRoom(child, version), true, 'eleven more of 2.5 MiB fit');
    t.equal(hasRoom({ ...child, running: 70 }, version), false);
    t.equal(hasRoom({ ...child, isolates: 1, running: 6 }, version), false, 'one isolate says nothing');
  },
);

t.test('idle is one that runs and loads nothing', async (t) => {
  t.equal(isIdle(owned()), true);
  t.equal(isIdle({ ...owned(), running: 1 }), false);
  t.equal(isIdle({ ...owned(), loading: 'v2' }), false);
  t.equal(isIdle(newSandboxProcess(1, 7, 0)), false);
});
