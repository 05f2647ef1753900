import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { configurationSchema, networkFileSchema } from '../config/file-schema.ts';
import { systemClock } from '../domain/clock.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { Command } from './command.ts';
import { configurationPage } from './configuration-page.ts';
import { environmentOf } from './settings.ts';

/** Writes the JSON schemas that editors use to complete and check the configuration. */
export const schemaCommand: Command = {
  usage: 'schema [--page]',
  summary:
    'Write schema.json and networks.schema.json into CONFIG_DIR, for editors; or docs/configuration.md, for people',
  flags: ['page'],
  arguments: 0,
  async run(context, { flags }) {
    const chains = createChains(systemClock);
    const schema = configurationSchema(chains, createSignerKinds());
    const write = async (path: string, text: string) => {
      await writeFile(path, text);
      context.say(`Written: ${path}`);
    };
    if (flags.has('page')) {
      await write(resolve(context.cwd, 'docs', 'configuration.md'), configurationPage(schema));
      return 0;
    }
    const { CONFIG_DIR } = await environmentOf(context);
    const files = { 'schema.json': schema, 'networks.schema.json': networkFileSchema(chains) };
    for (const [name, content] of Object.entries(files)) {
      await write(resolve(context.cwd, CONFIG_DIR, name), `${JSON.stringify(content, null, 2)}\n`);
    }
    return 0;
  },
};
