import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { CommandContext, Given } from '../command.ts';
import { environmentOf } from '../settings.ts';

const RESOLVE_KIT = new URL('../testing/resolve-kit.ts', import.meta.url).href;
const ENDINGS = '{ts,mts,js,mjs}';

/** `plugin test`: runs the tests beside plugins, with the service's Node, in the real sandbox. */
export async function testPlugins(context: CommandContext, { values: [id] }: Given): Promise<number> {
  const { PLUGINS_DIR } = await environmentOf(context);
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
