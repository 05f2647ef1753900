import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createChains } from '../chains/registry.ts';
import { configurationSchema, networkFileSchema } from '../config/file-schema.ts';
import { systemClock } from '../domain/clock.ts';
import { createSignerKinds } from '../signers/registry.ts';
import type { Command } from './command.ts';
import { environmentOf } from './settings.ts';

/** Writes what editors complete and check the configuration by. */
export const schemaCommand: Command = {
  usage: 'schema',
  summary: 'Write schema.json and networks.schema.json into CONFIG_DIR, for editors',
  flags: [],
  arguments: 0,
  async run(context) {
    const { CONFIG_DIR } = await environmentOf(context);
    const folder = resolve(context.cwd, CONFIG_DIR);
    const chains = createChains(systemClock);
    const files = {
      'schema.json': configurationSchema(chains, createSignerKinds()),
      'networks.schema.json': networkFileSchema(chains),
    };
    for (const [name, schema] of Object.entries(files)) {
      await writeFile(join(folder, name), `${JSON.stringify(schema, null, 2)}\n`);
      context.say(`Written: ${join(folder, name)}`);
    }
    return 0;
  },
};
