import type { RunningService } from '../../test/support/service.ts';
import type { Narrator } from './narrator.ts';

/** Registers a step that undoes something at the end. The last registered step runs first. */
export type CleanUp = (step: () => Promise<unknown>) => void;

/** Calls a plugin and prints the call. Resolves with the answer. */
export async function callPlugin(
  say: Narrator,
  service: RunningService,
  plugin: string,
  params: object,
): Promise<{ data: Record<string, unknown>; metadata: CallMetadata }> {
  const path = `/api/v1/plugins/${plugin}/call`;
  say.step('call', `POST ${path} ${shortened(JSON.stringify(params))}`);
  const { status, body } = await service.call(plugin, params);
  if (status !== 200) throw new Error(`the call was answered with ${status}: ${JSON.stringify(body)}`);
  say.step('answer', `${status} ${JSON.stringify(body.data)}`);
  return body;
}

interface CallMetadata {
  logs: { level: string; message: string }[];
  traces: { method: string; relayerId: string; requestId: string; outcome: string; durationMs: number }[];
}

/** Prints the plugin's logs and its calls of relayers. */
export function tellCourse(say: Narrator, { logs, traces }: CallMetadata): void {
  say.list('logs', logs, ({ level, message }) => `${level}: ${message}`);
  say.list(
    'traces',
    traces,
    ({ method, relayerId, outcome, durationMs, requestId }) =>
      `${method} through ${relayerId}: ${outcome} in ${durationMs} ms (request ${requestId})`,
  );
}

function shortened(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
