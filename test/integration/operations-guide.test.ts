/** What docs/operations.md says of variables, commands and metrics is so. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { environmentSchema } from '../../src/config/environment.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { runTyped } from '../support/command.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');

t.test('the table has every variable with its default, and no other', (t) => {
  const defaults = environmentSchema.parse({}) as Record<string, unknown>;
  const rows = new Map(
    [...guide.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name = '', text = '']) => [name, text]),
  );
  t.strictSame([...rows.keys()].toSorted(), Object.keys(environmentSchema.shape).toSorted());
  for (const [name, text] of rows) {
    const value = defaults[name];
    const isPlain = value !== undefined && !Array.isArray(value);
    if (isPlain) t.equal(text, `\`${String(value)}\``, name);
    else t.notMatch(text, /^`[^`]*`$/, `${name} has no fixed default`);
  }
  t.end();
});

t.test('commands, files and metrics that it names exist', async (t) => {
  const help = (await runTyped(root, ['help'])).said;
  for (const [, command = ''] of guide.matchAll(/npm run isolayer -- ([\w-]+)/g)) t.match(help, `  ${command}`);
  for (const [, flag = ''] of guide.matchAll(/`(--(?:replace|send|fail)[\w-]*)`/g)) t.match(help, flag);
  for (const [, file = ''] of guide.matchAll(/`((?:config|ops)\/[\w./]+\.json)`/g))
    t.ok(existsSync(join(root, file)), file);
  const names = createMetrics().names();
  const alerts = /Worth an alert:([^]*?)\n\n/.exec(guide)?.[1] ?? '';
  const named = [...alerts.matchAll(/`(\w+)/g)].map(([, name = '']) => name);
  t.ok(named.length >= 4);
  for (const name of named) t.ok(names.includes(name), name);
});
