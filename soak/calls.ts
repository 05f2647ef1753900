import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, survivors } from '../test/support/processes.ts';
import { type RunningService, startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { type CallAnswer, type CallKind, callKinds, kindOf } from './call-kinds.ts';
import { type Course, courseOf, Resident } from './resident.ts';

export interface CallSoakOptions {
  calls: number;
  /** Calls in flight. */
  concurrency: number;
  say: (text: string) => void;
}

export interface CallSoakResult {
  lines: (readonly [name: string, figure: string | number])[];
  /** What is wrong, one sentence for each; empty when everything was as it should be. */
  faults: string[];
  /** What the server wrote. */
  output: string;
}

/** Longer than any call may take, its waits for a place included. */
const PATIENCE_MS = 60_000;
/** Isolates that a burst left are let go in rounds of ten seconds, and idle processes after sixty. */
const SETTLE_MS = 45_000;
/** What memory may seem to grow by over half of the calls before that counts as a leak. */
const HEAP_NOISE_MIB = 4;
const NOISE_MIB = 24;
const NOISE_SHARE = 0.1;
/** Below this nothing can be said of a slope. */
const LEAST_LOOKS = 5;
const SHOWN_FAULTS = 20;

/** Many calls of many kinds through the real server; at the end everything that it holds is counted. */
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
    const service = await startService(workspace.env, 'soak/collected-server.ts');
    try {
      await warmUp(service, kinds);
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
  const faults: string[] = [];
  const answered = new Map(kinds.map(({ id }) => [id, 0]));
  const asked = new Map(kinds.map(({ id }) => [id, 0]));
  const before = new Map<string, number>();
  for (const { id } of kinds) before.set(id, await countedCalls(service, id));
  let done = 0;
  let next = 0;
  const began = performance.now();
  const resident = new Resident(service, () => done);
  resident.start();

  const caller = async () => {
    for (let n = next++; n < calls; n = next++) {
      const { id, isRight } = kindOf(kinds, n);
      asked.set(id, (asked.get(id) ?? 0) + 1);
      try {
        const answer = await call(service, id, n);
        answered.set(id, (answered.get(id) ?? 0) + 1);
        if (!isRight(answer, n)) faults.push(`call ${n} of ${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
      } catch (error) {
        faults.push(`call ${n} of ${id} has no answer: ${String(error)}`);
      }
      done += 1;
      if (done % 10_000 === 0)
        say(`${done} calls, ${Math.round((done / (performance.now() - began)) * 1000)} a second`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const seconds = (performance.now() - began) / 1000;
  await resident.stop();
  const heap = courseOf(resident.heap, calls);
  const main = courseOf(resident.main, calls);
  const children = courseOf(resident.children, calls);
  faults.push(
    ...growthOf('the heap of the main process', heap, HEAP_NOISE_MIB),
    ...growthOf('the main process', main, NOISE_MIB),
    ...growthOf('the plugin processes', children, NOISE_MIB),
  );

  const shelf = await settled(service, kinds);
  faults.push(...shelf.faults);
  for (const { id } of kinds) {
    const counted = (await countedCalls(service, id)) - (before.get(id) ?? 0);
    if (counted !== asked.get(id)) faults.push(`${id}: ${asked.get(id)} calls were made, the server counts ${counted}`);
  }
  const below = await descendantsOf(service.pid);
  const code = await service.stop();
  if (code !== 0) faults.push(`the server ended with ${code}`);
  const left = await survivors(below, 5000);
  if (left.length > 0) faults.push(`${left.length} processes outlived the server`);
  return {
    lines: [
      ['calls', done],
      ['answers', [...answered].map(([id, count]) => `${id} ${count}`).join(', ')],
      ['calls per second', Math.round(done / seconds)],
      ['processes', shelf.processes],
      ['isolates', shelf.isolates],
      ['heap of the main process', described(heap)],
      ['main process', described(main)],
      ['plugin processes', described(children)],
      ['processes left', left.length],
      ['wrong or lost', faults.length],
    ],
    faults: faults.slice(0, SHOWN_FAULTS),
    output: service.output(),
  };
}

/** All processes at once on a busy machine may take longer to start than calls wait for one. */
async function warmUp(service: RunningService, kinds: readonly CallKind[]): Promise<void> {
  for (const { id } of kinds) {
    const end = performance.now() + PATIENCE_MS;
    while ((await call(service, id, 0)).status === 503) {
      if (performance.now() > end) throw new Error(`${id} does not start`);
    }
  }
}

async function call({ url, apiKey }: RunningService, id: string, n: number): Promise<CallAnswer> {
  const response = await fetch(`${url}/plugins/${id}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ n }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, body: (await response.json()) as CallAnswer['body'] };
}

/** Waits until what the server holds is what its shelves should hold, and says what is not. */
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
  const spares = figureOf(text, /^plugin_processes (\d+)$/gm) - sums.processes;
  const isolates = figureOf(text, /^plugin_isolates\{plugin_id="[^"]+"\} (\d+)$/gm);
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

/** The process itself: what confines it runs above it under a command of its own. */
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
  if (course.looks < LEAST_LOOKS) return [`only ${course.looks} looks at ${name}: more calls are needed`];
  const isNoise = course.growth <= Math.max(noiseMib, course.median * NOISE_SHARE);
  return isNoise ? [] : [`${name} grew: ${described(course)}`];
}

function described({ slope, growth, median }: Course): string {
  const sign = slope < 0 ? '' : '+';
  return `${Math.round(median)} MiB, ${sign}${slope.toFixed(2)} MiB per 10,000 calls, ${growth.toFixed(1)} MiB over the second half`;
}
