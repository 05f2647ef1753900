import type { CommandContext, Given } from '../command.ts';
import { loggedCalls, logLines } from './last-logs.ts';
import { type AskService, serviceOf } from './service.ts';

const CALLS = 200;
const PARALLEL = 8;

/** `plugin call`: makes one call. If the call fails, prints its logs. */
export async function callPlugin(context: CommandContext, given: Given): Promise<number> {
  const [id = ''] = given.values;
  const ask = await serviceOf(context, given);
  const { status, requestId, body } = await once(ask, given);
  context.say(`${status}`);
  context.say(typeof body === 'string' ? body : JSON.stringify(body, null, 2));
  if (status < 400) return 0;
  const logged = (await loggedCalls(ask, id)).find(({ request_id }) => request_id === requestId);
  if (logged !== undefined) for (const line of logLines(logged)) context.complain(line);
  return 1;
}

/** `plugin bench`: measures how long calls take, and how many complete in a second. */
export async function benchPlugin(context: CommandContext, given: Given): Promise<number> {
  const ask = await serviceOf(context, given);
  const calls = numberOf(given, 'calls', CALLS);
  const parallel = numberOf(given, 'parallel', PARALLEL);
  const times: number[] = [];
  let failed = 0;
  const began = performance.now();
  let left = calls;
  const worker = async () => {
    while (left-- > 0) {
      const from = performance.now();
      const { status } = await once(ask, given);
      times.push(performance.now() - from);
      if (status >= 400) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, calls) }, worker));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  context.say(`${calls} calls, ${parallel} at once: ${(calls / seconds).toFixed(0)} a second, ${failed} failed`);
  context.say(`p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`);
  return failed === 0 ? 0 : 1;
}

async function once(ask: AskService, { values: [id = '', params = '{}'], flags, options }: Given) {
  const route = options.get('route') ?? '';
  const path = `/plugins/${encodeURIComponent(id)}/call${route === '' || route.startsWith('/') ? route : `/${route}`}`;
  if (flags.has('get')) return await ask(path);
  return await ask(path, { method: 'POST', body: JSON.stringify({ params: jsonOf(params) }) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The params are no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function numberOf({ options }: Given, name: string, otherwise: number): number {
  const given = options.get(name);
  if (given === undefined) return otherwise;
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new Error(`--${name} is a whole number from 1`);
  return Number(given);
}
