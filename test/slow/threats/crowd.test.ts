/**
 * Threat: many attacks at once. They occupy all processes, fill the main process, or let one caller disable a plugin
 * for the others. If one of these fails, look at `sandbox/host/call-queues.ts` and `quarantine.ts`.
 */
import { readFile } from 'node:fs/promises';
import t from 'tap';
import type { Attack } from '../../support/attacks/attack.ts';
import { LOG_ATTACKS } from '../../support/attacks/logs.ts';
import { PROCESSOR_ATTACKS } from '../../support/attacks/processor.ts';
import { openStage } from '../../support/attacks/stage.ts';
import { UNINTERRUPTIBLE_ATTACKS } from '../../support/attacks/uninterruptible.ts';
import { type RunningService, startService } from '../../support/service.ts';

/** On a machine without other load, it takes a second. */
const ANSWERED_WITHIN_MS = 8000;
/** Far less than the floods would fill, and far more than garbage that is not collected yet. */
const MAX_GROWTH_MB = 150;

function named(attacks: readonly Attack[], name: string): Attack {
  const found = attacks.find((attack) => attack.name === name);
  if (found === undefined) throw new Error(`no attack is named ${name}`);
  return found;
}

async function residentMb(pid: number): Promise<number> {
  const [, kilobytes = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** Asks all the time until something is over. Returns the slowest answer, in ms. */
async function slowestMeanwhile(service: RunningService, over: Promise<unknown>): Promise<number> {
  let slowest = 0;
  let isOver = false;
  const ask = async (one: () => Promise<{ status: number }>) => {
    while (!isOver) {
      const began = performance.now();
      const { status } = await one();
      if (status !== 200) throw new Error(`a bystander was answered with ${status}`);
      slowest = Math.max(slowest, performance.now() - began);
    }
  };
  const asking = [ask(() => service.request('GET', '/api/v1/health')), ask(() => service.call('honest'))];
  await over;
  isOver = true;
  await Promise.all(asking);
  return Math.round(slowest);
}

const endless = named(PROCESSOR_ATTACKS, 'an endless loop');
const flood = named(LOG_ATTACKS, 'a flood of log lines');
const sorting = named(UNINTERRUPTIBLE_ATTACKS, 'sorting typed numbers');
const rope = named(UNINTERRUPTIBLE_ATTACKS, 'splitting a rope of 2^28 characters');
const silent = named(PROCESSOR_ATTACKS, 'a promise that never settles');

const stage = await openStage(t, [endless, flood, sorting, rope, silent], startService, {
  env: { PLUGIN_MAX_PROCESSES: '6' },
});
const { service } = stage;
await service.call('honest');

t.test('threat 50: sixteen loops and one honest plugin', async (t) => {
  // Threat: busy guests occupy all processes, or all turns of the thread that feeds them, so that nobody else is
  // served.
  const loops = Promise.all([
    ...Array.from({ length: 12 }, () => stage.attack(endless)),
    ...Array.from({ length: 4 }, () => stage.attack(sorting)),
  ]);
  const slowest = await slowestMeanwhile(service, loops);
  for (const { status } of await loops) t.ok(status === 504 || status === 503, `an attack ends with ${status}`);
  t.ok(slowest < ANSWERED_WITHIN_MS, `everybody else is answered after ${slowest} ms at most`);
});

t.test('threat 6: floods of lines do not fill the service', async (t) => {
  // Threat: guests write faster than the main process reads, and fill its memory.
  await stage.attack(flood);
  const before = await residentMb(service.pid);
  const floods = Promise.all(Array.from({ length: 12 }, () => stage.attack(flood)));
  const slowest = await slowestMeanwhile(service, floods);
  for (const { body } of await floods) {
    // A call that goes too far may end its process, and with it another of these calls.
    t.match(body.data.code, /^(CPU_LIMIT|TIMEOUT|SERVICE_UNAVAILABLE|SANDBOX_LOST)$/);
    t.ok(body.metadata.logs.length <= 1000, 'within the cap of lines');
  }
  const growth = Math.round((await residentMb(service.pid)) - before);
  t.ok(growth < MAX_GROWTH_MB, `the main process grew by ${growth} MB`);
  t.ok(slowest < ANSWERED_WITHIN_MS, `everybody else is answered after ${slowest} ms at most`);
});

t.test('threat 3: a hundred calls that wait for ever end with their own time', async (t) => {
  // Threat: calls that cost nothing but their place, until no place is left.
  const began = performance.now();
  const calls = Promise.all(Array.from({ length: 100 }, () => stage.attack(silent)));
  const slowest = await slowestMeanwhile(service, calls);
  const codes = (await calls).map(({ body }): string => body.data.code);
  const timeouts = codes.filter((code) => code === 'TIMEOUT').length;
  t.ok(timeouts >= 20, `${timeouts} had their place and their time`);
  // One process does not have the memory for all of them at once.
  t.strictSame(new Set([...codes, 'SERVICE_UNAVAILABLE']), new Set(['TIMEOUT', 'SERVICE_UNAVAILABLE']));
  t.ok(performance.now() - began < 20_000, 'all of them are over');
  t.ok(slowest < ANSWERED_WITHIN_MS, `everybody else is answered after ${slowest} ms at most`);
  t.match(await service.call(stage.idOf(silent), { honest: true }), { status: 200, body: { data: 'honest' } });
});

t.test('threat 18: calls that kill their process are backed off, and the plugin comes back', async (t) => {
  // Threat: each death costs a process. But a caller who can cause deaths must not disable a plugin for good.
  const id = stage.idOf(rope);
  const honest = () => service.call(id, { honest: true });
  const codes = [];
  while (codes.length < 8 && codes.at(-1) !== 'SERVICE_UNAVAILABLE')
    codes.push((await stage.attack(rope)).body.data.code);
  t.equal(codes.at(-1), 'SERVICE_UNAVAILABLE', codes.join(', '));
  t.ok(codes.length > 1, 'not before the first death');
  t.match(await service.call('honest'), { status: 200 }, 'another plugin is not refused');

  const end = performance.now() + 20_000;
  let answer = await honest();
  while (answer.status === 503 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await honest();
  }
  t.match(answer, { status: 200, body: { data: 'honest' } }, 'after seconds it serves again');
  t.match(await honest(), { status: 200 }, 'and goes on to');
});
