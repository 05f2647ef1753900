/** The steps of docs/extending.md give a service with the new parts, and change no other file. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { startService } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const guide = readFileSync(join(root, 'docs', 'extending.md'), 'utf8');

/** One code block of a section: a new file, or a patch of an existing one. */
interface Block {
  kind: string;
  file: string;
  text: string;
}

function blocksOf(title: string): Block[] {
  const section = guide.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  return [...section.matchAll(/^```(\w+) file=(\S+)\n([^]*?)^```$/gm)].map(([, kind = '', file = '', text = '']) => ({
    kind,
    file,
    text,
  }));
}

/** A plugin of the copy in the test kit, before a relayer of its own. */
const FAKING = `
import { openSandbox } from './src/cli/testing/sandbox.ts';
const relayers = { p: { getBalance: async () => ({ balance: '7', unit: 'penny' }) } };
const sandbox = await openSandbox({ folder: 'plugins', relayers });
const { balance, unit } = (await sandbox.call('purse')).body.data;
console.log(balance, unit);
await sandbox.close();
`;

/** A copy of the sources with these blocks applied. */
function copyWith(t: Test, blocks: readonly Block[]): string {
  const dir = t.testdir();
  for (const path of ['src', 'sandbox', 'test/client', 'test/support/described.ts', 'package.json', 'tsconfig.json']) {
    // Not the tests that lie beside their sources: they name others that are not copied.
    cpSync(join(root, path), join(dir, path), {
      recursive: true,
      filter: (from) => from !== join(root, 'sandbox', 'test'),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  for (const { kind, file, text } of blocks) {
    const path = join(dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, kind === 'diff' ? patched(readFileSync(path, 'utf8'), text) : text);
  }
  return dir;
}

/** Replaces each run of `-` lines with the `+` lines after it. */
function patched(source: string, patch: string): string {
  let result = source;
  for (const [, before = '', after = ''] of patch.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)+)/gm)) {
    const [old, fresh] = [before, after].map((lines) => lines.trimEnd().replaceAll(/^[-+]/gm, ''));
    t.ok(result.includes(old ?? ''), `there is ${old}`);
    result = result.replace(old ?? '', () => fresh ?? '');
  }
  return result;
}

function run(cwd: string, program: string, args: readonly string[]): Promise<{ exitCode: number; said: string }> {
  const { promise, resolve } = Promise.withResolvers<{ exitCode: number; said: string }>();
  const child = execFile(program, args, { cwd }, (_error, said) => resolve({ exitCode: child.exitCode ?? -1, said }));
  return promise;
}

/** Sends values under the policy field of the guide. */
const SENDING = `
  import { evmPolicies } from './src/chains/evm/configuration/policy.ts';
  import { parseSendRequest } from './src/chains/evm/request.ts';
  const account = { address: '0x${'a'.repeat(40)}', policies: evmPolicies.schema.parse({ max_value: 5 }) };
  for (const value of [5, 6]) {
    try {
      parseSendRequest({ to: '0x${'b'.repeat(40)}', value, speed: 'fast' }, account, 0);
      console.log(value + ' goes');
    } catch (error) {
      console.log(error.message);
    }
  }
`;

t.test('each walk touches as few files as it says', (t) => {
  const filesOf = (title: string) => blocksOf(title).map(({ file }) => file);
  t.strictSame(filesOf('A kind of signer'), ['src/signers/seed.ts', 'src/signers/registry.ts']);
  t.strictSame(filesOf('An operation of the API'), ['src/features/clock/operations.ts', 'src/http/operation-table.ts']);
  t.strictSame(filesOf('A resource of the API'), [
    'src/features/addresses/addresses.ts',
    'src/features/api-keys/records/access.ts',
    'src/features/resource-table.ts',
    'src/domain/errors.ts',
    'src/store/migrations/migrations.ts',
  ]);
  t.strictSame(filesOf('A policy field'), ['src/chains/evm/configuration/policy.ts']);
  t.strictSame(filesOf('A column of transactions'), [
    'src/features/transactions/records/transaction.ts',
    'src/features/transactions/transactions.ts',
    'src/store/migrations/migrations.ts',
  ]);
  t.strictSame(filesOf('A chain family'), [
    'src/chains/penny/index.ts',
    'src/domain/network-type.ts',
    'src/chains/registry.ts',
  ]);
  t.strictSame(filesOf('A capability'), ['src/features/plugins/host/capabilities/relayer.ts']);
  t.end();
});

