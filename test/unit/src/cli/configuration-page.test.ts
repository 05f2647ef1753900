import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { configurationPage } from '../../../../src/cli/configuration-page.ts';
import { configurationSchema } from '../../../../src/config/file-schema.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const page = configurationPage(configurationSchema(createChains(systemClock), createSignerKinds()));

t.test('docs/configuration.md is what the schemas say now; `npm run isolayer -- schema --page` writes it', (t) => {
  t.equal(readFileSync(join(root, 'docs', 'configuration.md'), 'utf8'), page);
  t.end();
});

t.test('every field has its meaning, and no field is left out', (t) => {
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (.*?) \| (.*?) \| (live|restart) \| (.*) \|$/gm)];
  t.ok(rows.length > 100);
  for (const [, name = '', type = '', , , meaning = ''] of rows) {
    t.not(meaning, '', name);
    t.not(type, 'any', name);
  }
  const names = rows.map(([, name]) => name);
  for (const name of ['signing_key.value', 'custom_rpc_urls[].weight', 'permissions.relayers.<key>.methods']) {
    t.ok(names.includes(name), name);
  }
  t.end();
});
