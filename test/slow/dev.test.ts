/** `npx isolayer dev`, as an author uses it: in one terminal, from the first call to Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { runTyped } from '../support/command.ts';

const root = join(import.meta.dirname, '..', '..');
const FAILS = `export async function handler() { throw new Error('no'); }`;
const PAYS = `export async function handler({ api, params }) {
  console.info('paying', params.wei);
  const sent = await api.useRelayer('local-1').sendTransaction({ to: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', value: params.wei, gas_limit: 21000, speed: 'fast' });
  return (await sent.wait({ interval: 100 })).status;
}`;

t.test(
  'a plugin pays on a chain of its own, the log is live, and Ctrl-C leaves nothing',
  { timeout: 150_000 },
  async (t) => {
    const guide = await readFile(join(root, 'docs', 'plugins.md'), 'utf8');
    const shown = /```ts\n([^]*?)```/.exec(guide)?.[1] ?? '';
    const dir = t.testdir({ plugins: { 'pays.ts': PAYS, 'pay.ts': shown, 'fails.ts': FAILS } });
    const child = spawn(join(root, 'bin', 'isolayer'), ['dev'], {
      cwd: dir,
      env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const lines: string[] = [];
    const waiting = new Map<RegExp, (line: string) => void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      for (const [pattern, found] of waiting) if (pattern.test(line)) found(line);
    });
    const seen = async (pattern: RegExp) =>
      lines.find((line) => pattern.test(line)) ?? (await new Promise<string>((found) => waiting.set(pattern, found)));

    const ready = await seen(/^ready /);
    const [, url = '', keyFile = ''] = /--url (\S+) --key "\$\(cat (\S+)\)"/.exec(ready) ?? [];
    const call = async (id: string, params: string) => {
      const { said } = await runTyped(dir, ['plugin', 'call', id, params, '--url', url, '--key', await key(keyFile)]);
      return said;
    };
    t.match(await call('pays', '{"wei":7}'), /^200\n[^]*"data": "(mined|confirmed)"/);
    const paid = await call('pay', '{"to":"0x70997970c51812dc3a010c7d01b50e0d17dc79c8"}');
    t.match(paid, /^200\n[^]*"status": "(mined|confirmed)"/, 'the first example of the guide works as it stands');
    await call('fails', '{}');
    t.match(await seen(/^plugin .*paying/), /^plugin {2}pays: {3}info: paying 7/);
    t.ok(await seen(/^tx .*: (mined|confirmed)/));
    t.ok(await seen(/^server .*a plugin is ready/));
    t.ok(await seen(/^relayer local-1, 0x[0-9a-f]{40}, has 1 ether/i));

    const failed = await seen(/^plugin .*Uncaught Error/);
    t.match(failed, /^plugin {2}fails: {3}error: Uncaught Error: no$/);
    t.match(await seen(/^plugin {2}fails: .*at handler/), /^plugin {2}fails: {7}at handler \(plugins\/fails\.ts:1:/);

    const raw = { id: 'pays', path: 'pays.ts', raw_response: true };
    await mkdir(join(dir, 'config'));
    const write = (plugins: object[]) =>
      writeFile(
        join(dir, 'config', 'config.json'),
        JSON.stringify({ relayers: [], signers: [], notifications: [], plugins }),
      );
    await write([raw]);
    await seen(/^config .*reloaded/);
    const answered = () => call('pays', '{"wei":7}');
    let answer = await answered();
    for (let tries = 0; tries < 100 && answer.includes('success'); tries += 1) answer = await answered();
    t.match(answer, /^200\n(mined|confirmed)/, 'without the envelope, as the entry says by now');

    const node = /anvil at (\S+),/.exec(await seen(/^chain /))?.[1] ?? '';
    child.kill('SIGINT');
    t.strictSame(await ended, [0, null]);
    t.notOk(existsSync(keyFile), 'the folder is gone');
    for (const gone of [url, node]) await t.rejects(fetch(gone), gone);
  },
);

async function key(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}
