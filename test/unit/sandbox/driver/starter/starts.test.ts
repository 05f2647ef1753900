/** Threat: starts that wait for a starter, starters that nobody needs, and plugins that cannot start without one. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { Child } from '../../../../../sandbox/driver/child/child.ts';
import type { Launcher } from '../../../../../sandbox/driver/child/launch.ts';
import { Starts } from '../../../../../sandbox/driver/starter/starts.ts';
import { eventually } from '../../../../support/plugin-host.ts';
import { descendantsOf } from '../../../../support/processes.ts';
import { scriptedLauncher } from '../../../../support/scripted-launcher.ts';

const WAIT = 'exec sleep 600';

/** Starts children of this launcher, and tells whose child each is. */
function open(t: Test, launcher: Launcher) {
  const starts = new Starts(launcher, '');
  t.teardown(() => starts.close());
  return async (): Promise<{ parent: number; gone: Promise<unknown> }> => {
    const gone = Promise.withResolvers<unknown>();
    const child = new Child(starts.start(), launcher, {
      onBytes: () => undefined,
      onError: () => undefined,
      onGone: gone.resolve,
    });
    t.teardown(() => {
      child.kill();
      return gone.promise;
    });
    const pid = await eventually(
      () => child.startedPid,
      (known) => known !== undefined,
    );
    const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return { parent: Number(parent), gone: gone.promise };
  };
}

async function starters(): Promise<number[]> {
  const found = (await descendantsOf(process.pid)).filter(({ command }) => command.includes('isolayer-starter'));
  return found.map(({ pid }) => pid).filter((pid) => !others.includes(pid));
}

/** Of tests that ran in this process before. */
const others: number[] = [];
others.push(...(await starters()));

if (process.platform !== 'linux') t.bailout('only Linux has a starter');

t.test('nobody waits for a starter, which comes with the third start, and again when it has gone', async (t) => {
  const start = open(t, scriptedLauncher(WAIT));
  t.equal((await start()).parent, process.pid);
  t.equal((await start()).parent, process.pid);
  t.same(await starters(), [], 'one plugin and the spare need none');
  t.equal((await start()).parent, process.pid);
  const [starter = 0] = await eventually(starters, ({ length }) => length === 1);
  const byStarter = await eventually(start, ({ parent }) => parent !== process.pid);
  t.equal(byStarter.parent, starter);
  t.equal((await start()).parent, starter);

  process.kill(starter, 'SIGKILL');
  t.match(await byStarter.gone, { code: null, signal: 'SIGKILL' });
  t.equal((await start()).parent, process.pid);
  const next = await eventually(start, ({ parent }) => parent !== process.pid);
  t.not(next.parent, starter);
  t.same(await starters(), [next.parent], 'one at a time');
});

t.test('where none can begin, children start without, and it is not tried each time', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const tried = path.join(folder, 'tried');
  const start = open(t, scriptedLauncher(WAIT, ['/bin/sh', '-c', `echo once >> ${tried}; exit 1`]));
  for (let first = 0; first < 3; first += 1) await start();
  await eventually(
    () => readFileSync(tried, { encoding: 'utf8', flag: 'a+' }),
    (text) => text !== '',
  );
  for (let more = 0; more < 5; more += 1) t.equal((await start()).parent, process.pid);
  t.equal(readFileSync(tried, 'utf8'), 'once\n');
});
