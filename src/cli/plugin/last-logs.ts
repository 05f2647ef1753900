import { z } from 'zod';
import type { CommandContext, Given } from '../command.ts';
import { type AskService, serviceOf } from './service.ts';

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
export async function showLogs(context: CommandContext, given: Given): Promise<number> {
  const [id = ''] = given.values;
  const calls = await loggedCalls(await serviceOf(context, given), id);
  if (calls.length === 0) context.say(`No call of ${id} has written anything, or failed`);
  for (const call of calls.toReversed()) {
    context.say(`${call.at} ${call.outcome} after ${call.duration_ms} ms (${call.request_id})`);
    for (const line of logLines(call)) context.say(line);
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
export function logLines({ logs }: LoggedCall): string[] {
  return logs.map(({ level, message }) => `  ${level}: ${message.replaceAll('\n', '\n  ')}`);
}
