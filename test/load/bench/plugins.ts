/**
 * Measures plugin calls over HTTP for each sample, with a reused isolate and with a new one for each call. Compares
 * them with an empty fastify route, and with workerd and the trivial handler.
 */
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

/** Measures all targets in alternation. In the result the empty route is first, workerd second. */
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
