import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { pluginIdSchema } from '../../domain/id.ts';
import type { CommandContext, Given } from '../command.ts';
import { environmentOf } from '../settings.ts';
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

/** Writes the first version of a plugin; never over another file. */
export async function newPlugin(context: CommandContext, { values: [id = ''] }: Given): Promise<number> {
  if (!pluginIdSchema.safeParse(id).success || /^[_.]/.test(id)) {
    throw new Error(`${JSON.stringify(id)} cannot be a plugin's id: letters, digits, - and _, no _ in front`);
  }
  const { PLUGINS_DIR } = await environmentOf(context);
  const folder = resolve(context.cwd, PLUGINS_DIR);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${id}.ts`);
  try {
    await writeFile(file, template(id), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(`${file} exists; it is not overwritten`);
    throw error;
  }
  await writeTypes(context, folder);
  context.say(`Written: ${relative(context.cwd, file)}`);
  context.say(`A running service serves it by now: npx isolayer plugin call ${id} '{"name":"you"}'`);
  return 0;
}
