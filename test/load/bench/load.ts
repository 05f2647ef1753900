import autocannon from 'autocannon';
import { Agent, request } from 'undici';
import { cpuMicrosOf } from './process-figures.ts';

/** The server that gets the load, and the content of each request. */
export interface Target {
  name: string;
  /** Id of the process that answers. */
  pid: number;
  /** POST when absent. */
  method?: 'GET';
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The figures of one round. */
export interface Round {
  /** Answers per second. */
  rate: number;
  /** Latency, in milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of the target for each answer, in microseconds. */
  cpu: number;
}

/** Keeps 32 connections busy for the given seconds. @throws if any answer is not 2xx, or if there is none */
export async function saturate(target: Target, seconds: number): Promise<Round> {
  const before = await cpuMicrosOf(target.pid);
  const result = await autocannon({
    url: target.url,
    ...messageOf(target),
    connections: 32,
    duration: seconds,
  });
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0 || result.errors > 0) {
    throw new Error(
      `${target.name}: ${answered} good answers, ${result.non2xx} others, ${result.errors} errors; nothing to compare`,
    );
  }
  const cpu = ((await cpuMicrosOf(target.pid)) - before) / answered;
  return { rate: answered / result.duration, p50: result.latency.p50, p99: result.latency.p99, cpu };
}

/** Sends one request after the other at a steady rate, to measure latency without queueing. @throws if one fails */
export async function steady(target: Target, seconds: number, perSecond: number): Promise<Round> {
  const agent = new Agent({ connections: 2, pipelining: 1 });
  const latencies: number[] = [];
  const before = await cpuMicrosOf(target.pid);
  const began = performance.now();
  try {
    for (let sent = 0; sent < seconds * perSecond; sent++) {
      const due = began + (sent * 1000) / perSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      latencies.push(await timed(target, agent));
    }
  } finally {
    await agent.close();
  }
  const elapsed = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    rate: latencies.length / elapsed,
    cpu: ((await cpuMicrosOf(target.pid)) - before) / latencies.length,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

async function timed(target: Target, agent: Agent): Promise<number> {
  const began = performance.now();
  const { statusCode, body } = await request(target.url, {
    ...messageOf(target),
    dispatcher: agent,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${target.name}: ${statusCode} ${text}; nothing to compare`);
  return performance.now() - began;
}

function messageOf({ method, headers, body }: Target) {
  if (method === 'GET') return { method, headers };
  return { method: 'POST' as const, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** How long each target is kept busy before the measurement, in seconds. V8 optimizes its code meanwhile. */
const WARM_SECONDS = 8;

/** Keeps each target busy for a while, so that V8 has optimized its code before the measurement. */
export async function warmUp(targets: readonly Target[]): Promise<void> {
  for (const target of targets) await saturate(target, WARM_SECONDS);
}

/** The rounds of several targets that were measured in alternation. */
export interface Turns {
  /** The median of each figure of a target. */
  of(target: Target): Round;
  /** The ratios of a target's rate to the other's rate in the same round. */
  rateTo(target: Target, base: Target): Ratio;
}

/** The first quartile, the median and the third quartile of several ratios. */
export interface Ratio {
  low: number;
  median: number;
  high: number;
}

/**
 * Measures the targets in alternation, so that a drift of the machine affects all of them. A machine can also be slower
 * by a third for some seconds. Many short rounds, compared round by round, are therefore better than a few long ones.
 */
export async function inTurns(
  targets: readonly Target[],
  count: number,
  measure: (target: Target) => Promise<Round>,
): Promise<Turns> {
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < count; round++) {
    for (const target of targets) rounds.get(target)?.push(await measure(target));
  }
  const roundsOf = (target: Target) => rounds.get(target) ?? [];
  return {
    of: (target) => medianOf(roundsOf(target)),
    rateTo: (target, base) => {
      const bases = roundsOf(base);
      const ratios = roundsOf(target).map(({ rate }, round) => rate / (bases[round]?.rate ?? Number.NaN));
      return { low: quantile(ratios, 0.25), median: quantile(ratios, 0.5), high: quantile(ratios, 0.75) };
    },
  };
}

/** The median of each figure. */
function medianOf(rounds: readonly Round[]): Round {
  const of = (figure: keyof Round): number =>
    quantile(
      rounds.map((round) => round[figure]),
      0.5,
    );
  return { rate: of('rate'), p50: of('p50'), p99: of('p99'), cpu: of('cpu') };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
