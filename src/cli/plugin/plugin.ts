import { closestName } from '../closest-name.ts';
import type { Command, CommandContext, Given } from '../command.ts';
import { benchPlugin, callPlugin } from './calls.ts';
import { checkPlugins } from './check-plugins.ts';
import { installTypes } from './install-types.ts';
import { showLogs } from './last-logs.ts';
import { newPlugin } from './new-plugin.ts';
import { testPlugins } from './test-plugins.ts';

interface Action {
  usage: string;
  summary: string;
  run(context: CommandContext, given: Given): Promise<number>;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  new: {
    usage: 'new <id>',
    summary: 'Write a plugin that answers, its test, and the types for both',
    run: newPlugin,
  },
  check: {
    usage: 'check [<id>]',
    summary: 'Compile and check types; say what is missing, its size, and what it would have to be granted',
    run: checkPlugins,
  },
  types: {
    usage: 'types',
    summary: 'Put the types of "isolayer" and of the public SDK into the plugins folder',
    run: installTypes,
  },
  test: {
    usage: 'test [<id>]',
    summary: 'Run the tests that lie beside plugins, in the real sandbox',
    run: testPlugins,
  },
  call: {
    usage: 'call <id> [<params as JSON>] [--route /x] [--get]',
    summary: 'Call it on the running service; where it fails, show its logs as well',
    run: callPlugin,
  },
  logs: {
    usage: 'logs <id>',
    summary: 'Show what its last calls wrote, on the running service',
    run: showLogs,
  },
  bench: {
    usage: 'bench <id> [<params as JSON>] [--calls 200] [--parallel 8]',
    summary: 'Call it again and again, and show how long that takes',
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
    'The service that is called is that of this folder’s environment (APP_PORT, API_KEY), or --url and --key.',
  ],
  flags: ['get'],
  options: ['route', 'url', 'key', 'calls', 'parallel'],
  arguments: { least: 1, most: 3 },
  async run(context, { values: [name = '', ...values], flags, options }) {
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) {
      const meant = closestName(name, Object.keys(ACTIONS));
      throw new Error(
        `There is no plugin command "${name}". ${meant === undefined ? `Say ${Object.keys(ACTIONS).join(', ')}` : `Did you mean ${meant}?`}`,
      );
    }
    if (action.usage.includes('<id>') && !action.usage.includes('[<id>]') && values.length === 0) {
      throw new Error(`It is: plugin ${action.usage}`);
    }
    return await action.run(context, { values, flags, options });
  },
};
