import { z } from 'zod';
import type { CommandArguments, CommandContext } from '../command.ts';
import { findLocalServer } from '../remote/client.ts';

const CALLS = 200;

const PARALLEL = 8;

/** `plugin call`: makes one call. If the call fails, prints its logs. */
export async function callPlugin(context: CommandContext, given: CommandArguments): Promise<number> {
  const [id = ''] = given.values;
  const ask = await findService(context, given);
  const { status, requestId, body } = await once(ask, given);
  context.say(`${status}`);
  context.say(typeof body === 'string' ? body : JSON.stringify(body, null, 2));
  if (status < 400) return 0;
  const logged = (await loggedCalls(ask, id)).find(({ request_id }) => request_id === requestId);
  if (logged !== undefined) for (const line of formatCallLogs(logged)) context.complain(line);
  return 1;
}

/** `plugin bench`: measures how long calls take, and how many complete in a second. */
export async function benchPlugin(context: CommandContext, given: CommandArguments): Promise<number> {
  const ask = await findService(context, given);
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

async function once(ask: AskService, { values: [id = '', params = '{}'], flags, options }: CommandArguments) {
  const route = options.get('route') ?? '';
  const path = `/plugins/${encodeURIComponent(id)}/call${route === '' || route.startsWith('/') ? route : `/${route}`}`;
  if (flags.has('get')) return await ask(path);
  return await ask(path, { method: 'POST', body: JSON.stringify({ params: jsonOf(params) }) });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The params are not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function numberOf({ options }: CommandArguments, name: string, otherwise: number): number {
  const given = options.get(name);
  if (given === undefined) return otherwise;
  if (!/^[1-9]\d{0,6}$/.test(given)) throw new Error(`--${name} is a whole number from 1`);
  return Number(given);
}

const loggedCall = z.object({
  request_id: z.string(),
  at: z.string(),
  outcome: z.string(),
  duration_ms: z.number(),
  logs: z.array(z.object({ level: z.string(), message: z.string() })),
});

const page = z.object({ data: z.array(loggedCall) });

type LoggedCall = z.infer<typeof loggedCall>;

/** `plugin logs`: shows the last calls that wrote something or failed, the latest at the end. */
export async function showLogs(context: CommandContext, given: CommandArguments): Promise<number> {
  const [id = ''] = given.values;
  const calls = await loggedCalls(await findService(context, given), id);
  if (calls.length === 0) context.say(`No call of ${id} has written a log or failed`);
  for (const call of calls.toReversed()) {
    context.say(`${call.at} ${call.outcome} after ${call.duration_ms} ms (${call.request_id})`);
    for (const line of formatCallLogs(call)) context.say(line);
  }
  return 0;
}

/** The latest first. */
export async function loggedCalls(ask: AskService, id: string): Promise<LoggedCall[]> {
  const { status, body } = await ask(`/plugins/${encodeURIComponent(id)}/logs`);
  if (status >= 400) throw new Error(`The service answers ${status}: ${JSON.stringify(body)}`);
  return page.parse(body).data;
}

/** Formats the logs of a call for people, with stacks over several lines. */
export function formatCallLogs({ logs }: LoggedCall): string[] {
  return logs.map(({ level, message }) => `  ${level}: ${message.replaceAll('\n', '\n  ')}`);
}

/** An answer of the service, with its body parsed if it is JSON. */
interface ServiceAnswer {
  status: number;
  requestId: string;
  body: unknown;
}

/** Sends a request to the running service. */
type AskService = (path: string, init?: { method?: string; body?: string }) => Promise<ServiceAnswer>;

/** Finds the service: `--url`, or else that of this folder's environment. The key is `--key`, or else this folder's. */
export async function findService(context: CommandContext, { options }: CommandArguments): Promise<AskService> {
  const own = await findLocalServer(context);
  const base = options.get('url') ?? own.url;
  const key = options.get('key') ?? own.key;
  return async (path, { method = 'GET', body } = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = { method, headers, ...(body !== undefined && { body }) };
    const answer = await context.request(`${base}/api/v1${path}`, request).catch((error: unknown) => {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new Error(
        `No server answers at ${base} (${reason}): npm start starts the service, or name another one with --url`,
      );
    });
    const text = await answer.text();
    return { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '', body: parsed(text) };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
