import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, survivors } from '../../../support/processes.ts';
import { type RunningService, startService } from '../../../support/service.ts';
import { createWorkspace } from '../../../support/workspace.ts';
import { Asking, warmUp } from './asking.ts';
import { type CallKind, callKinds } from './call-kinds.ts';
import { type Course, courseOf, Resident } from './resident.ts';
import { courseAtRest, type Rest, takeRest } from './rests.ts';

export interface CallSoakOptions {
  calls: number;
  /** Concurrent calls. */
  concurrency: number;
  say: (text: string) => void;
}

export interface CallSoakResult {
  lines: (readonly [name: string, figure: string | number])[];
  /** The faults found, one sentence each; empty if there were none. */
  faults: string[];
  /** Everything that the server wrote. */
  output: string;
}

/** Long enough for several rounds in which processes dispose of isolates left from a burst, one every ten seconds. */
const SETTLE_MS = 45_000;
/** The growth over half of the calls that does not yet count as a leak: in MiB, and as a share of the median size. */
const HEAP_NOISE_MIB = 4;
const NOISE_MIB = 24;
const NOISE_SHARE = 0.1;
/** With fewer looks a slope means nothing. */
const MIN_LOOKS = 5;
const SHOWN_FAULTS = 20;
/** How often the calls stop, so that the memory of the plugin processes is measured at rest. */
const RESTS = 5;

/** Makes many calls of all kinds through the real server. Then counts its processes, isolates, keys and memory. */
export async function soakCalls({ calls, concurrency, say }: CallSoakOptions): Promise<CallSoakResult> {
  const echo = createServer((request, response) => response.end(request.url?.slice(1)));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  const kinds = callKinds((echo.address() as AddressInfo).port);
  const workspace = await createWorkspace({
    plugins: kinds.map(({ id, entry }) => ({ id, path: `${id}.ts`, ...entry })),
    pluginFiles: Object.fromEntries(kinds.map(({ id, source }) => [`${id}.ts`, source])),
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
  });
  try {
    const service = await startService(workspace.env, 'test/load/soak/calls/collected-server.ts');
    try {
      say('warming up');
      await warmUp(service, kinds, concurrency);
      return await soak(service, kinds, { calls, concurrency, say });
    } finally {
      await service.kill();
    }
  } finally {
    echo.closeAllConnections();
    echo.close();
    await workspace.remove();
  }
}

async function soak(
  service: RunningService,
  kinds: readonly CallKind[],
  { calls, concurrency, say }: CallSoakOptions,
): Promise<CallSoakResult> {
  const asking = new Asking(service, kinds);
  const before = new Map<string, number>();
  for (const { id } of kinds) before.set(id, await countedCalls(service, id));
  let done = 0;
  let spentMs = 0;
  const resident = new Resident(service, () => done);
  resident.start();
  const rests: Rest[] = [];
  for (let part = 0; part < RESTS; part += 1) {
    const began = performance.now();
    const over = () => {
      done += 1;
      const rate = (done / (spentMs + performance.now() - began)) * 1000;
      if (done % 10_000 === 0) say(`${done} calls, ${Math.round(rate)} a second`);
    };
    await asking.mix(done, Math.round((calls * (part + 1)) / RESTS), concurrency, over);
    spentMs += performance.now() - began;
    const rest = await takeRest(service, asking, done, () => settled(service, kinds));
    rests.push(rest);
    say(`at rest after ${done} calls: ${sizesOf(rest)}`);
  }
  await resident.stop();
  const heap = courseOf(resident.heap, calls);
  const main = courseOf(resident.main, calls);
  const atRest = courseAtRest(rests);
  const faults = [
    ...asking.faults,
    ...growthOf('the heap of the main process', heap, HEAP_NOISE_MIB),
    ...growthOf('the main process', main, NOISE_MIB),
    ...atRest.faults,
  ];

  const shelf = await settled(service, kinds);
  faults.push(...shelf.faults);
  for (const { id } of kinds) {
    const counted = (await countedCalls(service, id)) - (before.get(id) ?? 0);
    const made = asking.asked.get(id);
    if (counted !== made) faults.push(`${id}: ${made} calls were made, the server counts ${counted}`);
  }
  const below = await descendantsOf(service.pid);
  const code = await service.stop();
  if (code !== 0) faults.push(`the server ended with ${code}`);
  const left = await survivors(below, 5000);
  if (left.length > 0) faults.push(`${left.length} processes outlived the server`);
  return {
    lines: [
      ['calls', done],
      ['answers', [...asking.answered].map(([id, count]) => `${id} ${count}`).join(', ')],
      ['calls per second', Math.round((done / spentMs) * 1000)],
      ['processes', shelf.processes],
      ['isolates', shelf.isolates],
      ['heap of the main process', described(heap)],
      ['main process', described(main)],
      ['plugin processes under load', described(courseOf(resident.children, calls))],
      ['plugin processes at rest', described({ ...atRest, median: atRest.held }, 'from the second rest to the last')],
      ['processes left', left.length],
      ['wrong or lost', faults.length],
    ],
    faults: faults.slice(0, SHOWN_FAULTS),
    output: service.output(),
  };
}

