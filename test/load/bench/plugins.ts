/**
 * Measures plugin calls over HTTP for each sample, with a reused isolate and with a new one for each call. Compares
 * them with an empty fastify route, with workerd and the trivial handler, and with a bare isolate in a thread.
 */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startService } from '../../support/service.ts';
import { inTurns, type Ratio, type Round, saturate, steady, type Target, warmUp } from './load.ts';
import { startEmptyRoute, startWorkerd } from './peers.ts';
import { entryOf, SAMPLES, samplesWorkspace } from './plugin-samples.ts';

export interface PluginBench {
  /** Rounds of each target under full load, and the length of each. */
  rounds: number;
  seconds: number;
  /** Rounds of each target at the steady rate, and the length of each. */
  steadyRounds: number;
  steadySeconds: number;
  /** Calls per second in the steady rounds. */
  steadyRate: number;
}

/** The figures of one target. */
export interface PluginRow {
  name: string;
  /** Figures with 32 busy connections. */
  busy: Round;
  /** Ratio of the busy rate to that of the empty route, and to that of workerd. */
  toEmpty: Ratio;
  toWorkerd: Ratio;
  /** Figures at the steady, low rate. */
  quiet: Round;
}

export interface PluginFigures {
  /** The empty route is first, workerd second. */
  rows: PluginRow[];
  /** Ratio of the busy rate of a call with one `getRelayerStatus` to that of a call without. */
  statusToHello: Ratio;
  /** Median time to have a thread make an isolate and a context, at the steady rate. */
  bareIsolateMs: number;
}

/** Measures all targets in alternation. */
export async function benchPlugins(run: PluginBench): Promise<PluginFigures> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const empty = await startEmptyRoute();
    stops.push(() => empty.stop());
    const workerd = await startWorkerd();
    stops.push(() => workerd.stop());
    const targets = [empty.target, workerd.target, ...(await startPlugins(stops))];
    await warmUp(targets);
    const busy = await inTurns(targets, run.rounds, (target) => saturate(target, run.seconds));
    const bare: number[] = [];
    const quiet = await inTurns(targets, run.steadyRounds, async (target) => {
      if (target === empty.target) bare.push(...(await bareIsolates(run.steadySeconds, run.steadyRate)));
      return await steady(target, run.steadySeconds, run.steadyRate);
    });
    const rows = targets.map((target) => ({
      name: target.name,
      busy: busy.of(target),
      toEmpty: busy.rateTo(target, empty.target),
      toWorkerd: busy.rateTo(target, workerd.target),
      quiet: quiet.of(target),
    }));
    const named = (name: string) => targets.find((target) => target.name === `${name}, warm isolate`) ?? empty.target;
    const statusToHello = busy.rateTo(named('status'), named('hello'));
    return {
      rows,
      statusToHello,
      bareIsolateMs: bare.sort((a, b) => a - b)[Math.floor(bare.length / 2)] ?? Number.NaN,
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** What a thread does for one isolate. */
const MAKES_ISOLATES = `
const { parentPort, workerData } = require('node:worker_threads');
const { Isolate } = require(workerData);
parentPort.on('message', () => {
  const isolate = new Isolate({ memoryLimit: 128 });
  isolate.createContextSync();
  parentPort.postMessage('made');
  setTimeout(() => isolate.dispose(), 5);
});`;

/** Milliseconds from asking a thread for an isolate with a context until there is one. */
async function bareIsolates(seconds: number, perSecond: number): Promise<number[]> {
  const thread = new Worker(MAKES_ISOLATES, {
    eval: true,
    workerData: createRequire(import.meta.url).resolve('isolated-vm'),
  });
  const took: number[] = [];
  while (took.length < seconds * perSecond) {
    await sleep(1000 / perSecond);
    const began = performance.now();
    thread.postMessage('make');
    await once(thread, 'message');
    took.push(performance.now() - began);
  }
  await thread.terminate();
  return took;
}

/** Starts the service with two entries for each sample: one reuses isolates, one gets a new isolate for each call. */
async function startPlugins(stops: (() => Promise<unknown>)[]): Promise<Target[]> {
  const workspace = await samplesWorkspace((sample) => [
    entryOf(sample),
    { ...entryOf(sample, 'fresh'), isolation: 'call' },
  ]);
  stops.push(() => workspace.remove());
  const service = await startService(workspace.env);
  stops.push(() => service.stop());
  return SAMPLES.flatMap(({ name, params = { name: 'bench' } }) =>
    (['warm', 'fresh'] as const).map((kind) => ({
      name: `${name}, ${kind} isolate`,
      pid: service.pid,
      url: `${service.url}/api/v1/plugins/${kind === 'warm' ? name : `${name}-fresh`}/call`,
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({ params }),
    })),
  );
}
