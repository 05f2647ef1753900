/** The variables, commands and metrics in docs/operations.md are right. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { probeLauncher } from '../../sandbox/driver/confinement.ts';
import { createLog, logEndpoint } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { environmentSchema } from '../../src/settings/environment.ts';
import { runTyped } from '../support/command.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');

t.test('the table has every variable with its default, and no other', (t) => {
  const defaults = environmentSchema.parse({}) as Record<string, unknown>;
  const settings = /## Settings([^]*?)\n## /.exec(guide)?.[1] ?? '';
  const rows = new Map(
    [...settings.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name = '', text = '']) => [name, text]),
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

t.test('the table of restrictions has each that /ready shows, and the tool that brings it', async (t) => {
  const { missing, ...shown } = (await probeLauncher('darwin', '')).confinement;
  const part = /### What confines plugin processes\n([^]*?)\n#/.exec(guide)?.[1] ?? '';
  const rows = [...part.matchAll(/^\| `(\w+)` \|.*\| (.*) \|$/gm)];
  t.strictSame(rows.map(([, name = '']) => name).toSorted(), Object.keys(shown).toSorted());
  const tools = ['setpriv', 'prlimit', 'choom', 'unshare', 'bwrap'];
  for (const [, name = '', takes = ''] of rows) {
    const isBuiltIn = !(name in missing);
    t.equal(
      tools.some((tool) => takes.includes(`\`${tool}\``)),
      !isBuiltIn,
      name,
    );
  }
});

t.test('commands, files and metrics that it names exist', async (t) => {
  const help = (await runTyped(root, ['help'])).said;
  for (const [, command = ''] of guide.matchAll(/npm run isolayer -- ([\w-]+)/g)) t.match(help, `  ${command}`);
  for (const [, flag = ''] of guide.matchAll(/`(--(?:replace|send|fail)[\w-]*)`/g)) t.match(help, flag);
  for (const [, file = ''] of guide.matchAll(/`((?:config|deploy)\/[\w./]+\.(?:json|yml))`/g))
    t.ok(existsSync(join(root, file.replace('config/config.json', 'config/config.example.json'))), file);
  const names = createMetrics().names();
  const metrics = /\n## Metrics\n([^]*?)\n## /.exec(guide)?.[1] ?? '';
  const named = [...metrics.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name);
  t.ok(named.length >= 4);
  for (const name of named) t.ok(names.includes(name), name);
});

t.test('the lines about endpoints have its texts, levels and fields', (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const endpoint = 'https://a.test';
  const resting = { endpoint, reason: 'why', forMs: 1 };
  for (const kind of ['paused', 'limited', 'unfit'] as const) logEndpoint(log, 'n', { kind, ...resting }, 0);
  logEndpoint(log, 'n', { kind: 'behind', endpoint, reason: 'why' }, 0);
  logEndpoint(log, 'n', { kind: 'back', endpoint }, 0);
  const rows = [...guide.matchAll(/^\| `(endpoint [^`]+)` \| (warn|info) \| (.*?) \|/gm)];
  t.strictSame(
    rows.map(([, text, level]) => [text, level]),
    lines.map(({ msg, level }) => [msg, level]),
  );
  for (const [index, [, text, , fields = '']] of rows.entries()) {
    const named = (fields === 'the same' ? (rows[0]?.[3] ?? '') : fields).match(/\w+/g);
    const { level: _level, time: _time, msg: _msg, ...said } = lines[index] ?? {};
    t.strictSame(named, Object.keys(said), String(text));
  }
  t.end();
});

t.test('the limits of answers are those of the code', (t) => {
  const read = (file: string) => readFileSync(join(root, 'src', 'egress', file), 'utf8');
  t.match(read('rpc/failover-rpc-client.ts'), 'maxAnswerBytes: 16 * 1_048_576');
  t.match(read('rpc/rpc-request.ts'), 'BATCH_ANSWER_BYTES = 4 * 1_048_576');
  t.match(read('http-client.ts'), 'MAX_BYTES_AT_ONCE = 128 * 1_048_576');
  t.match(read('rpc/endpoint-pool.ts'), 'BEHIND_FOR_MS = 30_000');
  for (const size of ['16 MiB', '4 MiB', '128 MiB', '30 s']) t.match(guide, size);
  t.end();
});
