import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { nearestName } from '../../domain/json/issue-text.ts';
import type { Command, CommandArguments, CommandContext } from '../command.ts';
import { readCommandEnvironment } from '../settings.ts';
import { benchPlugin, callPlugin, showLogs } from './calls.ts';
import { checkPlugins } from './check.ts';
import { installTypes } from './install-types.ts';
import { newPlugin } from './new-plugin.ts';
import { replayPlugin } from './replay.ts';

interface Action {
  usage: string;
  summary: string;
  run(context: CommandContext, given: CommandArguments): Promise<number>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  new: {
    usage: 'new <id>',
    summary: 'Create a plugin with a test, and the types for both',
    run: newPlugin,
  },
  check: {
    usage: 'check [<id>]',
    summary:
      'Compile plugins and check their types; show their size, what is missing and the permissions that they need',
    run: checkPlugins,
  },
  types: {
    usage: 'types',
    summary: 'Install the types of "isolayer" and of the public SDK into the plugins folder',
    run: installTypes,
  },
  test: {
    usage: 'test [<id>]',
    summary: 'Run the tests beside plugins, in the real sandbox',
    run: testPlugins,
  },
  call: {
    usage: 'call <id> [<params as JSON>] [--route /x] [--get]',
    summary: 'Call a plugin on the running service; show its logs if the call fails',
    run: callPlugin,
  },
  logs: {
    usage: 'logs <id>',
    summary: 'Show the logs of its last calls on the running service',
    run: showLogs,
  },
  replay: {
    usage: 'replay <record> [--against <file>]',
    summary: 'Replay a recorded call in a local sandbox, and show where it differs',
    run: replayPlugin,
  },
  bench: {
    usage: 'bench <id> [<params as JSON>] [--calls 200] [--parallel 8]',
    summary: 'Call a plugin many times, and show rate and latency',
    run: benchPlugin,
  },
};

const usages = Object.values(ACTIONS).map(({ usage, summary }) => `plugin ${usage}\n      ${summary}`);

/** The commands for plugin authors, from an empty file to an answered call. */
export const pluginCommand: Command = {
  usage: `plugin <${Object.keys(ACTIONS).join(' | ')}> …`,
  summary: 'Write, check, call and measure plugins',
  more: [
    ...usages,
    'Calls go to the service of this folder (APP_PORT and API_KEY of its environment); --url and --key name another.',
  ],
  flags: ['get'],
  options: ['route', 'url', 'key', 'calls', 'parallel', 'against'],
  arguments: { min: 1, max: 3 },
  async run(context, { values: [name = '', ...values], flags, options }) {
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) {
      const meant = nearestName(name, Object.keys(ACTIONS));
      throw new Error(
        `There is no plugin command "${name}". ${meant === undefined ? `Say ${Object.keys(ACTIONS).join(', ')}` : `Did you mean ${meant}?`}`,
      );
    }
    if (/^\w+ </.test(action.usage) && values.length === 0) {
      throw new Error(`It is: plugin ${action.usage}`);
    }
    return await action.run(context, { values, flags, options });
  },
};

const RESOLVE_KIT = new URL('../testing/resolve-kit.ts', import.meta.url).href;

const ENDINGS = '{ts,mts,js,mjs}';

/** `plugin test`: runs the tests beside plugins, with the service's Node, in the real sandbox. */
export async function testPlugins(context: CommandContext, { values: [id] }: CommandArguments): Promise<number> {
  const { PLUGINS_DIR } = await readCommandEnvironment(context);
  const folder = resolve(context.cwd, PLUGINS_DIR);
  const patterns =
    id === undefined ? [`**/*.test.${ENDINGS}`] : [`${id}.test.${ENDINGS}`, `${id}/**/*.test.${ENDINGS}`];
  const files: string[] = [];
  for await (const file of glob(patterns, { cwd: folder, exclude: (name) => name === 'node_modules' })) {
    files.push(resolve(folder, file));
  }
  if (files.length === 0) {
    const wanted = id === undefined ? 'No file *.test.ts lies' : `Neither ${id}.test.ts nor a test in ${id}/ lies`;
    throw new Error(`${wanted} in ${PLUGINS_DIR}; npx isolayer plugin new writes one with a plugin`);
  }
  // If this runs within a test itself, that test's variables must not reach the child.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ['--import', RESOLVE_KIT, '--test', '--test-reporter=spec', ...files.sort().map((file) => relative(folder, file))],
    { cwd: folder, env: { ...env, ...context.env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) context.say(line);
  const [code] = (await ended) as [number | null];
  return code === 0 ? 0 : 1;
}
