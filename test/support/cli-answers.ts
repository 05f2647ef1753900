import type { CommandArguments, CommandContext } from '../../src/cli/command.ts';
import { pipeWith } from './command.ts';

/** A request that a command made. */
export interface SeenRequest {
  method: string;
  path: string;
  authorization: string;
  body: unknown;
}

/** Makes a command's context. Its service gives the answers that the test lists. */
export function commandBefore(
  cwd: string,
  answer: (seen: SeenRequest) => { status?: number; body: unknown } | Error,
  env: Record<string, string> = { API_KEY: 'k'.repeat(32) },
) {
  const said: string[] = [];
  const complained: string[] = [];
  const seen: SeenRequest[] = [];
  const context: CommandContext = {
    env,
    cwd,
    now: () => new Date(0),
    keyboard: pipeWith(''),
    say: (line) => said.push(line),
    complain: (line) => complained.push(line),
    request: (input, init) => {
      const { method = 'GET', headers, body } = init ?? {};
      const authorization = new Headers(headers).get('authorization') ?? '';
      const sent: unknown = typeof body === 'string' ? JSON.parse(body) : null;
      const path = new URL(input instanceof Request ? input.url : input).pathname;
      const one = { method, path, authorization, body: sent };
      seen.push(one);
      const made = answer(one);
      if (made instanceof Error) return Promise.reject(made);
      const text = typeof made.body === 'string' ? made.body : JSON.stringify(made.body);
      return Promise.resolve(new Response(text, { status: made.status ?? 200, headers: { 'x-request-id': 'req-1' } }));
    },
  };
  return { context, seen, said: () => said.join('\n'), complained: () => complained.join('\n') };
}

/** The arguments and options that were typed after a command. */
export function given(
  values: readonly string[],
  options: Record<string, string> = {},
  flags: string[] = [],
): CommandArguments {
  return { values, flags: new Set(flags), options: new Map(Object.entries(options)) };
}
