import {
  type CallReport,
  type CapabilityReply,
  type DurableStart,
  type Json,
  type RequestMessage,
  TIMER_REQUEST,
} from '../../contract.ts';
import type { TestSandbox } from './sandbox.ts';

export const START: DurableStart = { seed: '5a'.repeat(32), now: Date.UTC(2026, 0, 31, 23, 59, 58) };

export interface Delivery {
  request: number;
  reply: CapabilityReply;
}

/** What a host sees of a durable call. */
export interface Course {
  requests: RequestMessage[];
  deliveries: Delivery[];
  report: CallReport;
}

/** Draws a whole number below a limit. */
export type Draw = (below: number) => number;

interface Run {
  sandbox: TestSandbox;
  params: Json;
  start?: DurableStart;
  of?: string;
}

/** Starts a durable call, and hears of its requests. */
function begin({ sandbox, params, start = START, of = 'v1' }: Run, heard: (request: RequestMessage) => void) {
  const requests: RequestMessage[] = [];
  const deliveries: Delivery[] = [];
  const report = sandbox.call(params, { of, durable: start, timeoutMs: 30_000 });
  const call = sandbox.lastCall;
  sandbox.onMessage = (message) => {
    if (message.type !== 'request' || message.call !== call) return;
    requests.push(message.message);
    heard(message.message);
  };
  const deliver = (delivery: Delivery) => {
    deliveries.push(delivery);
    sandbox.supervisor.reply(call, { id: delivery.request, reply: delivery.reply });
  };
  return { requests, deliveries, report, deliver };
}

/** Runs a durable call with a host that answers in an order and with values that it draws. */
export async function runLive(run: Run, draw: Draw): Promise<Course> {
  const open: RequestMessage[] = [];
  let at = (run.start ?? START).now;
  let isOver = false;
  const { report, deliver, ...seen } = begin(run, (request) => open.push(request));
  const over = report.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, draw(3)));
    // Sometimes several at once.
    for (let count = 1 + draw(3); count > 0 && open.length > 0; count -= 1) {
      const [request] = open.splice(draw(open.length), 1) as [RequestMessage];
      at += draw(40);
      const isTimer = request.method === TIMER_REQUEST;
      if (isTimer) at += (request.params as { ms: number }).ms;
      const answer: CapabilityReply = isTimer
        ? { ok: true, value: null }
        : draw(5) === 3
          ? { ok: false, error: { message: `refused ${draw(100)}`, code: 'NO', status: 400 } }
          : { ok: true, value: valueFor(request, draw) };
      deliver({ request: request.id, reply: { ...answer, at } });
    }
  }
  return { ...seen, report: await over };
}

/** A body that comes in several parts, or any number. */
function valueFor({ method }: RequestMessage, draw: Draw): Json {
  const body = { base64: Buffer.from([draw(256)]).toString('base64') };
  if (method === 'fetch.read') return { body, more: draw(3) === 2 };
  if (method !== 'fetch') return draw(1000);
  const [url, headers] = ['https://a.example/', [] as Json[]];
  return { url, redirected: false, status: 200, statusText: 'OK', headers, body, more: draw(3) !== 2 };
}

/** Runs a durable call again. Delivers what was recorded, each as soon as its request was made. */
export async function runAgain(run: Run, recorded: readonly Delivery[]): Promise<Course> {
  const left = [...recorded];
  const made = new Set<number>();
  const { report, deliver, ...seen } = begin(run, ({ id }) => {
    made.add(id);
    for (let next = left[0]; next !== undefined && made.has(next.request); next = left[0]) {
      left.shift();
      deliver(next);
    }
  });
  return { ...seen, report: await report };
}

/** The parts of a course that have to be the same in each run. */
export function sameIn({ requests, report }: Course): object {
  return { requests, outcome: report.outcome, logs: report.logs };
}
