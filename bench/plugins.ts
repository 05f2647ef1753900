/**
 * What a plugin call costs over HTTP: with a warm isolate and with one of its own, of each sample, against an empty
 * fastify route and workerd with the trivial handler.
 */
import { startService } from '../test/support/service.ts';
import { inTurns, type Ratio, type Round, saturate, steady, type Target, warmUp } from './load.ts';
import { startEmptyRoute, startWorkerd } from './peers.ts';
import { entryOf, SAMPLES, samplesWorkspace } from './plugin-samples.ts';

export interface PluginBench {
  /** Of each target under full load: how often it has its turn, and for how long. */
  rounds: number;
  seconds: number;
  /** The same at the steady rate. */
  steadyRounds: number;
  steadySeconds: number;
  /** Calls per second while the latency is measured. */
  steadyRate: number;
}

/** One line of the result. */
export interface PluginRow {
  name: string;
  /** 32 connections kept busy. */
  busy: Round;
  /** Their rate as a ratio to that of the empty route, and of workerd. */
  toEmpty: Ratio;
  toWorkerd: Ratio;
  /** A steady, low rate. */
  quiet: Round;
}

/** Runs all targets in turns; the empty route comes first, workerd second. */
export async function benchPlugins(run: PluginBench): Promise<PluginRow[]> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const empty = await startEmptyRoute();
    stops.push(() => empty.stop());
    const workerd = await startWorkerd();
    stops.push(() => workerd.stop());
    const targets = [empty.target, workerd.target, ...(await startPlugins(stops))];
    await warmUp(targets);
    const busy = await inTurns(targets, run.rounds, (target) => saturate(target, run.seconds));
    const quiet = await inTurns(targets, run.steadyRounds, (target) =>
      steady(target, run.steadySeconds, run.steadyRate),
    );
    return targets.map((target) => ({
      name: target.name,
      busy: busy.of(target),
      toEmpty: busy.rateTo(target, empty.target),
      toWorkerd: busy.rateTo(target, workerd.target),
      quiet: quiet.of(target),
    }));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** The service with each plugin twice: once reusing isolates, once with a new one for each call. */
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
