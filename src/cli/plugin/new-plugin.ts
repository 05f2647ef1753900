import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { pluginIdSchema } from '../../domain/id.ts';
import type { CommandArguments, CommandContext } from '../command.ts';
import { readCommandEnvironment } from '../settings.ts';
import { writeTypes } from './install-types.ts';

function template(id: string): string {
  return `import { type PluginContext, pluginError } from 'isolayer';

/** Answers at POST /api/v1/plugins/${id}/call. */
export async function handler({ params }: PluginContext) {
  const { name = 'world' } = (params ?? {}) as { name?: unknown };
  if (typeof name !== 'string') {
    throw pluginError('name has to be a text', { code: 'INVALID_NAME', status: 400, details: { field: 'name' } });
  }
  console.info(\`greeting \${name}\`);
  return { greeting: \`Hello, \${name}!\` };
}
`;
}

function testTemplate(id: string): string {
  return `import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSandbox } from 'isolayer/testing';

const sandbox = await openSandbox({ folder: import.meta.dirname });
after(() => sandbox.close());

test('it greets the caller', async () => {
  const { status, body } = await sandbox.call('${id}', { params: { name: 'Ada' } });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.data, { greeting: 'Hello, Ada!' });
});

test('a name that is no text is the fault of who calls', async () => {
  const { status, body } = await sandbox.call('${id}', { params: { name: 5 } });
  assert.equal(status, 400);
  assert.equal(body.data.code, 'INVALID_NAME');
});
`;
}

/** Writes the first version of a plugin. Never overwrites a file. */
export async function newPlugin(context: CommandContext, { values: [id = ''] }: CommandArguments): Promise<number> {
  if (!pluginIdSchema.safeParse(id).success || /^[_.]/.test(id)) {
    throw new Error(
      `${JSON.stringify(id)} is not a valid plugin id: use letters, digits, - and _, and do not begin with _`,
    );
  }
  const { PLUGINS_DIR } = await readCommandEnvironment(context);
  const folder = resolve(context.cwd, PLUGINS_DIR);
  await mkdir(folder, { recursive: true });
  const files = { [`${id}.ts`]: template(id), [`${id}.test.ts`]: testTemplate(id) };
  for (const name of Object.keys(files)) {
    if (existsSync(join(folder, name))) throw new Error(`${join(folder, name)} exists; it is not overwritten`);
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { flag: 'wx' });
    context.say(`Written: ${relative(context.cwd, join(folder, name))}`);
  }
  await writeTypes(context, folder);
  context.say(`A running service already serves it: npx isolayer plugin call ${id} '{"name":"you"}'`);
  context.say(`Run its test: npx isolayer plugin test ${id}`);
  return 0;
}