t.test('what is new compiles, a configuration can name it, and a plugin can call it', async (t) => {
  const dir = copyWith(
    t,
    [
      'A kind of signer',
      'A chain family',
      'A capability',
      'An operation of the API',
      'A resource of the API',
      'A policy field',
      'A column of transactions',
    ].flatMap(blocksOf),
  );
  // Databases have taken the steps in this order, so new ones come last.
  const stepsIn = (folder: string) => {
    const text = readFileSync(join(folder, 'src', 'store', 'migrations', 'migrations.ts'), 'utf8');
    return [...text.matchAll(/^ {2}\{ name: '([^']+)', up: /gm)].map(([, name]) => name);
  };
  const [before, after] = [stepsIn(root), stepsIn(dir)];
  t.ok(before.length > 1);
  t.strictSame(after.slice(0, before.length), before);
  t.equal(after.length, before.length + 2);
  const relayer = { id: 'p', name: 'P', network: 'pennynet', network_type: 'penny', paused: false, signer_id: 's' };
  const signer = { id: 's', type: 'seed', config: { seed: { type: 'plain', value: '11'.repeat(32) } } };
  mkdirSync(join(dir, 'config'));
  mkdirSync(join(dir, 'plugins'));
  writeFileSync(
    join(dir, 'config', 'config.json'),
    JSON.stringify({ relayers: [relayer], signers: [signer], notifications: [], plugins: [] }),
  );
  writeFileSync(join(dir, 'plugins', 'purse.js'), "exports.handler = ({ api }) => api.useRelayer('p').getBalance();\n");
  const folders = ['config', 'data', 'plugins'].map((name) => [`${name.toUpperCase()}_DIR`, join(dir, name)]);
  const env = { ...Object.fromEntries(folders), APP_PORT: '0', METRICS_ENABLED: 'false' };
  const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const generating = await run(dir, process.execPath, [join('test', 'client', 'main.ts')]);
  t.equal(generating.exitCode, 0, generating.said);
  t.match(
    readFileSync(join(dir, 'src', 'http', 'openapi', 'openapi.json'), 'utf8'),
    /"sent_by"/,
    'a column that is shown',
  );
  const sending = run(dir, process.execPath, ['--input-type=module', '--eval', SENDING]);
  const faking = run(dir, process.execPath, ['--input-type=module', '--eval', FAKING]);
  const typing = run(dir, compiler, ['-p', dir, '--pretty', 'false']);
  const service = await startService(env, relative(root, join(dir, 'src', 'main.ts')));
  t.teardown(() => service.kill());
  t.equal((await faking).said, '7 penny\n', 'the test kit');
  t.match(await service.call('purse'), { status: 200, body: { data: { balance: '100', unit: 'penny' } } });
  // Not by `service.request`, which knows only the operations of these sources.
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const clock = await fetch(`${service.url}/api/v1/clock`, { headers });
  t.match(await clock.json(), { success: true, data: Number });
  const addresses = (path: string, method: string, fields?: object) =>
    fetch(`${service.url}/api/v1/addresses${path}`, {
      method,
      headers: { ...headers, ...(fields && { 'content-type': 'application/json' }) },
      ...(fields && { body: JSON.stringify(fields) }),
    });
  const alice = { id: 'alice', name: 'Alice', address: '0x1' };
  t.match(await (await addresses('', 'POST', alice)).json(), { success: true, data: alice });
  t.equal((await addresses('', 'POST', alice)).status, 409);
  t.match(await (await addresses('/alice', 'PATCH', { name: 'A' })).json(), { data: { ...alice, name: 'A' } });
  t.equal((await addresses('/alice', 'PATCH', { nmae: 'A' })).status, 400);
  t.match(await (await addresses('', 'GET')).json(), { data: [{ name: 'A' }], pagination: { total_items: 1 } });
  t.match(await (await addresses('/alice', 'DELETE')).json(), { data: 'Address deleted successfully' });
  t.equal((await addresses('/alice', 'GET')).status, 404);
  t.strictSame((await sending).said.trim().split('\n'), ['5 goes', 'value 6 exceeds max_value 5'], 'the policy field');
  const typed = await typing;
  t.equal(typed.exitCode, 0, typed.said);
});