/** Waits until the server has the isolates and processes that it should have. @returns the differences as `faults` */
async function settled(service: RunningService, kinds: readonly CallKind[]) {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const { faults, ...held } = await judgeShelf(service, kinds);
    if (faults.length === 0 || performance.now() > end) return { faults, ...held };
    await sleep(1000);
  }
}

async function judgeShelf(service: RunningService, kinds: readonly CallKind[]) {
  const faults: string[] = [];
  const { body } = await service.request('GET', '/api/v1/plugins?per_page=100');
  const sums = { processes: 0, isolates: 0 };
  for (const { id, now, kv_usage } of body.data as Shown[]) {
    sums.processes += now.processes;
    sums.isolates += now.isolates;
    const ready = (kinds.find((kind) => kind.id === id)?.ready ?? 0) * now.processes;
    if (now.isolates !== ready) faults.push(`${id} has ${now.isolates} isolates, ${ready} should wait`);
    if (now.calls_running + now.calls_queued > 0) faults.push(`${id} has calls that nobody made`);
    if (kv_usage.keys > 0) faults.push(`${id} keeps ${kv_usage.keys} keys`);
  }
  const text = await scrape(service);
  const spares = figureOf(text, /^isolayer_plugin_processes (\d+)$/gm) - sums.processes;
  const isolates = figureOf(text, /^isolayer_plugin_isolates\{plugin_id="[^"]+"\} (\d+)$/gm);
  const alive = (await descendantsOf(service.pid)).filter(({ command }) => isSandbox(command)).length;
  if (isolates !== sums.isolates) faults.push(`the metrics count ${isolates} isolates, the plugins ${sums.isolates}`);
  if (spares < 0 || spares > 1) faults.push(`there are ${spares} processes that are no plugin's`);
  if (alive !== sums.processes + spares)
    faults.push(`${alive} processes are alive, ${sums.processes + spares} are known`);
  return { faults, processes: `${alive} alive, ${sums.processes} of plugins, ${spares} spare`, isolates };
}

interface Shown {
  id: string;
  now: { processes: number; isolates: number; calls_running: number; calls_queued: number };
  kv_usage: { keys: number };
}

/** Whether this is a sandbox process itself. The program that confines it is its parent, with a different command. */
function isSandbox(command: string): boolean {
  return command.includes('isolayer-sandbox') && /^\S*\bnode /.test(command);
}

async function countedCalls(service: RunningService, id: string): Promise<number> {
  const { body } = await service.request('GET', `/api/v1/plugins/${id}`);
  return (body.data as { last_hour: { calls: number } }).last_hour.calls;
}

async function scrape({ url, apiKey }: RunningService): Promise<string> {
  const response = await fetch(`${url}/api/v1/debug/metrics/scrape`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return await response.text();
}

function figureOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((sum, [, figure]) => sum + Number(figure), 0);
}

function growthOf(name: string, course: Course, noiseMib: number): string[] {
  if (course.looks < MIN_LOOKS) return [`only ${course.looks} looks at ${name}: more calls are needed`];
  const isNoise = course.growth <= Math.max(noiseMib, course.median * NOISE_SHARE);
  return isNoise ? [] : [`${name} grew: ${described(course)}`];
}

function described({ slope, growth, median }: Omit<Course, 'looks'>, when = 'over the second half'): string {
  const sign = slope < 0 ? '' : '+';
  return `${Math.round(median)} MiB, ${sign}${slope.toFixed(2)} MiB per 10,000 calls, ${growth.toFixed(1)} MiB ${when}`;
}

function sizesOf({ held }: Rest): string {
  return [...held].map(([id, size]) => `${id} ${Math.round(size)}`).join(', ');
}
